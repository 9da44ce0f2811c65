"""Recovery: what a run does before it starts, and what makes losing a process at any instruction harmless.

Unfinished publications go on from the first step that is missing, receipts lost or damaged come back from their refs,
boxes follow receipts, stale ref locks and worktrees of the dead are freed with their content parked. Every step may
itself be killed and repeated.
"""

import contextlib
import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.errors import ActionNeeded, BatonError, DamagedRecord
from baton_runner.controller.parts import Parts
from baton_runner.controller.publishing import Pending
from baton_runner.controller.removing import remove_worktree
from baton_runner.evidence.receipt import Receipt
from baton_runner.plan.model import Task
from baton_runner.repo.refs import RefUpdate, attempts_prefix, receipt_ref, receipts_prefix
from baton_runner.repo.slots import Kind

__all__ = ["Recovered", "recover"]

SET_ASIDE = crash.declare("recovery.set_aside")
_STALE_LOCK_SECONDS = 2.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Recovered:
    """What was mended, one line each, for the log."""

    lines: tuple[str, ...]


def recover(parts: Parts, tasks: Sequence[Task]) -> Recovered:
    """Mend one change's records, under its integration lock."""
    lines: list[str] = []
    with parts.integrator.exclusive("recovering"):
        freed = _free_refs(parts)
        lines += [f"removed the stale lock of {name}" for name in freed]
        lines += _finish_publications(parts)
        lines += _mirror_receipts(parts, tasks)
    lines += _free_worktrees(parts, {task.key for task in tasks})
    return Recovered(tuple(lines))


def _free_refs(parts: Parts) -> list[str]:
    """Remove what a killed git left on our refs. One of a moment ago may be alive: it is given the time to end."""
    prefixes = (parts.branch.ref, receipts_prefix(parts.change.id), attempts_prefix(parts.change.id))
    deadline = parts.clock.monotonic() + 2 * _STALE_LOCK_SECONDS
    freed: list[str] = []
    while True:
        freed += parts.refs.remove_stale_locks(prefixes, older_than=_STALE_LOCK_SECONDS)
        if (
            not parts.refs.is_locked(prefixes)
            or parts.clock.monotonic() >= deadline
            or parts.cancel.wait(_POLL_SECONDS)
        ):
            return freed


def _finish_publications(parts: Parts) -> list[str]:
    folder = parts.layout.folder("pending")
    lines = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            pending = Pending.read(path)
        except DamagedRecord as error:
            lines.append(f"{error}; {_set_aside(path)}")
            continue
        if pending is not None and not _is_whole_merge(parts, pending):
            lines.append(f"the merge of {path} is not in the object database; {_set_aside(path)}")
        elif pending is not None:
            parts.publisher.resume(_rebased(parts, pending))
            lines.append(f"finished the publication of {pending.receipt.change}:{pending.receipt.task}")
    return lines


def _set_aside(path: Path) -> str:
    aside = path.with_suffix(".damaged")
    files.rename(path, aside, SET_ASIDE)
    return f"set aside as {aside.name}, the task will be verified again"


def _is_whole_merge(parts: Parts, pending: Pending) -> bool:
    """Whether every object of a merge is there: a power cut may have kept the record and lost an object before it."""
    if pending.merge is None:
        return True
    walk = ("rev-list", "--objects", "--quiet", pending.merge, f"^{pending.old_head}", "--")
    return parts.objects.git.try_run(*walk).code == 0


def _rebased(parts: Parts, pending: Pending) -> Pending:
    """The same publication without its merge where the branch has moved on: its commit is then merged and verified anew."""
    tip = parts.branch.tip()
    if pending.merge is None or tip == pending.old_head:
        return pending
    if tip is not None and parts.objects.is_ancestor(pending.merge, tip):
        return pending
    return Pending(pending.receipt, pending.old_head, None, pending.answers)


