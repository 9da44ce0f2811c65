"""The reader of ``tasks.md``: bytes in, :class:`Plan` out. Pure, one pass, every box of the file accounted for.

Complaints about one task (a repeated id, a directive's value) are ``problems`` of the plan; what is odd but has one
meaning is a warning; a file in which nothing can be meant (not UTF-8, no box) is a PlanError.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from baton_runner.base.digest import digest_bytes
from baton_runner.base.errors import PlanError
from baton_runner.plan.definition import plain_words
from baton_runner.plan.directives import Comments, parse_comments
from baton_runner.plan.headings import Heading, parse_heading
from baton_runner.plan.ids import LeadingId, families, family, leading_id, synthetic_key
from baton_runner.plan.inline import scan
from baton_runner.plan.lines import BULLET, Kind, Line, read_lines
from baton_runner.plan.model import Box, Counts, Flow, Mark, Plan, Section, Source, Step, Task, Verification, Wait
from baton_runner.plan.notes import Markers, body_note, cut_notes, markers, text_note
from baton_runner.plan.oddities import Oddity, missed_labels, oddities
from baton_runner.plan.outline import Draft, Group, Outline, outline
from baton_runner.plan.verification import Split, split, split_task, unique
from baton_runner.plan.words import Words, body_of, words_of

__all__ = ["load_plan", "read_plan"]

_MOST_LINES = 5
_GAP = re.compile(r"\s+(?=[.,;:](?:\s|$))")
_DASHES = tuple("-–—:")  # noqa: RUF001
_DASH = re.compile(r"^[-–—:]+(?:\s+|$)")  # noqa: RUF001 - between an id and its text
_FOLLOW_UP = re.compile(
    r"(?:then\s+|finally,?\s+)?(?:archive\s+(?:(?:this|the|completed|openspec)\s+)*(?:change|proposal)\b(?!\s*(?:logs?|lists?|sets?|requests?|history|files?)\b)"
    r"|(?:(?:run|execute|use|call)\s+)?`?/?(?:openspec|opsx)[\s:]archive\b)",
    re.IGNORECASE,
)


def load_plan(file: Path, change: str, shown_path: str) -> Plan:
    """Read the plan of a change from its file; messages call it ``shown_path``."""
    try:
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise PlanError("is not there", where=shown_path, todo=f"write the tasks of {change} into it") from error
    except OSError as error:
        raise PlanError(
            f"cannot be read: {error.strerror}", where=shown_path, todo="make it a readable file"
        ) from error
    return read_plan(data, change=change, path=shown_path)


def read_plan(data: bytes, *, change: str, path: str) -> Plan:
    """Read a plan from the bytes of its file; ``path`` is how messages name it.

    Raises PlanError: not UTF-8, no checkbox at all, or none outside of code fences and comments.
    """
    lines = read_lines(data, path)
    shape = outline(lines)
    if not any(group.tasks for group in shape.groups):
        raise _no_task(lines, shape.hidden, path)
    return _Builder(change, path, lines, shape).plan(digest_bytes(data))


def _no_task(lines: list[Line], hidden: list[Box], path: str) -> PlanError:
    if hidden:
        where, what = hidden[0].line, "has checkboxes only inside code fences or comments"
    else:
        bullets = [line.number for line in lines if line.kind is Kind.TEXT and BULLET.match(line.text)]
        where, what = (bullets or [1])[0], "has no checkbox"
        if bullets:
            more = ", ..." if len(bullets) > _MOST_LINES else ""
            named = ", ".join(map(str, bullets[:_MOST_LINES]))
            what = f"has list items without a checkbox (lines {named}{more})"
    return PlanError(what, where=f"{path}:{where}", todo="write each task as `- [ ] 1.1 What to do`", code="no_tasks")


@dataclass(slots=True)
class _Entry:
    """A task on its way: its draft, its words, and the id they start with, until that turns out to be a word."""

    draft: Draft
    words: Words
    id: LeadingId | None

    @property
    def text(self) -> str:
        text = self.id.rest if self.id else self.words.text
        return _DASH.sub("", text) if text[:1] in _DASHES else text


@dataclass
class _Builder:
    """Turns an outline into a plan, collecting its problems on the way."""

    change: str
    path: str
    lines: list[Line]
    shape: Outline
    problems: list[PlanError] = field(default_factory=list)
    twins: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[Oddity] = field(default_factory=list)

    def plan(self, digest: str) -> Plan:
        entries = [[_entry(draft) for draft in group.tasks] for group in self.shape.groups]
        _settle_ids(entries)
        sections = tuple(
            self._section(index, group, found)
            for index, (group, found) in enumerate(zip(self.shape.groups, entries, strict=True))
        )
        sections = self._part_twins(sections)
        odd = sorted([*oddities(sections, self.lines, self.shape), *self.missed])
        return Plan(
            change=self.change,
            path=self.path,
            digest=digest,
            sections=sections,
            counts=_count(self.lines),
            hidden=tuple(self.shape.hidden),
            problems=tuple(self.problems),
            warnings=tuple(f"{self.path}:{line}: {what}; {todo}" for line, what, todo in odd),
        )

    def _section(self, index: int, group: Group, entries: list[_Entry]) -> Section:
        heading = _heading(group.head)
        tasks = tuple(self._task(index, n, heading.subject, entry) for n, entry in enumerate(entries, 1))
        flow = heading.flow
        if flow is None and any(task.red for task in tasks) and any(task.green for task in tasks):
            flow = Flow.SEQUENTIAL
        return Section(
            index=index,
            number=heading.number,
            title=group.head.rest.strip() if group.head else "",
            line=group.head.number if group.head else tasks[0].line,
            tasks=tasks,
            flow=flow,
            waits=heading.waits,
            box=group.box,
            body=body_of(group.body),
        )

    def _task(self, section: int, position: int, subject: str, entry: _Entry) -> Task:
        text, words, draft = entry.text, entry.words, entry.draft
        box = _box(draft)
        shown = entry.id.id if entry.id else f"s{section + 1}.{position}"
        inner = [words_of(step) for step in draft.steps]
        steps = tuple(map(_step, draft.steps, inner))
        asked = parse_comments([*words.comments, *(comment for found in inner for comment in found.comments)])
        self.problems += [self._error(box.line, f"task {shown}: {what}", todo) for what, todo in asked.complaints]
        tags = markers(text)
        taken = [*split_task(text, words.body), *(split(step.text) for step in steps)]
        if any(part.missed for part in taken):
            self.missed += missed_labels(shown, draft, taken)
        return Task(
            id=shown,
            key=entry.id.id if entry.id else self._key(subject, text),
            title=_title(taken[0].rest, tags),
            text=text,
            body=words.body,
            line=box.line,
            section=section,
            box=box,
            raw=draft.head.rest,
            steps=steps,
            synthetic=entry.id is None,
            manual=tags.manual,
            optional=tags.optional or draft.head.rest.startswith(("* ", "*\t")),
            red=tags.red,
            green=tags.green,
            parallel=tags.parallel,
            follow_up=_is_follow_up(text, self.change),
            inconsistent=box.mark is Mark.RESOLVED and any(step.box.mark is not Mark.RESOLVED for step in steps),
            waits=_waits(text, draft),
            recipe=asked.recipe,
            verification=_verification(taken, asked),
            directives=replace(asked.directives, verify_once=True) if tags.red else asked.directives,
        )

    def _key(self, subject: str, text: str) -> str:
        identity = (subject, plain_words(text))
        self.twins[identity] += 1
        return synthetic_key(*identity, self.twins[identity])

    def _part_twins(self, sections: tuple[Section, ...]) -> tuple[Section, ...]:
        """Name the lines that share an id, and give each of their tasks a key of its own."""
        times = Counter(task.key for section in sections for task in section.tasks)
        if len(times) == times.total():
            return sections
        repeated: dict[str, list[int]] = {}
        for section in sections:
            for task in section.tasks:
                if times[task.key] > 1:
                    repeated.setdefault(task.key, []).append(task.line)
        self.problems += [self._twins(key, *found) for key, found in repeated.items()]
        numbers = {line: n for found in repeated.values() for n, line in enumerate(found, 1)}
        return tuple(
            replace(section, tasks=tuple(_as_twin(task, numbers) for task in section.tasks)) for section in sections
        )

    def _twins(self, key: str, first: int, second: int, *more: int) -> PlanError:
        what = f"task {key} appears twice; first at line {first}"
        if more:
            others = ", ".join(map(str, more))
            what = f"task {key} appears {len(more) + 2} times; first at line {first}, again at {others}"
        return self._error(second, what, "give each its own id, or run `baton plan number`", code="duplicate_id")

    def _error(self, line: int, what: str, todo: str, *, code: str = "") -> PlanError:
        return PlanError(what, where=f"{self.path}:{line}", todo=todo, code=code)


def _entry(draft: Draft) -> _Entry:
    words = words_of(draft)
    return _Entry(draft, words, leading_id(words.text))


def _settle_ids(entries: list[list[_Entry]]) -> None:
    """Drop the ids of letter families that the file does not really use."""
    known = families(entry.id.id for group in entries for entry in group if entry.id)
    for group in entries:
        for entry in group:
            if entry.id and (name := family(entry.id.id)) is not None and name not in known:
                entry.id = None


def _heading(head: Line | None) -> Heading:
    if head is None:
        return Heading(None, "", None, None)
    title = scan(head.rest).without_comments(head.rest).strip()
    if head.kind is not Kind.BOX:
        return parse_heading(title, head.number)
    found = leading_id(title)
    subject = found.rest if found else title
    return Heading(found.id if found else None, plain_words(subject), None, text_note(subject, head.number))


def _box(draft: Draft) -> Box:
    if draft.head.box is None:
        raise AssertionError(f"line {draft.head.number} became a task without a box")
    return draft.head.box


def _step(draft: Draft, words: Words) -> Step:
    return Step("\n".join(part for part in (words.text, words.body) if part), _box(draft))


def _is_follow_up(text: str, change: str) -> bool:
    """Whether a task is the archiving of its own change, which wants every other task done first."""
    if "rchive" not in text:
        return False
    named = re.match(r"archive\s+[`\"']?([\w.-]+)", text, re.IGNORECASE)
    return _FOLLOW_UP.match(text) is not None or (named is not None and named[1] == change)


def _waits(text: str, draft: Draft) -> tuple[Wait, ...] | None:
    note = text_note(text, draft.head.number)
    if not draft.body:
        return note if note is None else tuple(dict.fromkeys(note))
    notes = [note]
    notes += [body_note(line.text, line.number) for line in draft.body if line.kind is Kind.TEXT and line.text]
    found = [note for note in notes if note is not None]
    return tuple(dict.fromkeys(wait for note in found for wait in note)) if found else None


def _verification(found: list[Split], asked: Comments) -> tuple[Verification, ...]:
    if not asked.verify and not any(part.spans or part.fences for part in found):
        return ()
    spans = [Verification(command, Source.LABEL) for part in found for command in part.spans]
    fences = [Verification(command, Source.FENCE) for part in found for command in part.fences]
    return unique([*spans, *fences, *(Verification(command, Source.COMMENT) for command in asked.verify)])


def _title(text: str, tags: Markers) -> str:
    """What a list shows: the first words, without notes, markers, commands and emphasis."""
    if tags.red or tags.green:
        text = text.replace("[RED]", "").replace("[GREEN]", "")
    cut = cut_notes(text).replace("**", "")
    return _GAP.sub("", " ".join(cut.split())) if cut != text else " ".join(text.split())


def _as_twin(task: Task, numbers: dict[int, int]) -> Task:
    number = numbers.get(task.line)
    return task if number is None else replace(task, key=f"{task.key}#{number}", duplicate=True)


def _count(lines: list[Line]) -> Counts:
    marks = Counter(line.box.mark for line in lines if line.box is not None)
    total = sum(marks.values())
    return Counts(total, marks[Mark.RESOLVED], marks[Mark.HELD], marks[Mark.READY])
