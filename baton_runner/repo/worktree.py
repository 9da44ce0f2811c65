"""One worktree in use: its files brought to a commit or a tree, handed back, or kept for a person.

Before each call of git the folder is proven to be the checkout that was handed out; whatever fails raises, and nothing
runs in the wrong place.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from baton_runner.base.errors import BatonError
from baton_runner.base.locks import Lock
from baton_runner.repo import parking
from baton_runner.repo.git import Git
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs
from baton_runner.repo.slots import Purpose, Record, Slot, State, remove_folder
from baton_runner.repo.sparse import SETTINGS, cone_of

__all__ = ["Worktree", "WorktreeLost"]

_UNFINISHED = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_LOG",
)


class WorktreeLost(BatonError):
    """A worktree is not (or no longer) the checkout it must be; nothing may run in it."""

    code = "worktree_lost"


@dataclass
class Worktree:
    """A worktree in use. Its lock is held by this object until ``release`` or ``keep``."""

    slot: Slot
    purpose: Purpose
    objects: Objects
    git_dir: Path
    record: Record
    lock: Lock = field(repr=False)
    sparse: tuple[str, ...] = ()
    fresh: bool = False
    """Whether it was made just now, not taken from the pool."""

    @property
    def path(self) -> Path:
        """Where the files are."""
        return self.slot.tree

    @property
    def git(self) -> Git:
        """Git in this worktree, by our configuration; WorktreeLost when it is not the checkout any more."""
        self.check()
        git = self.objects.own_git.worktree(self.path, self.git_dir)
        return git.configured(SETTINGS) if self.sparse else git

    def check(self) -> None:
        """WorktreeLost unless the folder is still the checkout that was handed out."""
        if self.slot.git_dir() != self.git_dir:
            raise WorktreeLost(
                "is no longer a worktree of this repository",
                where=str(self.path),
                todo="something removed or replaced it; its commits can be found by git fsck",
            )

    def head(self) -> str | None:
        """The commit it is at, also on a branch that an agent made."""
        return parking.read_head(self.git_dir, Refs(self.objects.repository))

    def unfinished(self) -> tuple[str, ...]:
        """The names of operations (merge, rebase, ...) that were begun here and not ended."""
        return tuple(name for name in _UNFINISHED if (self.git_dir / name).exists())

    def at(self, commit: str) -> None:
        """Make the files those of a commit and HEAD that commit: untracked ones removed, ignored ones kept."""
        _forget_operations(self.git_dir)
        with cone_of(self.git_dir, self.sparse) as settings:
            self.git.configured(settings).run("checkout", "--quiet", "--force", "--detach", commit, "--")
        _clean(self.git, "-ffd")

    def at_tree(self, tree: str) -> None:
        """Make the files those of a tree, HEAD staying: untracked ones removed, ignored ones kept."""
        git = self.git
        git.run("read-tree", "--reset", "-u", tree)
        _clean(git, "-ffd")

    def scrub(self) -> None:
        """Remove ignored files too (``verify.pristine``); what setup made is gone with them."""
        (self.slot.folder / "setup.json").unlink(missing_ok=True)
        _clean(self.git, "-ffdx")

    def release(self, captured: str | None = None) -> None:
        """Back to the pool. ``captured`` is the commit that a ref of ours holds now.

        If it is at another commit then, or holds anything else, the pool parks that before it resets anything.
        """
        if self.lock.held:
            self.slot.mark(self.record, State.FREE, head=captured or self.record.head)
            self.lock.release()

    def leave(self) -> None:
        """Let go of it as it is, as a process that dies does: the next run goes on with what it holds."""
        self.lock.release()

    def keep(self, reason: str) -> str | None:
        """Leave it for a person, its content parked; the ref, None when nothing was in it beyond its first commit."""
        ref = None
        if self.slot.git_dir() == self.git_dir:
            git = self.git
            dirt = parking.inspect(git)
            ref = parking.park(self.objects, git, self.git_dir, dirt=dirt, slot=self.slot.name, known=self.record.head)
        self.slot.mark(self.record, State.KEPT, head=self.record.head, reason=reason)
        self.lock.release()
        return ref


def _clean(git: Git, flags: str) -> None:
    """Remove untracked files; folders without write permission are made writable and tried once more."""
    if git.try_run("clean", flags, "--quiet").code == 0:
        return
    for parent, folders, _ in os.walk(git.cwd):
        for name in folders:
            path = os.path.join(parent, name)  # noqa: PTH118 - as os.walk gives it
            if not os.path.islink(path):  # noqa: PTH114
                os.chmod(path, os.stat(path).st_mode | 0o700)  # noqa: PTH101, PTH116
    git.run("clean", flags, "--quiet")


def _forget_operations(git_dir: Path) -> None:
    """End what an agent began and did not finish, and drop the locks that its killed git left."""
    for name in ("rebase-merge", "rebase-apply", "sequencer"):
        remove_folder(git_dir / name)
    for name in ("index.lock", "HEAD.lock", "BISECT_LOG", "BISECT_START"):
        (git_dir / name).unlink(missing_ok=True)
