"""Abandon: give up a change. What was merged stays under a ref of ours, what proves it goes, boxes we ticked are blank.

The decision is on disk first; a repeated call goes on where a killed one ended. Attempts, packets and logs stay until
``baton clean --refs``, so numbers are never used twice and no commit is lost.
"""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.clock import rfc3339
from baton_runner.base.digest import canonical
from baton_runner.base.errors import ActionNeeded, BatonError, UsageError
from baton_runner.base.slug import slug
from baton_runner.controller.branch import Branch
from baton_runner.controller.claims import Claims
from baton_runner.controller.controller import Controller
from baton_runner.controller.project import Project
from baton_runner.evidence.layout import Layout
from baton_runner.plan import ticking
from baton_runner.plan.changes import Change, select_change
from baton_runner.plan.model import Mark
from baton_runner.repo.refs import PREFIX, RefUpdate, attempts_prefix, change_ref, integration_ref, receipts_prefix

__all__ = ["Abandoned", "abandon", "abandoned_prefix", "abandoned_record"]

_DECISION = crash.declare("abandon.decision")
_PARKED = crash.declare("abandon.refs")
_RECORDS = crash.declare("abandon.records")
_FOLDERS = ("pending", "receipts", "outcomes", "ticks", "redo", "failures", "definitions")


@dataclass(frozen=True)
class Abandoned:
    """What was given up: ``kept`` is the ref that still holds the merged work, None where nothing was merged.

    ``problems`` are boxes that could not be blanked, one sentence each.
    """

    change: str
    kept: str | None
    receipts: int
    unticked: int
    problems: tuple[str, ...] = ()


def abandoned_prefix(change: str) -> str:
    """What the refs that hold a change's merged work start with after it was abandoned."""
    return f"{PREFIX}abandoned/{slug(change)}/"


def abandoned_record(baton: Path, change: str) -> Path:
    """The decision to abandon a change."""
    return baton / "abandoned" / f"{slug(change)}.json"


def abandon(project: Project, name: str) -> Abandoned:
    """Give up a change, also one whose folder is gone.

    UsageError when there is no such change; ActionNeeded while a task of it is in work, or its branch is checked out.
    """
    change = _known(project, name)
    layout = Layout(project.baton, name)
    controller, problem = _controller(project, change)
    branch = Branch(project.repository, project.objects, project.refs, name, project.policy.settings.integration.branch)
    with controller.parts.integrator.exclusive(f"abandoning {name}") if controller else contextlib.nullcontext():
        _refuse_busy(project, branch, name, controller, layout)
        tip = branch.tip()
        record = abandoned_record(project.repository.ensure_baton(), name)
        decision = {"change": name, "head": tip, "at": rfc3339(project.clock.now())}
        files.write_atomic(record, canonical(decision), _DECISION)
        unticked, problems = _blank(controller) if controller else (0, (problem,) if problem else ())
        receipts = len(_proofs(project, layout, name))
        kept = _drop_refs(project, branch, name, tip)
        _drop_records(layout)
    return Abandoned(name, kept, receipts, unticked, problems)


def _controller(project: Project, change: Change | None) -> tuple[Controller | None, str]:
    """The controller of a change, or why there is none: a broken plan may be given up, its boxes are the user's."""
    if change is None:
        return None, ""
    try:
        return Controller(project, change), ""
    except UsageError as error:
        return None, str(error)


def _known(project: Project, name: str) -> Change | None:
    """The change; None for one that only our records know. Raises what an unknown name deserves."""
    for change in project.changes:
        if change.id == name:
            return change
    if project.refs.read(change_ref(name), receipts_prefix(name), attempts_prefix(name)):
        return None
    return select_change(project.changes, name)


def _refuse_busy(project: Project, branch: Branch, change: str, controller: Controller | None, layout: Layout) -> None:
    if controller is not None:
        keys = tuple(task.key for task in controller.plan.tasks)
    else:
        keys = tuple(path.stem for path in layout.folder("receipts").glob("*.json"))
    for key, owner in Claims(project.repository.locks, change, "").owners(keys).items():
        raise ActionNeeded(
            f"task {key} is in work by {owner}", todo="stop that run, then abandon again", code="in_work"
        )
    place = branch.checked_out()
    if place is not None and branch.tip() is not None:
        raise ActionNeeded(
            f"is checked out in {place}",
            where=branch.name,
            todo="switch that checkout to another branch, then abandon again",
            code="branch_checked_out",
        )


def _blank(controller: Controller) -> tuple[int, tuple[str, ...]]:
    """Blank the boxes that stand for receipts of ours; those a person ticked stay."""
    parts = controller.parts
    done, problems = 0, []
    for task in controller.plan.tasks:
        facts = controller.facts(task.key)
        if task.mark is not Mark.RESOLVED or not (facts.named or facts.receipt or facts.damage):
            continue
        try:
            done += ticking.untick(parts.change.plan_path, task, lock_path=parts.plan_lock, root=parts.top)
        except BatonError as error:
            problems.append(str(error))
    return done, tuple(problems)


def _proofs(project: Project, layout: Layout, name: str) -> set[str]:
    """The slugs of the tasks that have a receipt, as a file or as a ref: the folder of records may have been deleted."""
    prefix = receipts_prefix(name)
    refs = {ref.removeprefix(prefix) for ref in project.refs.read(prefix)}
    return refs | {path.stem for path in layout.folder("receipts").glob("*.json")}


def _drop_refs(project: Project, branch: Branch, name: str, tip: str | None) -> str | None:
    """Move the branch's tip under a ref of ours and drop what made the change one of ours; the new ref.

    A branch that the policy names may be more than this change's: it stays where it is.
    """
    refs = project.refs
    own = branch.ref == integration_ref(name)
    kept = f"{abandoned_prefix(name)}{tip[:16]}" if tip is not None else None
    updates = [RefUpdate(ref, None, oid) for ref, oid in refs.read(change_ref(name), receipts_prefix(name)).items()]
    if kept is not None and refs.get(kept) is None:
        updates.append(RefUpdate(kept, tip, None))
    if own and tip is not None:
        updates.append(RefUpdate(branch.ref, None, tip))
    crash.reach(_PARKED)
    refs.transaction(updates)
    return kept


def _drop_records(layout: Layout) -> None:
    for folder in _FOLDERS:
        crash.reach(_RECORDS)
        shutil.rmtree(layout.folder(folder), ignore_errors=True)
    for path in (layout.baseline(), layout.complete()):
        if path.exists():
            files.remove(path, _RECORDS)
