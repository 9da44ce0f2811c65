"""A program on a terminal: answered by pattern, never otherwise, and every turn ends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest
from baton_runner.agents.redaction import redactor
from baton_runner.agents.terminal import TerminalAgent
from baton_runner.base.processes import Cancel, processes_marked

Make = Callable[..., SessionRequest]
Program = Callable[[str], str]


def texts(request: SessionRequest) -> list[str]:
    lines = map(json.loads, (request.log_folder / "agent.jsonl").read_text().splitlines())
    return [line["text"] for line in lines if line["type"] == "output"]


def test_it_sees_a_terminal_of_its_own(assignment: Make, program: Program) -> None:
    """Also through /dev/tty, which only a controlling terminal gives."""
    script = "import os, sys\nprint(sys.stdin.isatty(), sys.stdout.isatty(), open('/dev/tty', 'w').isatty())"
    result = TerminalAgent(program(script)).start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "True True True")


def test_questions_are_answered_by_pattern(assignment: Make, program: Program, events: list[AgentEvent]) -> None:
    script = """
first = input("Trust this folder? [y/n] ")
file = input("Instructions: ")
print("got", first, open(file).read() == "do it")
input("Ready> ")
"""
    agent = TerminalAgent(
        program(script), (("Trust .* ", "y"), ("Instructions: ", "$BATON_PROMPT_FILE")), end_patterns=("Ready> ",)
    )
    request = assignment()
    result = agent.start_session(request).run_turn("do it", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "Ready>")
    assert texts(request)[-2:] == ["Trust this folder? [y/n] Instructions: got y True", "Ready> "]
    assert [event.payload["message"] for event in events if event.event.value == "notification"] == [
        "answered Trust .* ",
        "answered Instructions: ",
    ]
    assert processes_marked(request.marker) == ()


def test_a_question_that_nothing_answers_is_an_outcome(assignment: Make, program: Program) -> None:
    """K-12: no answer is invented."""
    agent = TerminalAgent(program("input('Delete everything? [y/N] ')"), idle_timeout=0.3)
    result = agent.start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.INPUT_REQUIRED, Failure.TURN_INPUT_REQUIRED)
    assert result.questions == ("Delete everything? [y/N]",)


def test_idleness_ends_a_turn_where_no_pattern_does(assignment: Make, program: Program) -> None:
    agent = TerminalAgent(program("print('all done'); input()"), idle_timeout=0.3)
    request = assignment()
    result = agent.start_session(request).run_turn("go", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "all done")
    assert processes_marked(request.marker) == ()


def test_idleness_is_no_end_where_a_pattern_is(assignment: Make, program: Program) -> None:
    agent = TerminalAgent(
        program("import time; print('thinking'); time.sleep(.5); print('DONE'); input()"),
        end_patterns=("DONE",),
        idle_timeout=0.1,
    )
    result = agent.start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "DONE")


def test_silence_before_the_end_pattern_is_a_stall(assignment: Make) -> None:
    agent = TerminalAgent("echo hm; sleep 1000", end_patterns=("DONE",))
    result = agent.start_session(assignment(stall_timeout=0.3)).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.STALLED, Failure.TURN_STALLED)


def test_an_exit_ends_the_turn(assignment: Make) -> None:
    agent = TerminalAgent("echo bad luck; exit 3", end_patterns=("never",))
    result = agent.start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.code, result.exit_code) == (Outcome.FAILED, Failure.PROCESS_EXIT, 3)
    assert result.message == "exit code 3: bad luck"


def test_a_grandchild_that_holds_the_terminal_is_not_waited_for(assignment: Make) -> None:
    request = assignment()
    agent = TerminalAgent("setsid sleep 1000 & echo bye", end_patterns=("never",))
    result = agent.start_session(request).run_turn("go", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "bye")
    assert processes_marked(request.marker) == ()


def test_endless_output_meets_the_time_limit(assignment: Make) -> None:
    agent = TerminalAgent("while :; do echo busy; sleep 0.01; done", end_patterns=("never",))
    result = agent.start_session(assignment(turn_timeout=0.5)).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.TIMED_OUT, Failure.TURN_TIMEOUT)


def test_a_cancel_ends_it(assignment: Make, worktree: Path, cancel_once_there: Callable[[Path], Cancel]) -> None:
    request = assignment(cancel=cancel_once_there(worktree / "running"))
    agent = TerminalAgent("touch running; setsid sleep 1000 & sleep 1000", idle_timeout=600)
    assert agent.start_session(request).run_turn("go", 1).outcome is Outcome.CANCELLED
    assert processes_marked(request.marker) == ()


@pytest.mark.parametrize(
    "shown", [r"\033[1;31mred\033[0m", r"\033]52;c;aGk=\007red", r"\033]0;title\033\\red", r"r\007e\010d"]
)
def test_control_sequences_stay_out_of_logs(assignment: Make, shown: str) -> None:
    """Threat 12: what an agent prints cannot drive the terminal of who reads its log."""
    request = assignment()
    result = TerminalAgent(f"printf '{shown}\\n'").start_session(request).run_turn("go", 1)
    assert texts(request) == ["red"]
    assert result.message == "red"


def test_secrets_stay_out_of_logs(assignment: Make, events: list[AgentEvent]) -> None:
    request = assignment(redact=redactor(["s3cr3t-t0ken"]))
    command = "echo s3cr3t-t0ken; printf 's3cr3t\\033[0m-t0ken\\n'; echo end"
    TerminalAgent(command).start_session(request).run_turn("go", 1)
    assert texts(request) == ["[secret]", "[secret]", "end"]
    assert "s3cr3t" not in repr(events)


def test_a_missing_program_starts_nothing(assignment: Make) -> None:
    result = TerminalAgent("no-such-agent-here").start_session(assignment()).run_turn("go", 1)
    assert result.outcome is Outcome.NOT_FOUND
