"""The integration branch of a change: where it is recorded, where it stands, and what it contains.

The base branch and commit are recorded in a ref of ours when the branch is made, and never read from HEAD again.
"""

import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.digest import canonical
from baton_runner.base.errors import DamagedRecord
from baton_runner.repo import refs as names
from baton_runner.repo.checkout import worktrees_with
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs, RefUpdate
from baton_runner.repo.repository import Repository

__all__ = ["Base", "Branch"]

BEFORE = crash.declare("branch.create")


@dataclass(frozen=True)
class Base:
    """Where a change started: the user's branch (None: a detached HEAD), its commit, and our branch's full name."""

    base_branch: str | None
    base_commit: str
    branch: str


class Branch:
    """One change's integration branch."""

    def __init__(self, repository: Repository, objects: Objects, refs: Refs, change: str, name: str | None) -> None:
        self._repository = repository
        self._objects = objects
        self._refs = refs
        self._record = names.change_ref(change)
        self.ref = f"refs/heads/{name}" if name else names.integration_ref(change)
        self.name = self.ref.removeprefix("refs/heads/")
        self._lock = threading.Lock()
        self._base: Base | None = None
        self._contained: tuple[str, set[str]] | None = None

    def tip(self) -> str | None:
        """The branch's commit, None while there is no branch."""
        return self._refs.get(self.ref)

    def base(self) -> Base | None:
        """What was recorded when the branch was made, None before that."""
        if self._base is None:
            blob = self._refs.get(self._record)
            if blob is not None:
                self._base = _decode(self._objects.read_blob(blob), self._record)
        return self._base

    def head(self) -> str:
        """The commit work starts from: the branch's tip; without a branch the base branch's, or the checkout's HEAD.

        RepositoryError when there is no commit yet.
        """
        tip = self.tip()
        if tip is not None:
            return tip
        base = self.base()
        if base is not None and base.base_branch is not None:
            landed = self._refs.get(base.base_branch)
            if landed is not None:
                return landed
        return base.base_commit if base is not None else self._repository.head()

    def ensure(self) -> str:
        """Make the branch and its record where missing, in one transaction; return the branch's tip."""
        with self._lock:
            tip = self.tip()
            if tip is not None and self.base() is not None:
                return tip
            start = tip or self.head()
            old = self._refs.get(self._record)
            base = self.base()
            branch = base.base_branch if base is not None else self._repository.head_branch()
            record = Base(branch, start, self.ref)
            blob = self._objects.blob(canonical(asdict(record)))
            updates = [RefUpdate(self._record, blob, old)]
            if tip is None:
                updates.append(RefUpdate(self.ref, start, None))
            crash.reach(BEFORE)
            self._refs.transaction(updates)
            self._base = record
            return start

    def contains(self, commit: str, head: str) -> bool:
        """Whether a commit is part of ``head``'s history."""
        known = self._since_base(head)
        if commit in known:
            return True
        if self._objects.is_ancestor(commit, head):
            known.add(commit)
            return True
        return False

    def checked_out(self) -> Path | None:
        """The worktree in which the branch is checked out, None when it is in none: only then may it be moved."""
        return next(iter(worktrees_with(self._objects, self.ref)), None)

    def advanced(self, old: str, head: str, *commits: str) -> None:
        """Take note of a move of ours from ``old`` to ``head``, which contains these commits."""
        if self._contained is not None and self._contained[0] == old:
            self._contained = (head, self._contained[1] | {head, *commits})

    def _since_base(self, head: str) -> set[str]:
        if self._contained is None or self._contained[0] != head:
            base = self.base()
            start = base.base_commit if base is not None else None
            found = self._objects.commits_between(start, head) if start is not None else frozenset[str]()
            self._contained = (head, set(found))
        return self._contained[1]


def _decode(data: bytes, ref: str) -> Base:
    try:
        return Base(**json.loads(data))
    except (ValueError, TypeError) as error:
        raise DamagedRecord(
            f"is no base record ({error})", where=ref, todo=f"delete it (git update-ref -d {ref}) and run again"
        ) from error
