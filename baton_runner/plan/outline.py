"""The shape of a plan: which box is a task, which a step, which text belongs to which, and where sections begin.

Only lines and indents are judged here; :mod:`tasks_md` reads the words. A plan whose parents are numbered ``1.`` and
whose children are ``1.1`` is given its parents as sections by a second reading (``groups``).
"""

from collections.abc import Container
from dataclasses import dataclass, field

from baton_runner.plan.ids import leading_id
from baton_runner.plan.inline import scan
from baton_runner.plan.lines import BULLET, Kind, Line
from baton_runner.plan.model import Box

__all__ = ["Draft", "Group", "Outline", "outline"]

_NESTED = 2  # columns: less is a slip of the space bar, in Markdown too


@dataclass(slots=True)
class Draft:
    """A box with the lines that belong to it; ``steps`` are the nested boxes."""

    head: Line
    body: list[Line] = field(default_factory=list)
    steps: list["Draft"] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """A section to be: its heading or group box (``head``), and its tasks."""

    head: Line | None = None
    box: Box | None = None
    body: list[Line] = field(default_factory=list)
    tasks: list[Draft] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """The groups that have a task, the boxes that are hidden; what stands outside of any task: comments, and lines
    that may hold a label.
    """

    groups: list[Group]
    hidden: list[Box]
    stray: list[tuple[int, str]]
    loose: list[Line] = field(default_factory=list)


def outline(lines: list[Line]) -> Outline:
    """Group the lines of a plan."""
    level = _section_level(lines)
    first = _Reader(level, groups=(), singles=()).read(lines)
    parents, singles = _nested_parents(first)
    if not parents:
        return first
    return _Reader(level, groups=parents, singles=singles).read(lines)


def _section_level(lines: list[Line]) -> int:
    """The level of the headings that open sections: 2, else 3 or (several) 1 if every task stands under one, else 0."""
    seen: dict[int, list[int]] = {}
    first_box = 0
    for line in lines:
        if line.kind is Kind.HEADING:
            seen.setdefault(line.level, []).append(line.number)
        elif line.kind is Kind.BOX and not first_box:
            first_box = line.number
    if 2 in seen:  # noqa: PLR2004 - the level of ##
        return 2
    for level, least in ((3, 1), (1, 2)):
        if len(seen.get(level, ())) >= least and seen[level][0] < first_box:
            return level
    return 0


def _nested_parents(found: Outline) -> tuple[set[int], set[int]]:
    """The lines of numbered parents whose steps carry ids below theirs, and of numbered tasks without such steps."""
    tasks = [task for group in found.groups for task in group.tasks]
    parents = {task.head.number for task in tasks if task.steps and _has_children(task)}
    if not parents:
        return parents, set()
    return parents, {task.head.number for task in tasks if _plain_number(task)} - parents


def _has_children(task: Draft) -> bool:
    own = _plain_number(task)
    below = (leading_id(_unstarred(step.head.rest)) for step in task.steps)
    return own is not None and any(step is not None and step.id.startswith(f"{own}.") for step in below)


def _plain_number(task: Draft) -> str | None:
    found = leading_id(_unstarred(task.head.rest))
    return found.id if found and found.id.isdigit() else None


def _unstarred(rest: str) -> str:
    return rest[1:] if rest.startswith(("* ", "*\t")) else rest


class _Reader:
    """One forward walk over the lines."""

    def __init__(self, level: int, *, groups: Container[int], singles: Container[int]) -> None:
        self._level = level
        self._parents = groups
        self._singles = singles
        self._found = Outline([Group()], [], [])
        self._task: Draft | None = None
        self._step: Draft | None = None
        self._parent: Line | None = None  # the group box we are under
        self._open = False  # whether body lines may follow
        self._after_blank = False
        self._owners: dict[int, list[Line] | None] = {}

    def read(self, lines: list[Line]) -> Outline:
        for line in lines:
            if line.kind is Kind.BOX:
                self._on_box(line)
            elif line.kind is Kind.HEADING:
                self._on_heading(line)
            elif line.opener >= 0:
                self._on_hidden(line)
            elif line.blank:
                self._after_blank = True
                self._keep_blank(line)
                continue
            else:
                self._on_text(line)
            self._after_blank = False
        self._found.groups = [group for group in self._found.groups if group.tasks or group.box]
        return self._found

    def _on_heading(self, line: Line) -> None:
        self._task = self._step = self._parent = None
        self._open = False
        if self._level and line.level <= self._level:
            self._found.groups.append(Group(line))
        self._note_stray(line, None)

    def _on_box(self, line: Line) -> None:
        self._open = True
        if line.number in self._parents:
            self._task = self._step = None
            self._parent = line
            self._found.groups.append(Group(line, box=line.box))
        elif self._task is not None and line.indent >= self._task.head.indent + _NESTED:
            self._step = Draft(line)
            self._task.steps.append(self._step)
        else:
            self._new_task(line)
        self._note_stray(line, [])

    def _new_task(self, line: Line) -> None:
        if line.number in self._singles:
            self._parent = line
            self._found.groups.append(Group(line))
        elif self._parent is not None and line.indent <= self._parent.indent:
            self._parent = None
            self._found.groups.append(Group())
        self._task, self._step = Draft(line), None
        self._found.groups[-1].tasks.append(self._task)

    def _on_text(self, line: Line) -> None:
        owner = self._owner(line)
        if self._is_no_work(owner):
            self._found.loose.append(line)
        if owner is not None:
            owner.append(line)
        elif self._task is not None and line.indent <= self._task.head.indent:
            if BULLET.match(line.text):
                self._task = self._step = None
            elif self._after_blank:
                self._open = False
        self._note_stray(line, owner)

    def _on_hidden(self, line: Line) -> None:
        """A line of a fence or comment goes where its opener went."""
        if line.box is not None:
            self._found.hidden.append(line.box)
        if line.opener == line.number - 1:
            self._owners[line.opener] = self._owner(line)
        owner = self._owners.get(line.opener)
        if owner is not None:
            owner.append(line)

    def _keep_blank(self, line: Line) -> None:
        if self._open and self._task is not None:
            (self._step or self._task).body.append(line)

    def _owner(self, line: Line) -> list[Line] | None:
        """The body that a line below a box belongs to: of the innermost box that stands further left."""
        if not self._open:
            return None
        for draft in (self._step, self._task):
            if draft is not None and line.indent > draft.head.indent:
                self._step = draft if draft is self._step else None  # what follows is below the task again
                return draft.body
        if self._task is None and self._parent is not None and line.indent > self._parent.indent:
            return self._found.groups[-1].body
        return None

    def _is_no_work(self, owner: list[Line] | None) -> bool:
        """Whether a line is no part of any task: nobody's, or below a group box."""
        return owner is None or self._task is None

    def _note_stray(self, line: Line, owner: list[Line] | None) -> None:
        """Remember where a comment that goes on below began, and directives that no task will see."""
        if "<!--" not in line.text:
            return
        if line.kind is Kind.BOX:
            draft = self._step or self._task
            owner = draft.body if draft is not None else self._found.groups[-1].body
        self._owners[line.number - 1] = owner
        if owner is None:
            self._found.stray += [(line.number, inner) for _, _, inner in scan(line.text).comments]
