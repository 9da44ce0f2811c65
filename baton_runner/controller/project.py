"""A repository with its policy, opened for one command: what all its changes share.

Opening reads and never writes; whoever only looks (``list``, ``status``) takes no lock and waits for nobody.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from baton_runner.agents.redaction import redactor
from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import Clock, SystemClock
from baton_runner.base.errors import RepositoryError
from baton_runner.base.transcript import Redact
from baton_runner.controller.events import Events
from baton_runner.controller.hooks import Hook, Hooks
from baton_runner.evidence.checks import CheckCache
from baton_runner.plan.changes import Change, find_changes
from baton_runner.repo.checkout import Watch
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs
from baton_runner.repo.repository import Repository
from baton_runner.repo.worktrees import Workspaces
from baton_runner.store.database import Database
from baton_runner.store.journal import Journal
from baton_runner.store.ledger import Ceilings
from baton_runner.workflow.policy import Policy, find_policy, load_policy

__all__ = ["Project"]


@dataclass(frozen=True)
class Project:
    """One repository, one policy, one run. ``run`` names this run in history."""

    repository: Repository
    policy: Policy
    top: Path
    environ: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)
    cancel: Cancel = field(default_factory=Cancel)
    run: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def open(cls, path: Path, environ: Mapping[str, str] | None = None, *, workflow: Path | None = None) -> "Project":
        """The project around a folder.

        Raises RepositoryError when there is no repository or no checkout, PolicyError when WORKFLOW.md is wrong.
        """
        variables = dict(os.environ if environ is None else environ)
        repository = Repository.open(path, variables)
        if repository.top is None:
            raise RepositoryError(
                "is a bare repository: plans are read from a checkout",
                where=str(repository.common_dir),
                todo="run baton in one of its worktrees (git worktree add)",
            )
        if repository.baton.exists() and not repository.baton.is_dir():
            raise RepositoryError("is not a folder", where=str(repository.baton), todo="move it away, then run again")
        top = repository.top
        policy = load_policy(workflow or find_policy(top), environ=variables, folder=top)
        return cls(repository, policy, top, variables)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The open changes, by name."""
        return find_changes(self.top)

    @property
    def baton(self) -> Path:
        """The ``.baton`` folder."""
        return self.repository.baton

    @cached_property
    def objects(self) -> Objects:
        """The object database."""
        return Objects(self.repository)

    @cached_property
    def refs(self) -> Refs:
        """The refs."""
        return Refs(self.repository)

    @cached_property
    def workspaces(self) -> Workspaces:
        """Our worktrees."""
        root = self.repository.state_root(self.policy.settings.workspace.root)
        return Workspaces(self.objects, root, self.clock, self.policy.settings.workspace.sparse)

    @cached_property
    def checkout(self) -> Watch:
        """The user's checkout that this was opened in."""
        return Watch(self.objects, self.top, self.repository.git_dir)

    @cached_property
    def database(self) -> Database:
        """History and spend."""
        return Database(self.baton / "state.db")

    @cached_property
    def journal(self) -> Journal:
        """History."""
        return Journal(self.database, self.run)

    @cached_property
    def events(self) -> Events:
        """News of this run."""
        return Events(self.clock, self.journal)

    @cached_property
    def cache(self) -> CheckCache:
        """Known greens."""
        return CheckCache(self.baton / "checks")

    @cached_property
    def redact(self) -> Redact:
        """Cuts the policy's secrets out of whatever is written."""
        settings = self.policy.settings
        tokens = (settings.agent.token, settings.tracker.token)
        return redactor(token.reveal() for token in tokens if token is not None)

    @cached_property
    def hooks(self) -> Hooks:
        """The policy's hooks."""

        def tell(change: str, key: str, hook: Hook, message: str) -> None:
            self.events.emit(change, key, "hook.failed", hook=hook.value, message=message)

        return Hooks(self.policy.settings.hooks, self.environ, self.redact, tell)

    @property
    def ceilings(self) -> Ceilings:
        """What this run may spend."""
        budget = self.policy.settings.budget
        return Ceilings(budget.run_usd, budget.task_usd, budget.run_tokens)
