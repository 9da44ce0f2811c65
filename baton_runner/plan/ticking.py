"""Marks written back: one box and those of its steps, not a byte beside them.

The plan file is the user's. Under the plan lock it is read again, the task found again, and refused unless its line
is what it was but for the box. The write is atomic, keeps the mode, and is made again on the newer bytes when
somebody else wrote in between (a user's edit wins).
"""

import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from baton_runner.base import crash
from baton_runner.base.errors import ActionNeeded, PlanError
from baton_runner.base.files import rename, write_atomic
from baton_runner.base.locks import Lock
from baton_runner.plan.lines import BLANKS
from baton_runner.plan.model import Box, Mark, Section, Step, Task
from baton_runner.plan.readings import Reading, mark_of, reading

__all__ = ["TICK", "TICK_RENAME", "mark", "tick", "tick_all", "untick", "write_plan"]

TICK = crash.declare("plan.tick")
TICK_RENAME = crash.declare("plan.tick.rename")
_LOCK_SECONDS = 60.0
_TRIES = 50
_SIGN = {Mark.RESOLVED: b"x", Mark.READY: b" "}


def tick(file: Path, task: Task, lock_path: Path, *, root: Path) -> bool:
    """Mark a task and its steps resolved in its file; say whether that changed anything.

    ``root``: the folder that the file must lie in after symlinks are resolved. Raises PlanError (nothing is written):
    the task is gone, is there twice, its line was edited, the file is not UTF-8 or lies outside of ``root``;
    ActionNeeded when the lock stays taken.
    """
    return write_plan(file, lambda data: mark(data, task, Mark.RESOLVED, path=str(file)), lock_path, root=root)


def untick(file: Path, task: Task, lock_path: Path, *, root: Path) -> bool:
    """Mark a task and its steps ready again; the same promises as :func:`tick`."""
    return write_plan(file, lambda data: mark(data, task, Mark.READY, path=str(file)), lock_path, root=root)


def tick_all(file: Path, tasks: Sequence[Task], lock_path: Path, *, root: Path) -> dict[str, PlanError]:
    """Tick many tasks in one write; the promises of :func:`tick`, but a task that is refused holds up no other.

    Returns the refused ones: their keys and why. Raises what concerns the whole file.
    """
    refused: dict[str, PlanError] = {}

    def change(data: bytes) -> bytes:
        refused.clear()
        marking = _Marking(data, str(file))
        for task in tasks:
            try:
                marking.set(task, Mark.RESOLVED)
            except PlanError as error:
                refused[task.key] = error
        return marking.result()

    write_plan(file, change, lock_path, root=root)
    return refused


def mark(data: bytes, task: Task, to: Mark, *, path: str) -> bytes:
    """The bytes of a plan with a task's boxes set to RESOLVED or READY; PlanError when it is not to be found as it was.

    Steps that a person holds keep their mark, and so do steps that the task did not have when it was read. A group
    box above the task follows: ticked with its last task, blank as soon as one of them is.
    """
    if to is Mark.HELD:
        raise ValueError("only a person holds a task")
    marking = _Marking(data, path)
    marking.set(task, to)
    return marking.result()


class _Marking:
    """Marks to be set in one version of a plan's bytes; a task that is refused sets none."""

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._reading = reading(data, path)
        self._new: dict[Box, Mark] = {}

    def set(self, task: Task, to: Mark) -> None:
        """Set a task's boxes; the rules are those of :func:`mark`."""
        found = _find(self._reading, task)
        boxes = [found.box] if self._mark(found.box) is not to else []
        boxes += [step.box for step in _known_steps(found, task) if self._mark(step.box) not in (to, Mark.HELD)]
        boxes += self._group_box(self._reading.plan.sections[found.section], found, to)
        for box in boxes:
            self._refuse_link(box)
        self._new.update(dict.fromkeys(boxes, to))

    def result(self) -> bytes:
        """The bytes with all marks set."""
        parts, at = [], 0
        for box in sorted(self._new, key=lambda box: box.start):
            parts += [self._data[at : box.start], _marked(self._data[box.start : box.end], _SIGN[self._new[box]])]
            at = box.end
        return b"".join([*parts, self._data[at:]])

    def _mark(self, box: Box) -> Mark:
        return self._new.get(box) or mark_of(box, self._data)

    def _group_box(self, section: Section, task: Task, to: Mark) -> list[Box]:
        if section.box is None or self._mark(section.box) in (to, Mark.HELD):
            return []
        if to is Mark.READY:
            return [section.box]
        others = (other for other in section.tasks if other is not task and not other.follow_up)
        return [section.box] if all(self._mark(other.box) is Mark.RESOLVED for other in others) else []

    def _refuse_link(self, box: Box) -> None:
        if self._data[box.end : box.end + 1] in (b"(", b"["):
            shown = self._data[box.start : box.end + 1].decode()
            raise PlanError(
                f"the box would become a link if it were marked ({shown}...); nothing was written",
                where=f"{self._reading.plan.path}:{box.line}",
                todo="put a blank behind the box",
                code="box_or_link",
            )


