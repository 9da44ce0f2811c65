"""Decisions of a person about tasks: accept by hand, do again, drop the proof.

Each decision has its check, which raises what would refuse it and changes nothing, so that of several decisions all are
taken or none. A decision is on disk before anything else moves: refs, files and boxes follow it, and a kill in between leaves a task
that is to be done again, never one that looks finished. Nothing here deletes work: commits stay under attempt refs.
"""

from baton_runner.base import crash, files
from baton_runner.base.clock import rfc3339
from baton_runner.base.errors import ActionNeeded, NothingCollected
from baton_runner.controller.controller import Controller
from baton_runner.controller.parts import Parts
from baton_runner.controller.states import Assessment, State
from baton_runner.controller.ticks import tick_for, untick_for
from baton_runner.evidence.decisions import Redo, RedoKind
from baton_runner.plan import ticking
from baton_runner.plan.model import Mark, Task
from baton_runner.repo.refs import RefUpdate, receipt_ref

__all__ = ["accept", "check_accept", "check_forget", "check_redo", "check_untick", "forget", "redo", "untick"]

_TAKEN_BACK = crash.declare("decision.redo_taken_back")
_PROOF_DROPPED = crash.declare("decision.proof_dropped")


def redo(controller: Controller, task: Task, feedback: str) -> Assessment:
    """Have a task done again; the agent is told ``feedback``. Its old proof stays until there is a new one.

    A task in work may be asked for again: what is running does not answer a decision made after it began.
    """
    return _again(controller, task, "redo", feedback)


def check_redo(controller: Controller, task: Task) -> None:
    """Nothing refuses a redo."""


def untick(controller: Controller, task: Task) -> Assessment:
    """Take a tick back: of a proven task as a decision to do it again, of one ticked by hand as nothing but its box."""
    check_untick(controller, task)
    if not _is_ours(controller, task):
        untick_for(controller.parts, task)
        return _seen(controller, task)
    return _again(controller, task, "untick", "")


def check_untick(controller: Controller, task: Task) -> None:
    """NothingCollected when there is no tick to take back."""
    if task.mark is not Mark.RESOLVED and not _is_ours(controller, task):
        raise NothingCollected(f"task {task.id} is not ticked", where=controller.plan.path, todo="nothing to take back")


def _is_ours(controller: Controller, task: Task) -> bool:
    """Whether a record of ours speaks of a task, so that its tick is not a person's alone."""
    facts = controller.facts(task.key)
    return facts.receipt is not None or facts.named or facts.redo is not None


def forget(controller: Controller, task: Task) -> Assessment:
    """Drop the proof of a task: its receipt, ref and outcome go, its box is blank, and an agent does it anew.

    ActionNeeded while somebody works on it, NothingCollected when there is no proof.
    """
    parts = controller.parts
    check_forget(controller, task)
    with parts.claims.claim(task.key, (), f"forgetting {task.name(parts.change.id)}") as denied:
        if denied is not None:
            raise _in_work(task, denied.owner)
        _decide(parts, task, "forget", "")
        _drop_proof(parts, task)
        _blank(parts, task)
    return _seen(controller, task)


def check_forget(controller: Controller, task: Task) -> None:
    """ActionNeeded while somebody works on a task, NothingCollected when it has no proof."""
    facts = controller.facts(task.key)
    if facts.receipt is None and not facts.named and not facts.damage:
        raise NothingCollected(f"task {task.id} has no receipt", where=controller.plan.path, todo="nothing to forget")
    _refuse_busy(controller, task)


def accept(controller: Controller, task: Task) -> Assessment:
    """Tick a task by hand: it counts as resolved without proof, or its own proof counts again.

    A decision to do it again is taken back. ActionNeeded when the tick could not make it resolved: somebody works on
    it, or it has a receipt that does not fit any more.
    """
    parts = controller.parts
    with parts.claims.claim(task.key, (), f"ticking {task.name(parts.change.id)}") as denied:
        if denied is not None:
            raise _in_work(task, denied.owner)
        facts = controller.facts(task.key)
        _refuse_unfit(controller, task)
        if facts.redo is not None:
            files.remove(parts.layout.redo(task.key), _TAKEN_BACK)
        if facts.receipt is not None and not facts.damage:
            problem = tick_for(parts, task, facts.receipt)
            if problem:
                raise ActionNeeded(problem, where=controller.plan.path)
        else:
            _drop_proof(parts, task)  # what is left of one (a mark, a ref) would say that the task is not accepted
            ticking.tick(parts.change.plan_path, task, lock_path=parts.plan_lock, root=parts.top)
    return _seen(controller, task)


def check_accept(controller: Controller, task: Task) -> None:
    """ActionNeeded where :func:`accept` would refuse."""
    _refuse_busy(controller, task)
    _refuse_unfit(controller, task)


def _refuse_busy(controller: Controller, task: Task) -> None:
    owner = controller.parts.claims.owner(task.key)
    if owner:
        raise _in_work(task, owner)


def _again(controller: Controller, task: Task, kind: RedoKind, feedback: str) -> Assessment:
    _decide(controller.parts, task, kind, feedback)
    _blank(controller.parts, task)
    return _seen(controller, task)


def _decide(parts: Parts, task: Task, kind: RedoKind, feedback: str) -> None:
    Redo(kind, feedback, rfc3339(parts.clock.now())).write(parts.layout.redo(task.key))
    parts.events.emit(parts.change.id, task.key, "task.redo", decision=kind, feedback=feedback)


def _blank(parts: Parts, task: Task) -> None:
    if task.mark is Mark.RESOLVED:
        untick_for(parts, task)


def _drop_proof(parts: Parts, task: Task) -> None:
    """Remove receipt, outcome and tick mark of a task: the ref first, since files come back from it."""
    name = receipt_ref(parts.change.id, task.key)
    blob = parts.refs.get(name)
    if blob is not None:
        parts.refs.transaction([RefUpdate(name, None, blob)])
    for path in (parts.layout.receipt(task.key), parts.layout.outcome(task.key), parts.layout.tick_mark(task.key)):
        if path.exists():
            files.remove(path, _PROOF_DROPPED)


def _refuse_unfit(controller: Controller, task: Task) -> None:
    """Refuse a tick that would not hold: a receipt wins over a box."""
    assessment = controller.assess(task.key)
    facts = controller.facts(task.key)
    if facts.receipt is None or assessment.state not in {State.STALE, State.NOT_INTEGRATED}:
        return
    raise ActionNeeded(
        f"task {task.id} has a receipt that does not fit: {assessment.reason}",
        where=controller.plan.path,
        todo=f"let baton run renew it, or drop it (baton forget {task.name(controller.change.id)}) and tick again",
        code="unfit_receipt",
    )


def _in_work(task: Task, owner: str) -> ActionNeeded:
    return ActionNeeded(
        f"task {task.id} is in work by {owner}", todo="wait until it is done, or stop that run", code="in_work"
    )


def _seen(controller: Controller, task: Task) -> Assessment:
    """The state after a decision, everything read anew."""
    controller.refresh()
    return controller.assess(task.key)
