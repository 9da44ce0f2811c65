"""How a turn that did not complete is told: the kind of failure, and a sentence in plain words."""

from collections.abc import Mapping

from baton_runner.agents.protocol import Failure, Outcome, TurnResult
from baton_runner.agents.registry import RECIPE
from baton_runner.evidence.decisions import FailureKind

__all__ = ["told_end"]

_KINDS: Mapping[Outcome, FailureKind] = {
    Outcome.TIMED_OUT: "timed_out",
    Outcome.STALLED: "stalled",
    Outcome.INPUT_REQUIRED: "input",
}
_SENTENCES: Mapping[Failure, str] = {
    Failure.AGENT_NOT_FOUND: "was not found: ",
    Failure.STARTUP_FAILED: "could not be started: ",
    Failure.INVALID_WORKSPACE_CWD: "could not be started: ",
    Failure.PROCESS_EXIT: "ended with ",
    Failure.TURN_FAILED: "failed: ",
    Failure.TURN_INPUT_REQUIRED: "asked for input: ",
    Failure.RATE_LIMITED: "was turned away by its provider: ",
}
"""What stands between who ended and the message; the messages of limits are predicates themselves."""


def told_end(agent: str, result: TurnResult) -> tuple[FailureKind, str]:
    """The kind and the message of a turn of an agent of kind ``agent`` that did not complete."""
    who = "the recipe" if agent == RECIPE else "the agent"
    between = _SENTENCES.get(result.code, "") if result.code else "failed: "
    return _KINDS.get(result.outcome, "agent"), f"{who} {between}{result.message or 'nothing was said'}"
