"""The policy's hooks around an attempt, run in the worktree with the assignment's variables (R-095 to R-099)."""

from enum import StrEnum
from pathlib import Path

from baton_runner.agents.environment import BASE_NAMES, selected
from baton_runner.base.processes import Reason, run_command
from baton_runner.controller.parts import Parts
from baton_runner.plan.model import Task

__all__ = ["Hook", "run_hook"]

_SHOWN = 500


class Hook(StrEnum):
    """The keys of ``hooks``."""

    AFTER_CREATE = "after_create"
    BEFORE_RUN = "before_run"
    AFTER_RUN = "after_run"
    BEFORE_REMOVE = "before_remove"


def run_hook(parts: Parts, hook: Hook, task: Task, worktree: Path, logs: Path) -> str:
    """Run a hook if the policy has it; what went wrong in words, empty when nothing did."""
    settings = parts.policy.settings.hooks
    script: str | None = getattr(settings, hook)
    if not script or not worktree.is_dir():
        return ""
    name = task.name(parts.change.id)
    ended = run_command(
        script,
        cwd=worktree,
        environ={
            **selected(parts.environ, BASE_NAMES),
            "BATON_CHANGE": parts.change.id,
            "BATON_TASK_ID": name,
            "BATON_WORKTREE": str(worktree),
        },
        log=logs / f"hook-{hook}.log",
        timeout=settings.timeout_ms / 1000,
        marker=parts.claims.marker(task.key),
        redact=parts.redact,
    )
    if ended.code == 0 and ended.reason is Reason.EXITED:
        return ""
    said = f"exit {ended.code}" if ended.reason is Reason.EXITED else ended.reason.value
    problem = f"hooks.{hook} failed ({said}): {ended.tail.strip()[-_SHOWN:]}"
    parts.events.emit(parts.change.id, task.key, "hook.failed", hook=hook.value, message=problem)
    return problem
