"""The pool of worktrees: acquired, healed, adopted, listed, removed. They lie outside the repository and are reused.

A worktree is handed out only after it was proven to be one: the right folder, the right repository, the right commit.
Whatever fails on the way raises, and no agent starts (it would run in the wrong place). What a worktree holds is parked
under a ref before it is reset or removed.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.clock import Clock, SystemClock, rfc3339
from baton_runner.base.errors import ActionNeeded
from baton_runner.base.files import ensure_folder
from baton_runner.base.locks import Lock
from baton_runner.repo import parking
from baton_runner.repo.git import GitError
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs
from baton_runner.repo.slots import (
    INITIALIZING,
    Kind,
    Purpose,
    Record,
    Slot,
    State,
    admin_folders,
    lock_reason,
    remove_folder,
    slots_of,
)
from baton_runner.repo.worktree import Worktree, WorktreeLost

__all__ = ["Kept", "Workspaces", "Worktree", "WorktreeLost"]

_BEFORE_ADD = crash.declare("repo.before_worktree_add")
_AFTER_ADD = crash.declare("repo.after_worktree_add")
_BEFORE_REMOVE = crash.declare("repo.before_worktree_remove")
_MOST_SLOTS = 1000
_GONE = ".gone-"
_ADD_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A worktree left for a person, or by a process that died."""

    slot: Slot
    record: Record


