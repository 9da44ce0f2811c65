"""How a turn that did not complete is told."""

import pytest

from baton_runner.agents.protocol import Failure, Outcome, TurnResult
from baton_runner.controller.endings import told_end


def _result(outcome: Outcome, code: Failure, message: str) -> TurnResult:
    return TurnResult(outcome, code, message, "", "")


@pytest.mark.parametrize(
    ("agent", "result", "kind", "text"),
    [
        ("recipe", _result(Outcome.FAILED, Failure.PROCESS_EXIT, "exit code 3: out"), "agent", "the recipe ended with exit code 3: out"),
        ("command", _result(Outcome.FAILED, Failure.PROCESS_EXIT, "exit code 3"), "agent", "the agent ended with exit code 3"),
        ("command", _result(Outcome.TIMED_OUT, Failure.TURN_TIMEOUT, "took longer than 5 s and was ended"), "timed_out", "the agent took longer than 5 s and was ended"),
        ("terminal", _result(Outcome.INPUT_REQUIRED, Failure.TURN_INPUT_REQUIRED, "Go on?"), "input", "the agent asked for input: Go on?"),
        ("claude_code", _result(Outcome.FAILED, Failure.TURN_FAILED, ""), "agent", "the agent failed: nothing was said"),
    ],
)  # fmt: skip
def test_an_end_is_told_in_plain_words(agent: str, result: TurnResult, kind: str, text: str) -> None:
    """Who ended, and how; no word of the code."""
    assert told_end(agent, result) == (kind, text)


@pytest.mark.parametrize("code", list(Failure))
def test_no_code_reaches_a_reader(code: Failure) -> None:
    """Every code has words of its own, or a message that is the words."""
    assert code.value not in told_end("command", _result(Outcome.FAILED, code, "it"))[1]
