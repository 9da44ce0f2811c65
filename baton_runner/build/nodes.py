"""A change as doit nodes, in plan order: its tasks, a gate for each section, the closing check, and the group of all.

The projection adds nothing to what the controller decides and is linear in the plan: a task waits for the gates before
its section and for its explicit blockers, a gate for its section's tasks and the gates before it. What lets dependants
pass unfinished (optional tasks, follow-ups, held ones under ``--skip-held``) is no dependency here either.
"""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from doit.exceptions import TaskFailed
from doit.task import Task as DoitTask

from baton_runner.base.errors import BatonError
from baton_runner.build.guard import refuse_in_assignment
from baton_runner.build.item import Item
from baton_runner.build.names import change_name, gate_names, task_names
from baton_runner.build.report.text import plural
from baton_runner.build.works import ClosingWork, GateWork, TaskWork, gate_file
from baton_runner.controller.controller import Controller
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.states import State
from baton_runner.plan.model import Mark, Task

__all__ = ["CLOSING", "Node", "Work", "project"]

CLOSING = "closing"
_POLL_SECONDS = 0.5


class Work(Protocol):
    """What a node stands for."""

    @property
    def resources(self) -> tuple[str, ...]:
        """What only one node may use at a time."""
        ...

    def is_done(self) -> bool:
        """Whether there is nothing to do. Cheap, never raises, never runs a command."""
        ...

    def attempt(self) -> Result:
        """Do it; DEFERRED when another process has it now."""
        ...


class Node(DoitTask):  # type: ignore[misc] # doit is untyped
    """A doit task of ours; ``work`` is None for the group that only names the others."""

    def __init__(
        self,
        name: str,
        work: Work | None,
        *,
        doc: str,
        task_dep: Iterable[str] = (),
        file_dep: Iterable[Path] = (),
        targets: Iterable[Path] = (),
        group: str | None = None,
    ) -> None:
        super().__init__(
            name,
            None if work is None else [self.act],
            doc=doc or name,
            task_dep=list(task_dep),
            file_dep=[_shown(path) for path in file_dep],
            targets=[_shown(path) for path in targets],
            uptodate=() if work is None else [self.is_done],
            subtask_of=group,
            has_subtask=work is None,
            io={"capture": False},
        )
        self.work = work

    @property
    def item(self) -> Item | None:
        """The task of the plan behind it, None for gates, closing checks and groups."""
        return self.work.item if isinstance(self.work, TaskWork) else None

    def is_done(self) -> bool:
        """Whether doit may skip it."""
        return self.work is not None and self.work.is_done()

    def act(self) -> TaskFailed | None:
        """Do it to its end, as a doit action: for commands of doit that bring their own runner."""
        assert self.work is not None  # noqa: S101 - a group has no action
        try:
            if self.item is not None:
                refuse_in_assignment(self.item.controller.project)
            while (result := self.work.attempt()).verdict is Verdict.DEFERRED:
                time.sleep(_POLL_SECONDS)
        except BatonError as error:
            return TaskFailed(str(error))
        return failed(result)


def failed(result: Result) -> TaskFailed | None:
    """A result as doit wants it: None for a good one."""
    return None if result.verdict.good else TaskFailed(f"{result.verdict.value}: {result.message}")


def project(controller: Controller) -> list[Node]:
    """The nodes of a change: its group first, then sections in plan order, each closed by its gate, the closing check last."""
    return list(_Projection(controller).nodes())


class _Projection:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._plan = controller.plan
        self._layout = controller.parts.layout
        self._group = change_name(controller.change.id)
        self._tasks = task_names(self._plan)
        self._gates = gate_names(self._plan, frozenset(self._tasks.values()))

    def nodes(self) -> Iterator[Node]:
        members = [node for section in self._plan.sections for node in self._section(section.index)]
        closing = self._closing([node.name for node in members])
        title = f"{plural(len(self._plan.tasks), 'task')} of {self._plan.path}"
        follow_ups = {self._tasks[task.key] for task in self._plan.follow_ups}
        needed = [node.name for node in (*members, closing) if node.name not in follow_ups]
        yield Node(self._group, None, doc=title, task_dep=needed)
        yield from members
        yield closing

    def _section(self, index: int) -> Iterator[Node]:
        section = self._plan.sections[index]
        for task in section.tasks:
            yield self._task(task)
        gates = self._controller.order.after.get(index, ())
        yield Node(
            self._gates[index],
            GateWork(self._controller, index),
            doc=f"done: {section.title}" if section.title else f"section {index + 1} is done",
            task_dep=[
                *(self._gates[each] for each in gates),
                *(self._tasks[t.key] for t in section.tasks if self._gates_on(t)),
            ],
            targets=[gate_file(self._layout, index)],
            group=self._group,
        )

    def _task(self, task: Task) -> Node:
        item = Item(self._controller, task)
        waits = item.assessment.state is not State.ACCEPTED  # a person resolved it, whatever is open before it
        after = self._after(task) if waits else ()
        blockers = self._controller.order.edges.get(task.key, ()) if waits else ()
        edges = [key for key in blockers if self._gates_on(self._plan.by_key[key])]
        return Node(
            self._tasks[task.key],
            TaskWork(item),
            doc=task.title,
            task_dep=[*(self._gates[index] for index in after), *(self._tasks[key] for key in edges)],
            file_dep=[self._layout.definition(task.key), *(gate_file(self._layout, index) for index in after)],
            targets=[self._layout.receipt(task.key), self._layout.outcome(task.key)],
            group=self._group,
        )

    def _after(self, task: Task) -> tuple[int, ...]:
        """The gates a task waits for; a follow-up comes when every section is done."""
        if not task.follow_up:
            return self._controller.order.after.get(task.section, ())
        waited_for = {index for indexes in self._controller.order.after.values() for index in indexes}
        return tuple(index for index in self._gates if index not in waited_for)

    def _gates_on(self, task: Task) -> bool:
        """Whether dependants wait for a task."""
        if task.optional or task.follow_up:
            return False
        skipped = self._controller.options.skip_held and task.mark is Mark.HELD and not task.duplicate
        return not skipped

    def _closing(self, members: list[str]) -> Node:
        name = f"{self._group}:{CLOSING}"
        if name in members:
            name = f"{self._group}:@{CLOSING}"
        waits = [name for index, name in self._gates.items()]
        return Node(
            name,
            ClosingWork(self._controller),
            doc="every check is green on the final tree",
            task_dep=waits,
            group=self._group,
        )


def _shown(path: Path) -> str:
    """A path as a person would write it in a dodo file: relative to the current folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
