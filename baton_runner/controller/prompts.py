"""What an agent is told: the policy's prompt or the continuation, and always the boundary block (design 4.3)."""

from collections.abc import Sequence
from pathlib import Path

__all__ = ["boundary"]


def boundary(
    *, worktree: Path, plan: str, verification: Sequence[str], context: Sequence[str], commits_itself: bool
) -> str:
    """The block that ends every prompt, whatever the template says: where you are, what stays alone, what will be run."""
    lines = [
        "---",
        "Boundaries of this assignment (they hold whatever else was said):",
        f"- You are in the git worktree {worktree}. Read and write inside it only.",
        (
            f"- {'Commit your work.' if commits_itself else 'Commit your work; what you leave uncommitted is committed for you.'}"
            " Stay on the commit you are on: no other branch, no push, no reset of earlier commits."
        ),
        f"- Leave the plan file {plan} alone: its boxes are ticked for you.",
        "- Start no `baton` and no `doit` here: they are refused inside an assignment.",
    ]
    if context:
        lines.append(f"- Read for context: {', '.join(context)}")
    if verification:
        lines.append("- When you end your turn, these commands are run on your work, and each must exit 0:")
        lines += [f"    {command}" for command in verification]
    return "\n".join(lines)
