"""The integration branch of a change: where it is recorded, where it stands, and what it contains.

The base branch and commit are recorded in a ref of ours when the branch is made, and never read from HEAD again.
"""

import threading
from pathlib import Path

from baton_runner.repo.checkout import worktrees_with
from baton_runner.repo.objects import Objects
from baton_runner.repo.origins import Origin, begin_again, begin_change, read_origin
from baton_runner.repo.refs import Refs, integration_ref
from baton_runner.repo.repository import Repository

__all__ = ["Branch"]


class Branch:
    """One change's integration branch."""

    def __init__(self, repository: Repository, objects: Objects, refs: Refs, change: str, name: str | None) -> None:
        self._repository = repository
        self._objects = objects
        self._refs = refs
        self._change = change
        self.ref = f"refs/heads/{name}" if name else integration_ref(change)
        self.name = self.ref.removeprefix("refs/heads/")
        self._lock = threading.Lock()
        self._base: Origin | None = None
        self._contained: tuple[str, set[str]] | None = None

    def tip(self) -> str | None:
        """The branch's commit, None while there is no branch."""
        return self._refs.get(self.ref)

    def base(self) -> Origin | None:
        """What was recorded when the branch was made, None before that."""
        if self._base is None:
            self._base = read_origin(self._objects, self._change)
        return self._base

    def head(self) -> str:
        """The commit work starts from: the branch's tip; without a branch the base branch's, or the checkout's HEAD.

        RepositoryError when there is no commit yet.
        """
        tip = self.tip()
        if tip is not None:
            return tip
        base = self.base()
        if base is None:
            return self._repository.head()
        return self._refs.get(base.base_branch) or base.base_commit if base.base_branch else base.base_commit

    def ensure(self) -> str:
        """Make the branch and its record where missing, in one transaction; return the branch's tip.

        A branch that was deleted after its work had landed begins again where the base branch is now.
        """
        with self._lock:
            tip, base = self.tip(), self.base()
            if tip is not None and base is not None:
                return tip
            if base is None:
                start = Origin(self._repository.head_branch() or "", tip or self._repository.head(), self.ref)
                self._base = begin_change(self._objects, self._change, start)
            else:
                self._base = begin_again(self._objects, self._change, base, self.head())
            return self.tip() or self._base.base_commit

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
            known = self._contained[1]
            known.update((head, *commits))
            self._contained = (head, known)

    def _since_base(self, head: str) -> set[str]:
        if self._contained is None or self._contained[0] != head:
            base = self.base()
            start = base.base_commit if base is not None else None
            found = self._objects.commits_between(start, head) if start is not None else frozenset[str]()
            self._contained = (head, set(found))
        return self._contained[1]
