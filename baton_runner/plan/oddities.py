"""What is odd about a plan and has one meaning all the same: said as a warning, never guessed, never an error."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from baton_runner.plan.directives import is_directive
from baton_runner.plan.ids import family
from baton_runner.plan.lines import Kind, Line
from baton_runner.plan.model import Box, Flow, Mark, Section, Task
from baton_runner.plan.outline import Outline

__all__ = ["Oddity", "oddities"]

_WORDY = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[^\]a-z]{1,8})\](?![(\[:])")
_NOTE = re.compile(r"[(（](?:depends\b|blocked\s+by)", re.IGNORECASE)  # noqa: RUF001 - punctuation of real plans


class Oddity(NamedTuple):
    """Line, what is odd there, and what may be done about it."""

    line: int
    what: str
    todo: str


def oddities(sections: tuple[Section, ...], lines: list[Line], shape: Outline) -> list[Oddity]:
    """Everything odd about a plan, in the order of its lines."""
    found = [*_of_numbers(sections), *_of_hidden(shape.hidden), *_of_stray(shape), *_of_lines(lines)]
    for section in sections:
        found += _of_section(section)
        for task in section.tasks:
            found += _of_task(task, section)
    return sorted(found)


def _of_task(task: Task, section: Section) -> Iterator[Oddity]:
    if task.inconsistent:
        step = next(step for step in task.steps if step.box.mark is not Mark.RESOLVED)
        what = f"task {task.id} is ticked, its step at line {step.box.line} is not"
        yield Oddity(task.line, what, "tick the step or untick the task")
    if task.waits is None and "(" in task.text and _NOTE.search(task.text):
        what = f"task {task.id} depends on something that is no task id"
        yield Oddity(task.line, what, "name ids, as in (depends on 1.1)")
    if section.number is not None and _is_elsewhere(task, section.number):
        what = f"task {task.id} stands in section {section.number}"
        yield Oddity(task.line, what, "its position counts; give it an id of its section")
    if section.box and section.box.mark is Mark.RESOLVED and task.mark is not Mark.RESOLVED:
        what = f"{section.number} is ticked, its task {task.id} is not"
        yield Oddity(section.line, what, "tick the task or untick its parent")


def _is_elsewhere(task: Task, number: str) -> bool:
    """Whether an id says another section than the one its task stands in."""
    if task.synthetic or "." not in task.id or family(task.id) not in (None, "."):
        return False
    return task.id.partition(".")[0] != number and not task.id.startswith(f"{number}.")


def _of_section(section: Section) -> Iterator[Oddity]:
    red = [task for task in section.tasks if task.red]
    if red and section.flow is Flow.SEQUENTIAL and any(task.green for task in section.tasks):
        what = "[RED] and [GREEN] tasks run one after the other"
        yield Oddity(red[0].line, what, "write (parallel) behind the heading if not")


def _of_numbers(sections: tuple[Section, ...]) -> Iterator[Oddity]:
    """Numbers are labels; say where they do not read like the order they stand in."""
    lines: dict[str, int] = {}
    previous = ""
    numbered = any(section.number for section in sections)
    for section in sections:
        number = section.number
        if number is None:
            if section.title and numbered:
                yield Oddity(section.line, f"section {section.title!r} has no number", "its position counts")
            continue
        if what := _clash(number, previous, lines):
            yield Oddity(section.line, what, "their positions count")
        lines.setdefault(number, section.line)
        previous = number


def _clash(number: str, previous: str, lines: dict[str, int]) -> str:
    if number in lines:
        return f"section number {number} is used twice; first at line {lines[number]}"
    if previous and _rank(number) < _rank(previous):
        return f"section {number} stands behind section {previous}"
    if previous.isdigit() and number.isdigit() and int(number) > int(previous) + 1:
        return f"section numbers jump from {previous} to {number}"
    return ""


def _rank(number: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(re.sub(r"\D", "", part) or 0), re.sub(r"\d", "", part)) for part in number.split("."))


def _of_hidden(hidden: list[Box]) -> Iterator[Oddity]:
    for box in hidden:
        what = "a checkbox inside a code fence or comment is no task, but OpenSpec counts it"
        yield Oddity(box.line, what, "the change is not complete while it is open: move or delete it")


def _of_stray(shape: Outline) -> Iterator[Oddity]:
    for line, comment in shape.stray:
        if is_directive(comment):
            what = "a directive outside of any task has no effect"
            yield Oddity(line, what, "indent it below the task it is meant for")


def _of_lines(lines: list[Line]) -> Iterator[Oddity]:
    for line in lines:
        if line.kind is Kind.TEXT and "[" in line.text and (found := _WORDY.match(line.text)):
            what = f"[{found['mark']}] is no checkbox, its mark is longer than one character"
            yield Oddity(line.number, what, "write [ ], [x] or one other character if this is a task")
