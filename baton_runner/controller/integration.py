"""Integration is a queue: merge, verify and publish one result at a time, under the integration lock (design 4.6).

Exactly one tree is verified, sealed and merged: the merged one. A red or a conflict goes back to whoever asked, after
the lock is released.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from baton_runner.base.cancel import Cancel
from baton_runner.base.errors import ActionNeeded
from baton_runner.base.locks import Lock
from baton_runner.controller.baseline import Baseline
from baton_runner.controller.branch import Branch
from baton_runner.controller.claims import Resources
from baton_runner.controller.publishing import Pending, Publisher, message_of
from baton_runner.controller.verification import Check, CheckResult, Verifier
from baton_runner.evidence.decisions import Redo
from baton_runner.evidence.outcome import task_outcome
from baton_runner.evidence.receipt import CheckProof, Receipt
from baton_runner.repo.objects import Change, Conflict, Objects, Signing

__all__ = ["BranchTaken", "Conflicted", "Integrated", "Integrator", "Proposal", "Red", "Stopped", "checked_out"]

_WAIT_SECONDS = 3600.0


@dataclass(frozen=True)
class Proposal:
    """A result that wants to become part of the branch.

    ``draft`` is the receipt without what only integration knows (tree, outcome, checks, time); ``commit`` None means
    that nothing was changed. ``previous`` is the receipt that this one supersedes.
    """

    draft: Receipt
    title: str
    commit: str | None
    previous: Receipt | None
    answers: Redo | None
    checks: tuple[Check, ...]
    logs: Path
    held: tuple[str, ...] = ()
    """Resources that the task holds already."""


@dataclass(frozen=True)
class Integrated:
    """It is published."""

    receipt: Receipt
    head: str
    results: tuple[CheckResult, ...]


@dataclass(frozen=True)
class Red:
    """A command did not exit 0 on the merged tree."""

    results: tuple[CheckResult, ...]

    @property
    def failed(self) -> CheckResult:
        """The red one."""
        return next(result for result in self.results if not result.green)


@dataclass(frozen=True)
class Conflicted:
    """It cannot be merged with the present head."""

    head: str
    paths: tuple[str, ...]
    messages: tuple[str, ...]


@dataclass(frozen=True)
class BranchTaken:
    """The integration branch is checked out somewhere, so it is not moved; the verified result waits.

    Its receipt is published without the merge, so that the task is *not integrated*: the next run merges and verifies it,
    and pays no agent.
    """

    worktree: Path


@dataclass(frozen=True)
class Stopped:
    """The run was interrupted while it waited or verified."""


def checked_out(worktree: Path) -> ActionNeeded:
    """What a person is told when the branch cannot be moved."""
    return ActionNeeded(
        "the integration branch is checked out there, and is not moved under it",
        where=str(worktree),
        todo="switch that checkout to another branch, then run again; verified work waits",
        code="branch_checked_out",
    )


Ending = Integrated | Red | Conflicted | BranchTaken | Stopped


class Integrator:
    """The queue in front of one integration branch."""

    def __init__(
        self,
        *,
        lock: Path,
        objects: Objects,
        branch: Branch,
        publisher: Publisher,
        verifier: Verifier,
        baseline: Baseline,
        resources: Resources,
        needs: tuple[str, ...],
        signing: Signing,
        cancel: Cancel,
    ) -> None:
        self._lock_path = lock
        self._turn = threading.Lock()
        self._objects = objects
        self._branch = branch
        self._publisher = publisher
        self._verifier = verifier
        self._baseline = baseline
        self._resources = resources
        self._needs = needs
        self._signing = signing
        self._cancel = cancel

    @contextlib.contextmanager
    def exclusive(self, note: str = "") -> Iterator[None]:
        """Hold the integration lock: first between the threads of this process, then between processes."""
        with self._turn:
            lock = Lock(self._lock_path, note=note)
            lock.acquire(_WAIT_SECONDS)
            try:
                yield
            finally:
                lock.release()

    @contextlib.contextmanager
    def verifying(self, note: str, held: tuple[str, ...] = ()) -> Iterator[None]:
        """Hold what verification needs (but for what the caller holds), then the integration lock, in this order."""
        with self._resources.held(set(self._needs) - set(held), note), self.exclusive(note):
            yield

    def integrate(self, proposal: Proposal, *, finished: str) -> Ending:
        """Merge, verify and publish a result; ``finished`` is the receipt's time."""
        with self.verifying(f"integrating {proposal.draft.change}:{proposal.draft.task}", proposal.held):
            if self._stopped():
                return Stopped()
            head = self._branch.ensure()
            tree = self._merged_tree(head, proposal.commit)
            if isinstance(tree, Conflict):
                return Conflicted(head, tree.paths, tree.messages)
            results = self._verifier.verify(head, tree, proposal.checks, proposal.logs)
            if any(not result.green for result in results):
                return Stopped() if self._stopped() else Red(results)
            pending = self._pending(proposal, head, tree, results, finished)
            taken = self._branch.checked_out()
            if taken is not None and pending.merge is not None:
                self._publisher.publish(replace(pending, merge=None))
                return BranchTaken(taken)
            self._publisher.publish(pending)
            return Integrated(pending.receipt, pending.new_head, results)

    def _stopped(self) -> bool:
        return self._cancel.is_set

    def _merged_tree(self, head: str, commit: str | None) -> str | Conflict:
        if commit is None:
            return self._objects.tree_of(head)
        merged = self._objects.merge(head, commit)
        return merged if isinstance(merged, Conflict) else merged.tree

    def _pending(
        self, proposal: Proposal, head: str, tree: str, results: Sequence[CheckResult], finished: str
    ) -> Pending:
        previous = proposal.previous
        changes: tuple[Change, ...] = ()
        if proposal.commit is not None:
            changes = self._objects.changes(self._objects.tree_of(head), tree)
        receipt = replace(
            proposal.draft,
            commit=proposal.commit or (previous.commit if previous else head),
            tree=tree,
            outcome=task_outcome(previous.outcome if previous else None, changes),
            checks=tuple(self._proof(result) for result in results),
            finished=finished,
            supersedes=previous.seal if previous else None,
        )
        merge = None
        if proposal.commit is not None and not self._is_contained(proposal.commit, previous, head):
            message = message_of(receipt, proposal.title)
            merge = self._objects.commit(tree, (head, proposal.commit), message, signing=self._signing)
        return Pending(receipt, head, merge, proposal.answers)

    def _is_contained(self, commit: str, previous: Receipt | None, head: str) -> bool:
        """Whether the head has the commit already; only a commit that a receipt names can have got there."""
        return previous is not None and previous.commit == commit and self._objects.is_ancestor(commit, head)

    def _proof(self, result: CheckResult) -> CheckProof:
        command = result.check.command
        return CheckProof(command, result.check.source, self._baseline.before(command), result.cached)
