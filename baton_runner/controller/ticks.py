"""The box is a projection of the receipt: ticked after it, ticked again when it was lost, marked with its seal."""

from collections.abc import Mapping, Sequence

from baton_runner.base.errors import BatonError
from baton_runner.controller.parts import Parts
from baton_runner.evidence.decisions import TickMark
from baton_runner.evidence.receipt import Receipt
from baton_runner.plan import ticking
from baton_runner.plan.model import Task

__all__ = ["tick_again", "tick_for", "untick_for"]


def tick_for(parts: Parts, task: Task, receipt: Receipt) -> str:
    """Tick a task's box for its receipt and note for which; a sentence when the plan no longer lets us.

    The plan is the user's: that a box could not be ticked takes nothing from the proof, so it is told, not raised.
    """
    try:
        ticking.tick(parts.change.plan_path, task, lock_path=parts.plan_lock, root=parts.top)
    except BatonError as error:
        return _tell(parts, task, error)
    TickMark(receipt.seal).write(parts.layout.tick_mark(task.key))
    return ""


def tick_again(parts: Parts, proven: Sequence[tuple[Task, Receipt]]) -> tuple[Task, ...]:
    """Tick the boxes of proven tasks in one write, and note for which receipts; the tasks whose boxes are ticked now.

    As in :func:`tick_for`, what the plan does not let us tick is told, not raised.
    """
    refused: Mapping[str, BatonError]
    tasks = tuple(task for task, _ in proven)
    try:
        refused = ticking.tick_all(parts.change.plan_path, tasks, lock_path=parts.plan_lock, root=parts.top)
    except BatonError as error:
        refused = {task.key: error for task in tasks}
    for task, receipt in proven:
        if task.key in refused:
            _tell(parts, task, refused[task.key])
        else:
            TickMark(receipt.seal).write(parts.layout.tick_mark(task.key))
    return tuple(task for task in tasks if task.key not in refused)


def untick_for(parts: Parts, task: Task) -> None:
    """Blank a task's box because it is to be done again; the decision is on disk already."""
    ticking.untick(parts.change.plan_path, task, lock_path=parts.plan_lock, root=parts.top)


def _tell(parts: Parts, task: Task, error: BatonError) -> str:
    problem = f"its box could not be ticked: {error}"
    parts.events.emit(parts.change.id, task.key, "plan.not_ticked", message=problem)
    return problem
