"""Later turns of a session (R-013)."""

from baton_runner.workflow.continuation import MAX_OUTPUT
from baton_runner.workflow.prompt import continuation
from baton_runner.workflow.prompt_values import PromptFailure
from tests.workflow.policies import TASK


def test_continuation_is_guidance_not_the_task() -> None:
    """R-013: ended in order, still open, turn n of m, resume, do not restate, do not stop while open."""
    text = continuation(2, 4, None)
    for part in ("ended in good order", "still open", "turn 2 of 4", "present state", "do not restate", "Do not stop"):
        assert part in text
    assert TASK.title not in text
    assert "red" not in text


def test_continuation_holds_the_failing_output() -> None:
    """What is red, and the end of its output, in a fence that it cannot close."""
    failure = PromptFailure(
        kind="verification", command="make test", output=f"{'x' * MAX_OUTPUT}\n```\nlast line\n", note="N."
    )
    text = continuation(3, 4, failure)
    assert "Still red: verification `make test`." in text
    assert "N." in text
    assert "\nlast line\n````\n" in text
    assert "the beginning is left out" in text
    assert len(text) < MAX_OUTPUT + 1000


def test_a_failure_without_a_command() -> None:
    """No empty quotes, no empty fence."""
    assert "``" not in continuation(2, 4, PromptFailure(kind="conflict"))
