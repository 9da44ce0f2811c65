"""Making a worktree ready: the policy's copies, links and set-up commands, and the change's uncommitted documents."""

from collections.abc import Mapping
from pathlib import Path

from baton_runner.agents.environment import BASE_NAMES, selected
from baton_runner.base.cancel import Cancel
from baton_runner.plan.changes import Change, context_files
from baton_runner.repo.checkout import Watch
from baton_runner.repo.setup import Brought, bring, place_context, run_setup, setup_digest
from baton_runner.repo.worktrees import Worktree
from baton_runner.workflow.build_settings import WorkspaceSettings

__all__ = ["Preparation"]

_SECONDS = 3600.0


class Preparation:
    """Prepares worktrees for one run, from the user's checkout ``source``."""

    def __init__(
        self, settings: WorkspaceSettings, source: Watch, environ: Mapping[str, str], cancel: Cancel, marker: str
    ) -> None:
        self._settings = settings
        self._source = source
        self._environ = selected(environ, BASE_NAMES)
        self._cancel = cancel
        self._marker = marker

    def bring(self, worktree: Worktree) -> Brought:
        """Bring ignored files and links from the checkout."""
        return bring(worktree, self._source, self._settings)

    def run(self, worktree: Worktree, logs: Path) -> None:
        """Run the set-up commands that are due; SetupFailed with the output of the one that failed."""
        run_setup(
            worktree,
            self._settings.setup,
            environ=self._environ,
            log_folder=logs,
            timeout=_SECONDS,
            marker=self._marker,
            cancel=self._cancel,
        )

    def digest(self, worktree: Worktree, brought: Brought) -> str:
        """What the results of checks in this worktree depend on besides its tree."""
        return setup_digest(worktree, self._settings.setup, brought)

    def context(self, worktree: Worktree, change: Change, plan: Path) -> tuple[str, ...]:
        """The documents an agent should read: those of the tree by their path there, uncommitted ones as copies."""
        files = [path.relative_to(self._source.top).as_posix() for path in context_files(change) if path != plan]
        if not files:
            return ()
        changed = {seen.path for seen in self._source.status()}
        copied = [path for path in files if path in changed or not (worktree.path / path).is_file()]
        folder = place_context(worktree, self._source.top, copied) if copied else None
        return tuple(str(folder / path) if folder and path in copied else path for path in files)
