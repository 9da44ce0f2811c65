"""What a task changed: two commits or trees of one task, the proven ones or those of its last attempt."""

import json
from dataclasses import dataclass

from baton_runner.base.errors import NothingCollected
from baton_runner.controller.controller import Controller
from baton_runner.plan.model import Task
from baton_runner.repo import parking
from baton_runner.repo.refs import attempts_prefix

__all__ = ["TaskChange", "task_change"]


@dataclass(frozen=True)
class TaskChange:
    """From ``old`` to ``new`` (a commit or a tree each); ``source`` says what is shown, in a few words."""

    old: str
    new: str
    source: str


def task_change(controller: Controller, task: Task) -> TaskChange:
    """The change that a receipt proves; without one, that of the last attempt, as far as it was kept.

    NothingCollected when no attempt left anything.
    """
    facts = controller.facts(task.key)
    if facts.receipt is not None:
        receipt = facts.receipt
        return TaskChange(receipt.base, receipt.commit, f"attempt {receipt.attempt}, proven at {receipt.finished}")
    found = _in_worktree(controller, task) or _last_attempt(controller, task)
    if found is None:
        raise NothingCollected(
            f"no attempt at task {task.id} left a change",
            where=controller.plan.path,
            todo="see baton log for what happened",
        )
    return found


def _in_worktree(controller: Controller, task: Task) -> TaskChange | None:
    """What a worktree of this task that was kept for a person holds now."""
    objects = controller.parts.objects
    places = (*controller.parts.workspaces.kept(), *controller.parts.workspaces.orphans())
    for place in sorted(places, key=lambda each: each.record.purpose.attempt, reverse=True):
        purpose, git_dir = place.record.purpose, place.slot.git_dir()
        if (purpose.change, purpose.key) != (controller.change.id, task.key) or git_dir is None:
            continue
        tree = parking.snapshot(objects.own_git.worktree(place.slot.tree, git_dir), git_dir)
        if tree != objects.tree_of(place.record.head):
            return TaskChange(place.record.head, tree, f"attempt {purpose.attempt}, kept in {place.slot.tree}")
    return None


def _last_attempt(controller: Controller, task: Task) -> TaskChange | None:
    """The newest attempt that has a ref: ``<attempt>`` of its first turn, ``<attempt>.<turn>`` of later ones."""
    prefix = attempts_prefix(controller.change.id, task.key)
    refs = {name.removeprefix(prefix): oid for name, oid in controller.parts.refs.read(prefix).items()}
    if not refs:
        return None
    newest = max(refs, key=lambda name: tuple(int(part) for part in name.split(".") if part.isdigit()))
    attempt = int(newest.partition(".")[0])
    return TaskChange(_base_of(controller, task, attempt, refs[newest]), refs[newest], f"attempt {attempt}, not proven")


def _base_of(controller: Controller, task: Task, attempt: int, commit: str) -> str:
    """Where an attempt started: as its packet says, else where it left the integration branch."""
    packet = controller.parts.layout.packet(task.key, attempt)
    if packet.exists():
        return str(json.loads(packet.read_bytes())["base"])
    return controller.parts.objects.merge_base(controller.parts.branch.head(), commit) or commit
