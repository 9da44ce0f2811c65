"""The plan in values: sections, tasks, steps, and the boxes in the file that stand for them.

Promises: a plan is immutable; its counts are those of OpenSpec's own counter; every checkbox of the file is the box
of a task, of a step, of a section (a group that has a box itself) or one of ``hidden``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from baton_runner.base.errors import NothingCollected, PlanError

__all__ = [
    "Box",
    "Counts",
    "Directives",
    "Flow",
    "Mark",
    "Plan",
    "Section",
    "Source",
    "Step",
    "Task",
    "Verification",
    "Wait",
]


class Mark(Enum):
    """What a box says: ``x``/``X`` resolved, blank ready, anything else held by a person."""

    RESOLVED = "resolved"
    READY = "ready"
    HELD = "held"


class Flow(Enum):
    """How the tasks of one section run: together, or one after the other in document order."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"


class Source(Enum):
    """Where a verification command was found; the order of the members is the order of the commands."""

    LABEL = "label"
    FENCE = "fence"
    COMMENT = "comment"
    POLICY_ALL = "verify.commands"
    POLICY_TASK = "verify.tasks"
    POLICY_SECTION = "verify.sections"


@dataclass(frozen=True, slots=True)
class Box:
    """A checkbox in the file: line from 1, byte offsets of ``[`` (``start``) and behind ``]`` (``end``)."""

    line: int
    start: int
    end: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Step:
    """A nested box: ticked together with its task. ``text`` holds its further lines too."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Verification:
    """A command that must exit 0, and the place that asks for it."""

    command: str
    source: Source


@dataclass(frozen=True, slots=True)
class Wait:
    """One reference of a dependency note, as written: an id, or a range ``first``..``last``; ``line`` of the note."""

    first: str
    last: str | None
    line: int

    def __str__(self) -> str:
        return self.first if self.last is None else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Directives:
    """What ``<!-- baton: ... -->`` asks for; ``timeout`` in seconds, None where the policy decides."""

    allow_empty: bool = False
    agent: str | None = None
    timeout: float | None = None
    resources: tuple[str, ...] = ()
    verify_once: bool = False
    protect: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work.

    ``id`` is shown, ``key`` names files, refs and receipts: the id itself, or made from the content of a task
    without one (``synthetic``). ``text`` is the first line behind the id, ``body`` the lines below, both without
    comments; ``title`` is the text without notes and markers. ``line`` counts from 1, ``section`` is an index of
    ``Plan.sections``. ``waits`` is None without a dependency note and empty for ``none``. ``raw`` is the line behind
    the box, as in the file. ``inconsistent``: ticked, with an open step. ``duplicate``: its id is not its alone, so
    it is never dispatched. ``follow_up``: can only be done after all others (archive the change), never gates.
    """

    id: str
    key: str
    title: str
    text: str
    body: str
    line: int
    section: int
    box: Box
    raw: str
    steps: tuple[Step, ...] = ()
    synthetic: bool = False
    duplicate: bool = False
    manual: bool = False
    optional: bool = False
    red: bool = False
    green: bool = False
    parallel: bool = False
    follow_up: bool = False
    inconsistent: bool = False
    waits: tuple[Wait, ...] | None = None
    recipe: tuple[str, ...] = ()
    verification: tuple[Verification, ...] = ()
    directives: Directives = field(default_factory=Directives)

    @property
    def mark(self) -> Mark:
        """What its own box says."""
        return self.box.mark

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Its own box and those of its steps."""
        return (self.box, *(step.box for step in self.steps))

    def name(self, change: str) -> str:
        """How commands and messages name it: ``<change>:<id>``."""
        return f"{change}:{self.id}"


@dataclass(frozen=True, slots=True)
class Section:
    """A phase: tasks under one heading, in document order.

    ``index`` counts sections that have a task, from 0; ``number`` is the label in the heading, None without one.
    ``flow`` and ``waits`` are what the heading asks for, None where it says nothing. A group of a nested plan (a
    numbered parent whose children are the tasks) is a section with a ``box`` and a ``body``.
    """

    index: int
    number: str | None
    title: str
    line: int
    tasks: tuple[Task, ...]
    flow: Flow | None = None
    waits: tuple[Wait, ...] | None = None
    box: Box | None = None
    body: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """All boxes of the file, as OpenSpec counts them: ``total`` and ``done`` agree with ``openspec list``."""

    total: int
    done: int
    held: int
    open: int


@dataclass(frozen=True)
class Plan:
    """All of one change's plan, as read from one version of its file.

    ``path`` is how messages name the file, ``digest`` that of its bytes. ``problems`` keep the tasks they name from
    being dispatched; ``warnings`` read ``file:line: what; what to do``. ``hidden`` are boxes inside code fences and
    comments: no tasks, yet counted, and the change is not complete while one of them is open.
    """

    change: str
    path: str
    digest: str
    sections: tuple[Section, ...]
    counts: Counts
    hidden: tuple[Box, ...] = ()
    problems: tuple[PlanError, ...] = ()
    warnings: tuple[str, ...] = ()

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, in document order."""
        return tuple(task for section in self.sections for task in section.tasks)

    @cached_property
    def by_key(self) -> dict[str, Task]:
        """Every task under its key."""
        return {task.key: task for task in self.tasks}

    @cached_property
    def follow_ups(self) -> tuple[Task, ...]:
        """What a person does after everything else: listed apart, in nobody's way."""
        return tuple(task for task in self.tasks if task.follow_up)

    @property
    def complete(self) -> bool:
        """Whether every box is ticked, but for those of follow-ups."""
        return all(box.mark is Mark.RESOLVED for box in self._gating_boxes())

    def task(self, id: str) -> Task:  # noqa: A002 - the word of the design
        """The task with this id or key; PlanError when several share it, NothingCollected when none has it."""
        found = [task for task in self.tasks if id in (task.id, task.key)]
        if not found:
            raise NothingCollected(
                f"has no task {id}", where=self.path, todo=f"choose one of {_some(t.id for t in self.tasks)}"
            )
        if len(found) > 1:
            lines = " and ".join(str(task.line) for task in found)
            raise PlanError(
                f"task {id} stands at lines {lines}",
                where=f"{self.path}:{found[0].line}",
                todo="give each its own id, or run `baton plan number`",
            )
        return found[0]

    def _gating_boxes(self) -> Iterator[Box]:
        yield from self.hidden
        for section in self.sections:
            tasks = [task for task in section.tasks if not task.follow_up]
            if section.box and tasks:
                yield section.box
            for task in tasks:
                yield from task.boxes


def _some(ids: Iterator[str], most: int = 12) -> str:
    names = list(ids)
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
