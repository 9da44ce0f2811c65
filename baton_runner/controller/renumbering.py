"""Number a plan and take its receipts along: ids change, what was proven does not.

New receipts are made for the new keys first, then the plan is written, then the old ones go: a kill in between leaves
two whole sets, of which the plan on disk picks one. A task that was not up to date keeps its old receipt's doubts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from baton_runner.base import crash, files
from baton_runner.base.clock import rfc3339
from baton_runner.base.errors import ActionNeeded
from baton_runner.controller.assess import Assessor, Rules
from baton_runner.controller.controller import Controller
from baton_runner.controller.parts import Parts
from baton_runner.controller.states import Facts, State
from baton_runner.evidence.decisions import Redo, TickMark
from baton_runner.evidence.receipt import Inputs, Receipt
from baton_runner.plan import ticking
from baton_runner.plan.model import Mark, Plan, Task
from baton_runner.plan.number import number
from baton_runner.plan.order import order
from baton_runner.plan.tasks_md import read_plan
from baton_runner.repo.refs import RefUpdate, receipt_ref

__all__ = ["Renumbered", "renumber"]

_OLD_GONE = crash.declare("renumber.old_receipt")


@dataclass(frozen=True)
class Renumbered:
    """What happened: ``ids`` maps shown old ids to new ones, ``taken`` are the new ids whose proof came along.

    ``again`` are the ids of finished tasks that the next run looks at again.
    """

    ids: Mapping[str, str]
    taken: tuple[str, ...]
    again: tuple[str, ...]


def renumber(controller: Controller) -> Renumbered:
    """Give every task an id of its own, in the plan, and every proof the key of its task.

    ActionNeeded while a task is in work, or when somebody else writes the plan meanwhile.
    """
    parts = controller.parts
    with parts.integrator.exclusive(f"numbering {parts.change.id}"):
        _refuse_busy(controller)
        before = parts.change.plan_path.read_bytes()
        after, keys = number(before, path=parts.plan_path)
        if after == before:
            return Renumbered({}, (), ())
        plan = read_plan(after, change=parts.change.id, path=parts.plan_path)
        moved = _moved(controller, plan, keys)
        for receipt in moved.values():
            _install(parts, receipt)
        _carry_decisions(controller, keys)
        _write(parts, before, after)
        _drop_old(parts, controller.plan, {receipt.key for receipt in moved.values()})
    ids = {controller.plan.by_key[old].id: new for old, new in keys.items() if old in controller.plan.by_key}
    finished = {keys.get(key, key) for key, each in controller.states().items() if each.state.finished}
    controller.refresh()
    again = [task.id for task in plan.tasks if task.key in finished and not controller.assess(task.key).state.finished]
    return Renumbered(ids, tuple(receipt.task for receipt in moved.values()), tuple(again))


def _refuse_busy(controller: Controller) -> None:
    for task in controller.plan.tasks:
        owner = controller.parts.claims.owner(task.key)
        if owner:
            raise ActionNeeded(f"task {task.id} is in work by {owner}", todo="wait until it is done", code="in_work")


def _moved(controller: Controller, plan: Plan, keys: Mapping[str, str]) -> dict[str, Receipt]:
    """The new receipts by new key: those whose key changes, or whose inputs read otherwise under the new keys.

    A receipt that was up to date is given the inputs as they are called now; nothing that they stand for changed.
    """
    states = controller.states()
    olds = {keys.get(task.key, task.key): task for task in controller.plan.tasks}
    facts = {new: _facts_under(controller, old, keys) for new, old in olds.items()}
    ordered = order(plan, sections=controller.project.policy.settings.plan.sections.value)
    assessor = Assessor(plan, ordered, facts, Rules())
    made: dict[str, Receipt] = {}
    for task in plan.tasks:
        old = olds.get(task.key)
        found = facts[task.key].receipt if old is not None else None
        if old is None or found is None:
            continue
        if states[old.key].state is State.RESOLVED:
            found = replace(found, inputs=assessor.assess(task.key).inputs)
        original = controller.facts(old.key).receipt
        if original is None or found == original:
            continue
        made[task.key] = renewed = replace(found, task=task.id, key=task.key, supersedes=original.seal)
        assessor.replace(task.key, replace(facts[task.key], receipt=renewed))
    return made


def _facts_under(controller: Controller, old: Task, keys: Mapping[str, str]) -> Facts:
    """What is known of a task, its receipt's names of blockers and of itself already the new ones."""
    facts = controller.facts(old.key)
    if facts.receipt is None:
        return facts
    key = keys.get(old.key, old.key)
    edges = {keys.get(name, name): outcome for name, outcome in facts.receipt.inputs.edges.items()}
    inputs = Inputs(facts.receipt.inputs.gates, edges)
    task = keys.get(old.key, facts.receipt.task)
    return replace(facts, receipt=replace(facts.receipt, task=task, key=key, inputs=inputs))


def _carry_decisions(controller: Controller, keys: Mapping[str, str]) -> None:
    """Keep undone what is to be done again: under a new key a ticked box alone would read as accepted by hand."""
    layout = controller.parts.layout
    for old, new in keys.items():
        task, facts = controller.plan.by_key.get(old), controller.facts(old)
        if facts.failure is not None:
            facts.failure.write(layout.failure(new))
        if facts.redo is not None:
            facts.redo.write(layout.redo(new))
        elif task is not None and task.mark is Mark.RESOLVED and facts.receipt is None and facts.named:
            Redo("broken", "", rfc3339(controller.parts.clock.now())).write(layout.redo(new))


def _install(parts: Parts, receipt: Receipt) -> None:
    name = receipt_ref(receipt.change, receipt.key)
    blob = parts.objects.blob(receipt.encoded)
    present = parts.refs.get(name)
    if present != blob:
        parts.refs.transaction([RefUpdate(name, blob, present)])
    parts.publisher.install(receipt)
    TickMark(receipt.seal).write(parts.layout.tick_mark(receipt.key))


def _write(parts: Parts, before: bytes, after: bytes) -> None:
    """Replace the plan's bytes, provided they are the ones that were numbered."""

    def numbered(data: bytes) -> bytes:
        if data != before:
            raise ActionNeeded(
                "was edited while it was numbered",
                where=parts.plan_path,
                todo="run baton plan number again",
                code="plan_busy",
            )
        return after

    ticking.write_plan(parts.change.plan_path, numbered, parts.plan_lock, root=parts.top)


def _drop_old(parts: Parts, old: Plan, kept: set[str]) -> None:
    """Remove the receipts of keys that no task has any more."""
    now = {task.key for task in read_plan(parts.change.plan_path.read_bytes(), change="", path=parts.plan_path).tasks}
    for task in old.tasks:
        if task.key in now or task.key in kept:
            continue
        name = receipt_ref(parts.change.id, task.key)
        blob = parts.refs.get(name)
        if blob is not None:
            parts.refs.transaction([RefUpdate(name, None, blob)])
        for path in (parts.layout.receipt(task.key), parts.layout.outcome(task.key), parts.layout.tick_mark(task.key)):
            if path.exists():
                files.remove(path, _OLD_GONE)