def write_plan(file: Path, change: Callable[[bytes], bytes], lock_path: Path, *, root: Path) -> bool:
    """Replace a plan's bytes by ``change`` of them, under its lock; say whether they differ."""
    target = _contained(file, root)
    lock = Lock(lock_path, note=f"writing {file.name}")
    lock.acquire(_LOCK_SECONDS)
    try:
        for _ in range(_TRIES):
            if (wrote := _replace(target, change)) is not None:
                return wrote
    finally:
        lock.release()
    raise ActionNeeded(
        f"was changed by somebody else {_TRIES} times while it was to be written",
        where=str(file),
        todo="stop the program that keeps writing it, then run again",
        code="plan_busy",
    )


def _replace(target: Path, change: Callable[[bytes], bytes]) -> bool | None:
    """One try: None when somebody else's write was in the way.

    A write by renaming is seen right before ours; one into the old file, while we put ours in its place, is seen
    through the handle kept open on it and brought back.
    """
    with _opened(target) as before:
        data = before.read()
        new = change(data)
        if new == data:
            return False
        mode = stat.S_IMODE(os.fstat(before.fileno()).st_mode)
        waiting = target.with_name(f".{target.name}.baton")
        write_atomic(waiting, new, TICK, mode=mode)
        if target.read_bytes() != data:
            waiting.unlink()
            return None
        rename(waiting, target, TICK_RENAME)
        before.seek(0)
        late = before.read()
    if late == data:
        return True
    write_atomic(target, late, TICK, mode=mode)
    return None


def _opened(target: Path) -> BinaryIO:
    try:
        return target.open("rb")
    except OSError as error:
        raise PlanError(
            f"cannot be read: {error.strerror}", where=str(target), todo="put the plan back, then run again"
        ) from error


def _contained(file: Path, root: Path) -> Path:
    """The real file behind a name; PlanError when it lies outside of ``root``."""
    target = file.resolve()
    if not target.is_relative_to(root.resolve()):
        raise PlanError(
            f"leads to {target}, outside of {root}",
            where=str(file),
            todo="keep the plan inside the repository; nothing was written",
            code="outside",
        )
    return target


def _find(now: Reading, task: Task) -> Task:
    """The same task in a newer reading of the file."""
    plan = now.plan
    found: Sequence[Task] = now.by_id.get(task.id, ())
    if task.synthetic:
        found = [plan.by_key[task.key]] if task.key in plan.by_key else []
    if task.duplicate or len(found) > 1:
        lines = " and ".join(str(other.line) for other in found)
        what, line = (
            f"task {task.id} stands at lines {lines}; nothing was written",
            found[0].line if found else task.line,
        )
        raise PlanError(
            what,
            where=f"{plan.path}:{line}",
            todo="give each its own id, or run `baton plan number`",
            code="duplicate_id",
        )
    if not found:
        raise PlanError(
            f"task {task.id} ({task.title}) is not there any more; nothing was written",
            where=f"{plan.path}:{task.line}",
            todo="put it back, or mark it by hand",
            code="task_gone",
        )
    if found[0].raw != task.raw:
        raise PlanError(
            f"task {task.id} was edited since it was read; nothing was written",
            where=f"{plan.path}:{found[0].line}",
            todo="run again: the plan is read anew",
            code="task_edited",
        )
    return found[0]


def _known_steps(found: Task, task: Task) -> list[Step]:
    known = Counter(step.text for step in task.steps)
    steps = []
    for step in found.steps:
        if known[step.text]:
            known[step.text] -= 1
            steps.append(step)
    return steps


def _marked(box: bytes, sign: bytes) -> bytes:
    """A box with another mark in the place of its own; an empty or blank one gets it between its brackets."""
    inside = box[1:-1].decode()
    bare = inside.strip(BLANKS)
    if bare:
        return b"[" + inside.replace(bare, sign.decode(), 1).encode() + b"]"
    return b"[" + sign + b"]" if len(inside) <= 1 else b"[" + sign + inside[1:].encode() + b"]"