def _mirror_receipts(parts: Parts, tasks: Iterable[Task]) -> list[str]:
    """Make receipt files and refs agree: a whole file of another content than its ref is older, or lost its ref."""
    refs = parts.refs.read(receipts_prefix(parts.change.id))
    lost = parts.objects.missing(refs.values())
    lines = []
    for task in tasks:
        name = receipt_ref(parts.change.id, task.key)
        path = parts.layout.receipt(task.key)
        data = path.read_bytes() if path.exists() else None
        blob = refs.get(name)
        if blob is None and data is None:
            continue
        if data is not None and blob == parts.objects.blob_id(data) and (whole := _whole(data, task, parts.change.id)):
            parts.publisher.install(whole)  # its outcome may have been lost
            if blob in lost:
                parts.objects.blob(data)
                lines.append(f"wrote the lost object of the receipt of {task.name(parts.change.id)} again")
            continue
        restored = _restore(parts, blob, task) if blob is not None else None
        if restored is not None:
            parts.publisher.install(restored)
            lines.append(f"restored the receipt of {task.name(parts.change.id)} from its ref")
        elif data is not None and _whole(data, task, parts.change.id):
            parts.refs.transaction([RefUpdate(name, parts.objects.blob(data), blob)])
            lines.append(f"restored the receipt ref of {task.name(parts.change.id)} from its file")
    return lines


def _free_worktrees(parts: Parts, keys: Collection[str]) -> list[str]:
    """Free the worktrees of the dead whose work is published, keep those nobody will look at, remove what is too old."""
    lines = []
    for orphan in parts.workspaces.orphans():
        purpose = orphan.record.purpose
        if purpose.change != parts.change.id:
            continue
        if orphan.slot.git_dir() is None:  # killed before the worktree was there: nothing is in it
            with contextlib.suppress(ActionNeeded):
                parts.workspaces.remove(orphan.slot)
            continue
        if purpose.kind is Kind.VERIFY:
            checked = parts.workspaces.adopt(orphan.slot)
            if checked is not None:
                checked.release()  # nothing in it is anybody's work
            continue
        receipt = _published(parts, purpose.key)
        proven = receipt is not None and receipt.finished >= orphan.record.since  # both UTC, in one format
        if purpose.key in keys and not proven:
            continue  # whoever works on the task next may save what is in it
        worktree = parts.workspaces.adopt(orphan.slot)
        if worktree is None:
            continue
        if receipt is not None and worktree.head() == receipt.commit:
            worktree.release(receipt.commit)
        else:
            worktree.keep("left by an interrupted run")
    limit = parts.clock.now() - dt.timedelta(hours=parts.policy.settings.workspace.gc_hours)
    for kept in parts.workspaces.kept():
        if kept.record.purpose.change == parts.change.id and _since(kept.record.since) < limit:
            try:
                remove_worktree(parts.workspaces, parts.hooks, parts.layout.root, kept.slot, kept.record)
            except ActionNeeded as error:
                lines.append(str(error))
            else:
                lines.append(f"removed the worktree {kept.slot.tree}, kept since {kept.record.since}")
    return lines


def _published(parts: Parts, key: str) -> Receipt | None:
    try:
        return Receipt.decode(parts.layout.receipt(key).read_bytes(), where=key)
    except (FileNotFoundError, DamagedRecord):
        return None  # nothing is known to be published: what was left is kept


def _since(text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return dt.datetime.max.replace(tzinfo=dt.UTC)  # an unknown age is no age limit reached


def _restore(parts: Parts, blob: str, task: Task) -> Receipt | None:
    try:
        return _whole(parts.objects.read_blob(blob), task, parts.change.id)
    except BatonError:
        return None  # promise 2: what cannot be read proves nothing; the task is assessed without it


def _whole(data: bytes, task: Task, change: str) -> Receipt | None:
    """The receipt in these bytes, None when it is damaged or another task's."""
    try:
        receipt = Receipt.decode(data, where="receipt")
    except DamagedRecord:
        return None
    return receipt if (receipt.change, receipt.key) == (change, task.key) else None
