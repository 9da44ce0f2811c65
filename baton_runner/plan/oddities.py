"""What is odd about a plan and has one meaning all the same: said as a warning, never guessed, never an error."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from baton_runner.plan.directives import is_directive
from baton_runner.plan.ids import family
from baton_runner.plan.inline import blank_code
from baton_runner.plan.labels import bare_label, has_label, may_have_label
from baton_runner.plan.lines import Kind, Line
from baton_runner.plan.model import Box, Flow, Mark, Section, Task
from baton_runner.plan.outline import Draft, Outline
from baton_runner.plan.verification import Split

__all__ = ["Oddity", "missed_labels", "oddities"]

_WORDY = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[^\]a-z]{1,8})\](?![(\[:])")
_MOST_SHOWN = 60
_NOTE = re.compile(r"[(（](?:depends\b|blocked\s+by)", re.IGNORECASE)  # noqa: RUF001 - punctuation of real plans


class Oddity(NamedTuple):
    """Line, what is odd there, and what may be done about it."""

    line: int
    what: str
    todo: str


def oddities(sections: tuple[Section, ...], lines: list[Line], shape: Outline) -> list[Oddity]:
    """Everything odd about a plan, in the order of its lines."""
    found = [*_of_numbers(sections), *_of_hidden(shape.hidden), *_of_stray(shape), *_of_loose(shape), *_of_lines(lines)]
    for section in sections:
        found += _of_section(section)
        for task in section.tasks:
            found += _of_task(task, section)
    return sorted(found)


def missed_labels(shown: str, draft: Draft, found: Iterable[Split]) -> Iterator[Oddity]:
    """The lines of task ``shown`` that ask for a check, or read as if, and gave no command."""
    for text in (line for part in found for line in part.missed):
        what = f"task {shown}: {_short(text)} is read as words, not as a check"
        todo = "if it is one, write `Verify:` with the command in backticks behind it, or in a bash fence below"
        yield Oddity(_line_of(text, draft), what, todo)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MOST_SHOWN else f"{words[:_MOST_SHOWN].rstrip()}..."


def _line_of(text: str, draft: Draft) -> int:
    """Where a line of a task's words stands in the file; the task's line where a comment was cut out of it."""
    wanted = text.strip()
    drafts = (draft, *draft.steps)
    lines = (line for each in drafts for line in (each.head, *each.body))
    return next((line.number for line in lines if wanted in line.text), draft.head.number)


def _of_task(task: Task, section: Section) -> Iterator[Oddity]:
    if not task.text.strip():
        yield Oddity(task.line, f"task {task.id} has no words", "say what is to be done, or delete the box")
    for step in task.steps:
        if not step.text.strip():
            what = f"a step of task {task.id} has no words"
            yield Oddity(step.box.line, what, "say what is to be done, or delete the box")
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


def _of_loose(shape: Outline) -> Iterator[Oddity]:
    """Checks that no task will see, because they stand beside the tasks and not below one."""
    loose = [line for line in shape.loose if may_have_label(line.text)]
    for line in loose:
        if bare_label(line.text) or ("`" in line.text and has_label(blank_code(line.text))):
            what = f"{_short(line.text)} stands outside of any task, so it is no check of one"
            yield Oddity(line.number, what, "indent it below the task it proves")


def _of_lines(lines: list[Line]) -> Iterator[Oddity]:
    for line in lines:
        if line.kind is Kind.TEXT and "[" in line.text and (found := _WORDY.match(line.text)):
            what = f"[{found['mark']}] is no checkbox, its mark is longer than one character"
            yield Oddity(line.number, what, "write [ ], [x] or one other character if this is a task")