@dataclass(frozen=True)
class Workspaces:
    """The worktrees of one repository below one state root."""

    objects: Objects
    root: Path
    clock: Clock = field(default_factory=SystemClock)
    sparse: tuple[str, ...] = ()

    @property
    def _common_dir(self) -> Path:
        return self.objects.repository.common_dir

    def acquire(self, purpose: Purpose, commit: str) -> Worktree:
        """A worktree of our own at a commit, detached, clean but for ignored files; a free one or a new one.

        Any number of threads and processes may ask at once. Raises GitError or WorktreeLost when no proven worktree
        could be made; ActionNeeded when a thousand are in use.
        """
        for slot in self._slots(purpose.kind):
            lock = slot.lock(str(purpose))
            if not lock.try_acquire():
                continue
            handed_out = False
            try:
                before = slot.record()
                if _is_free(before, purpose.kind):
                    worktree = self._prepare(slot, lock, purpose, commit, before)
                    if worktree is not None:
                        handed_out = True
                        return worktree
            finally:
                if not handed_out:
                    lock.release()
        raise ActionNeeded(
            f"has {_MOST_SLOTS} worktrees, none of them free", where=str(self.root), todo="run baton clean"
        )

    def adopt(self, slot: Slot) -> Worktree | None:
        """Take over an orphan as it is, to go on with what it holds; None when it is in use, gone or not sound."""
        lock = slot.lock("adopting")
        if not lock.try_acquire():
            return None
        record, git_dir = slot.record(), slot.git_dir()
        if record is None or record.state is not State.USED or git_dir is None:
            lock.release()
            return None
        return Worktree(slot, record.purpose, self.objects, git_dir, record, lock, self.sparse)

    def kept(self) -> tuple[Kept, ...]:
        """The worktrees left for a person, by slot."""
        return tuple(Kept(slot, record) for slot, record in self.records() if record.state is State.KEPT)

    def orphans(self) -> tuple[Kept, ...]:
        """The worktrees of processes that died: in use by their record, with a free lock."""
        used = ((slot, record) for slot, record in self.records() if record.state is State.USED)
        return tuple(Kept(slot, record) for slot, record in used if not slot.lock().is_taken())

    def in_use(self) -> tuple[Kept, ...]:
        """The worktrees whose lock is held now."""
        return tuple(Kept(slot, record) for slot, record in self.records() if slot.lock().is_taken())

    def remove(self, slot: Slot) -> str | None:
        """Delete a worktree, its content parked first; the ref that holds it, None when there was nothing to park.

        Raises ActionNeeded when it is in use, when a person locked it, or when it holds a repository of its own.
        """
        lock = slot.lock("removing")
        if not lock.try_acquire():
            raise ActionNeeded(f"is in use by {lock.owner()}", where=str(slot.tree), todo="wait until it is done")
        try:
            return self._remove(slot)
        finally:
            lock.release()

    def _remove(self, slot: Slot) -> str | None:
        record = slot.record()
        for admin in admin_folders(slot):
            reason = lock_reason(admin)
            if reason is not None and reason != INITIALIZING:
                raise ActionNeeded(
                    f"is locked ({reason or 'no reason given'})",
                    where=str(slot.tree),
                    todo=f"run git worktree unlock {slot.tree}",
                )
        ref = None
        git_dir = slot.git_dir()
        if git_dir is not None and slot.kind is Kind.ATTEMPT:
            git = self.objects.own_git.worktree(slot.tree, git_dir)
            dirt = parking.look(self.objects, git, git_dir)
            if dirt.nested:
                raise ActionNeeded(
                    f"holds a repository of its own with work in it ({', '.join(dirt.nested[:3])})",
                    where=str(slot.tree),
                    todo="save what you need from it, delete that folder, then run again",
                )
            known = record.head if record else ""
            ref = parking.park(self.objects, git, git_dir, dirt=dirt, slot=slot.name, known=known)
        crash.reach(_BEFORE_REMOVE)
        aside = slot.folder.with_name(f"{_GONE}{uuid.uuid4().hex[:12]}")
        with self._adding():
            self._unregister(slot, record.head if record else "")
            for path in [each for each in slot.folder.iterdir() if each.name != "lock"]:
                ensure_folder(aside)
                path.rename(aside / path.name)
        remove_folder(aside)
        for leftover in slot.folder.parent.glob(f"{_GONE}*"):  # of a removal that was killed, or is still going on
            shutil.rmtree(leftover, ignore_errors=True)
        return ref

    def _prepare(self, slot: Slot, lock: Lock, purpose: Purpose, commit: str, before: Record | None) -> Worktree | None:
        """Bring a slot to a commit; None when it turns out to hold what must be kept."""
        record = Record(State.USED, purpose, commit, rfc3339(self.clock.now()), os.getpid())
        git_dir = slot.git_dir()
        if git_dir is not None and before is not None and slot.kind is Kind.ATTEMPT:
            reason = self._park_foreign(slot, git_dir, before)
            if reason:
                slot.mark(before, State.KEPT, head=before.head, reason=reason)
                return None
        slot.write(record)
        fresh = git_dir is None
        if git_dir is None:
            git_dir = self._add(slot, commit, before)
        worktree = Worktree(slot, purpose, self.objects, git_dir, record, lock, self.sparse, fresh)
        try:
            worktree.at(commit)
        except (GitError, OSError):
            if before is None:
                raise
            with self._adding():  # a damaged checkout is made anew, once
                self._set_aside(slot, before.head)
            worktree = replace(worktree, git_dir=self._add(slot, commit, before), fresh=True)
            worktree.at(commit)
        worktree.check()
        if worktree.head() != commit:
            raise WorktreeLost(f"is at {worktree.head()}, not at {commit}", where=str(slot.tree), todo="run again")
        return worktree

    def _park_foreign(self, slot: Slot, git_dir: Path, before: Record) -> str:
        """Park what somebody left in a free worktree; a reason when that cannot be done."""
        git = self.objects.own_git.worktree(slot.tree, git_dir)
        try:
            try:
                dirt = parking.look(self.objects, git, git_dir)
            except GitError:  # a damaged index is made again from the commit; the files stay as they are
                (git_dir / "index").unlink(missing_ok=True)
                git.run("read-tree", "HEAD")
                dirt = parking.look(self.objects, git, git_dir)
            if dirt.nested:
                return f"holds a repository of its own: {', '.join(dirt.nested[:3])}"
            parking.park(self.objects, git, git_dir, dirt=dirt, slot=slot.name, known=before.head)
        except GitError as error:
            return f"could not be read: {error.what}"
        return ""

    def _add(self, slot: Slot, commit: str, before: Record | None) -> Path:
        with self._adding():
            self._set_aside(slot, before.head if before else commit)
            ensure_folder(slot.folder)
            crash.reach(_BEFORE_ADD)
            self.objects.repository.git.run(
                "worktree", "add", "--quiet", "--no-checkout", "--detach", str(slot.tree), commit
            )
            crash.reach(_AFTER_ADD)
        git_dir = slot.git_dir()
        if git_dir is None:
            raise WorktreeLost("was not made as asked", where=str(slot.tree), todo="look at git worktree list")
        return git_dir

    def _set_aside(self, slot: Slot, known: str) -> None:
        """Free the place of a worktree: entries that claim it go, files that lie there move away (or go, when ours)."""
        self._unregister(slot, known)
        if not os.path.lexists(slot.tree):
            return
        if slot.tree.is_symlink() or slot.kind is Kind.VERIFY or not _has_files(slot.tree):
            remove_folder(slot.tree)
        else:
            slot.tree.rename(slot.folder / f"aside-{uuid.uuid4().hex[:8]}")

    def _unregister(self, slot: Slot, known: str) -> None:
        refs = Refs(self.objects.repository)
        for admin in admin_folders(slot):
            head = parking.read_head(admin, refs)
            if slot.kind is Kind.ATTEMPT and head not in {None, known} and self._exists(str(head)):
                parking.park_commit(self.objects, str(head), slot=slot.name)
            shutil.rmtree(admin)

    def _exists(self, commit: str) -> bool:
        return self.objects.git.try_run("cat-file", "-e", f"{commit}^{{commit}}").code == 0

    def _adding(self) -> Lock:
        lock = Lock(self.objects.repository.locks / "worktree-add", note="adding or removing a worktree")
        lock.acquire(_ADD_TIMEOUT)
        return lock

    def _slots(self, kind: Kind) -> Iterator[Slot]:
        for count, slot in enumerate(slots_of(self.root, kind, self._common_dir)):
            if count == _MOST_SLOTS:
                return
            yield slot

    def records(self) -> Iterator[tuple[Slot, Record]]:
        """Every place that was ever used, with what is written about it."""
        for folder in sorted((self.root / "w").glob("[av]*"), key=lambda each: (len(each.name), each.name)):
            slot = Slot(folder, self._common_dir)
            record = slot.record()
            if record is not None:
                yield slot, record


def _is_free(record: Record | None, kind: Kind) -> bool:
    if record is None or record.state is State.FREE:
        return True
    return record.state is State.USED and kind is Kind.VERIFY  # its process died, and nothing in it is anybody's work


def _has_files(folder: Path) -> bool:
    return folder.is_file() or any(files for _, _, files in os.walk(folder))
