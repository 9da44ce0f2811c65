"""The policy's hooks around an attempt and its worktree, run there with the assignment's variables (R-095 to R-099)."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from baton_runner.agents.environment import BASE_NAMES, selected
from baton_runner.base.processes import Reason, run_command
from baton_runner.base.transcript import Redact
from baton_runner.workflow.build_settings import HookSettings

__all__ = ["Hook", "Hooks"]

_SHOWN = 500


class Hook(StrEnum):
    """The keys of ``hooks``: what fails before an attempt ends it, what fails after it or before a removal is told."""

    AFTER_CREATE = "after_create"
    BEFORE_RUN = "before_run"
    AFTER_RUN = "after_run"
    BEFORE_REMOVE = "before_remove"


class Hooks:
    """Runs the hooks of a policy. ``tell`` hears of failures: change, key, hook, message."""

    def __init__(
        self,
        settings: HookSettings,
        environ: Mapping[str, str],
        redact: Redact,
        tell: Callable[[str, str, Hook, str], None],
    ) -> None:
        self._settings = settings
        self._environ = selected(environ, BASE_NAMES)
        self._redact = redact
        self._tell = tell

    def run(self, hook: Hook, *, change: str, key: str, worktree: Path, logs: Path, marker: str) -> str:
        """Run a hook if the policy has it; what went wrong in words, empty when nothing did."""
        script: str | None = getattr(self._settings, hook)
        if not script or not worktree.is_dir():
            return ""
        variables = {"BATON_CHANGE": change, "BATON_TASK_ID": f"{change}:{key}", "BATON_WORKTREE": str(worktree)}
        ended = run_command(
            script,
            cwd=worktree,
            environ={**self._environ, **variables},
            log=logs / f"hook-{hook}.log",
            timeout=self._settings.timeout_ms / 1000,
            marker=marker,
            redact=self._redact,
        )
        if ended.code == 0 and ended.reason is Reason.EXITED:
            return ""
        said = f"exit {ended.code}" if ended.reason is Reason.EXITED else ended.reason.value
        problem = f"hooks.{hook} failed ({said}): {ended.tail.strip()[-_SHOWN:]}"
        self._tell(change, key, hook, problem)
        return problem
