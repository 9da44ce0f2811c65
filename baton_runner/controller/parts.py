"""What the work at one change is done with, put together once: values and tools, no decisions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from baton_runner.agents.protocol import Agent
from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import Clock
from baton_runner.base.transcript import Redact
from baton_runner.controller.baseline import Baseline
from baton_runner.controller.branch import Branch
from baton_runner.controller.claims import Claims
from baton_runner.controller.events import Events
from baton_runner.controller.hooks import Hooks
from baton_runner.controller.integration import Integrator
from baton_runner.controller.pauses import Pauses
from baton_runner.controller.preparation import Preparation
from baton_runner.controller.publishing import Publisher
from baton_runner.controller.verification import Verifier
from baton_runner.evidence.layout import Layout
from baton_runner.plan.changes import Change
from baton_runner.repo.checkout import Watch
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs
from baton_runner.repo.repository import Repository
from baton_runner.repo.worktrees import Workspaces
from baton_runner.store.journal import Journal
from baton_runner.store.ledger import Ledger
from baton_runner.workflow.policy import Policy

__all__ = ["Parts"]


@dataclass(frozen=True)
class Parts:
    """The tools of one change. ``agent_for`` gives the adapter of a kind; ``plan_path`` is relative to the top."""

    change: Change
    plan_path: str
    top: Path
    checkout: Watch
    repository: Repository
    policy: Policy
    layout: Layout
    objects: Objects
    refs: Refs
    branch: Branch
    workspaces: Workspaces
    preparation: Preparation
    verifier: Verifier
    baseline: Baseline
    integrator: Integrator
    publisher: Publisher
    claims: Claims
    hooks: Hooks
    pauses: Pauses
    ledger: Ledger
    journal: Journal
    events: Events
    clock: Clock
    cancel: Cancel
    redact: Redact
    environ: Mapping[str, str]
    agent_for: Callable[[str], Agent]

    @property
    def plan_lock(self) -> Path:
        """The lock that whoever writes into the plan holds."""
        return self.repository.locks / "plans" / f"{self.layout.slug}.lock"
