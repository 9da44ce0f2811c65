"""What an agent is told on turn 2 and later: short guidance, never the task again (R-013), and what is still red."""

from typing import TYPE_CHECKING

from baton_runner.workflow.fence import fenced

if TYPE_CHECKING:
    from baton_runner.workflow.prompt_values import PromptFailure

__all__ = ["MAX_OUTPUT", "continuation"]

MAX_OUTPUT = 20_000
"""Characters of failing output that are repeated to the agent: the end, where the reason stands."""


def continuation(turn: int, max_turns: int, failure: "PromptFailure | None") -> str:
    """The prompt of a later turn in the same session; ``turn`` counts from 1, ``failure`` is what was red after it."""
    paragraphs = [
        f"Your last turn ended in good order, but the work is still open. This is turn {turn} of {max_turns}.",
        "Go on from the present state of the worktree. You have the task above: do not restate it, do not start over.",
    ]
    if failure is not None:
        paragraphs.append(_red(failure))
    paragraphs.append(
        "Do not stop while the work is open, unless you are blocked and cannot solve it; then say by what."
    )
    return "\n\n".join(paragraphs)


def _red(failure: "PromptFailure") -> str:
    command = f" `{failure.command}`" if failure.command else ""
    parts = [f"Still red: {failure.kind}{command}."]
    if failure.note.strip():
        parts.append(failure.note.strip())
    output = failure.output.rstrip()
    if output:
        cut = "... (the beginning is left out)\n" if len(output) > MAX_OUTPUT else ""
        parts.append(fenced(cut + output[-MAX_OUTPUT:]))
    return "\n\n".join(parts)
