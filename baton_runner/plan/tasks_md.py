"""The reader of ``tasks.md``: bytes in, :class:`Plan` out. Pure, one pass, every box of the file accounted for.

Complaints about one task (a repeated id, a directive's value) are ``problems`` of the plan; what is odd but has one
meaning is a warning; a file in which nothing can be meant (not UTF-8, no box) is a PlanError.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from baton_runner.base.digest import digest_bytes
from baton_runner.base.errors import PlanError
from baton_runner.plan.definition import plain_words
from baton_runner.plan.directives import Comments, is_directive, parse_comments
from baton_runner.plan.headings import Heading, parse_heading
from baton_runner.plan.ids import LeadingId, families, family, leading_id, synthetic_key
from baton_runner.plan.inline import scan
from baton_runner.plan.lines import BULLET, Kind, Line, read_lines
from baton_runner.plan.model import Box, Counts, Flow, Mark, Plan, Section, Source, Step, Task, Verification, Wait
from baton_runner.plan.notes import Markers, body_note, cut_notes, markers, text_note
from baton_runner.plan.outline import Draft, Group, Outline, outline
from baton_runner.plan.verification import split, unique

__all__ = ["load_plan", "read_plan"]

_MOST_LINES = 5
_GAP = re.compile(r"\s+(?=[.,;:](?:\s|$))")
_DASH = re.compile(r"^[-–—:]+(?:\s+|$)")  # noqa: RUF001 - between an id and its text
_WORDY = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[^\]a-z]{1,8})\](?![(\[:])")
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
class _Words:
    """A draft's words, before ids are settled."""

    draft: Draft
    text: str  # behind box and optional star, comments cut
    optional: bool
    body: str
    comments: list[str]
    id: LeadingId | None


@dataclass
class _Builder:
    """Turns an outline into a plan, collecting what is odd on the way."""

    change: str
    path: str
    lines: list[Line]
    shape: Outline
    problems: list[PlanError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    twins: Counter[tuple[str, str]] = field(default_factory=Counter)

    def plan(self, digest: str) -> Plan:
        words = [[self._words(draft) for draft in group.tasks] for group in self.shape.groups]
        self._settle_ids(words)
        headings = [self._heading(group) for group in self.shape.groups]
        sections = tuple(
            self._section(index, group, heading, found)
            for index, (group, heading, found) in enumerate(zip(self.shape.groups, headings, words, strict=True))
        )
        sections = self._mark_duplicates(sections)
        self._warn_of_numbers(sections)
        self._warn_of_lines()
        return Plan(
            change=self.change,
            path=self.path,
            digest=digest,
            sections=sections,
            counts=_count(self.lines),
            hidden=tuple(self.shape.hidden),
            problems=tuple(self.problems),
            warnings=tuple(self.warnings),
        )

    def _words(self, draft: Draft) -> _Words:
        rest = draft.head.rest
        optional = rest.startswith(("* ", "*\t"))
        text, body, comments = _cut_comments(replace_text(draft.head, rest[1:] if optional else rest), draft.body)
        text = text.strip()
        return _Words(draft, text, optional, body, comments, leading_id(text))

    def _settle_ids(self, words: list[list[_Words]]) -> None:
        """Drop the ids of letter families that the file does not really use."""
        known = families(found.id.id for group in words for found in group if found.id)
        for group in words:
            for found in group:
                if found.id and (name := family(found.id.id)) is not None and name not in known:
                    found.id = None

    def _heading(self, group: Group) -> Heading:
        head = group.head
        if head is None:
            return Heading(None, "", None, None)
        title = head.rest.strip()
        if head.kind is Kind.BOX:
            found = leading_id(title)
            subject = found.rest if found else title
            return Heading(found.id if found else None, plain_words(subject), None, text_note(subject, head.number))
        return parse_heading(scan(title).without_comments(title).strip(), head.number)

    def _section(self, index: int, group: Group, heading: Heading, words: list[_Words]) -> Section:
        title = group.head.rest.strip() if group.head else ""
        tasks = tuple(self._task(index, n, heading.subject, found) for n, found in enumerate(words, 1))
        flow = heading.flow
        if flow is None and any(task.red for task in tasks) and any(task.green for task in tasks):
            flow = Flow.SEQUENTIAL
            line = next(task.line for task in tasks if task.red)
            self._warn(
                line, "[RED] and [GREEN] tasks run one after the other", "write (parallel) behind the heading if not"
            )
        line = group.head.number if group.head else tasks[0].line
        _, body, _ = _cut_comments(None, group.body)
        section = Section(index, heading.number, title, line, tasks, flow, heading.waits, group.box, body)
        self._warn_of_section(section)
        return section

    def _task(self, section: int, position: int, subject: str, words: _Words) -> Task:
        head, box = words.draft.head, words.draft.head.box
        assert box is not None  # noqa: S101 - the outline makes drafts of boxes only
        text = _DASH.sub("", words.id.rest if words.id else words.text)
        tags = markers(text)
        comments = parse_comments([*words.comments, *(c for step in words.draft.steps for c in _comments_of(step))])
        self.problems += [
            self._error(head.number, f"task {_shown(words, section, position)}: {what}", todo)
            for what, todo in comments.complaints
        ]
        steps = tuple(_step(step) for step in words.draft.steps)
        task = Task(
            id=_shown(words, section, position),
            key=words.id.id if words.id else self._key(subject, text),
            title=_title(text, tags),
            text=text,
            body=words.body,
            line=head.number,
            section=section,
            box=box,
            raw=head.rest,
            steps=steps,
            synthetic=words.id is None,
            manual=tags.manual,
            optional=words.optional or tags.optional,
            red=tags.red,
            green=tags.green,
            parallel=tags.parallel,
            follow_up=self._is_follow_up(text),
            inconsistent=box.mark is Mark.RESOLVED and any(step.box.mark is not Mark.RESOLVED for step in steps),
            waits=self._waits(text, words.draft),
            recipe=comments.recipe,
            verification=_verification(text, words.body, steps, comments),
            directives=replace(comments.directives, verify_once=True) if tags.red else comments.directives,
        )
        self._warn_of_task(task)
        return task

    def _key(self, subject: str, text: str) -> str:
        identity = (subject, plain_words(text))
        self.twins[identity] += 1
        return synthetic_key(*identity, self.twins[identity])

    def _is_follow_up(self, text: str) -> bool:
        return "rchive" in text and (
            _FOLLOW_UP.match(text) is not None
            or re.match(rf"archive\s+[`\"']?{re.escape(self.change)}\b", text, re.IGNORECASE) is not None
        )

    def _waits(self, text: str, draft: Draft) -> tuple[Wait, ...] | None:
        notes = [text_note(text, draft.head.number)]
        notes += [body_note(line.text, line.number) for line in draft.body if line.kind is Kind.TEXT and line.text]
        found = [note for note in notes if note is not None]
        return tuple(dict.fromkeys(wait for note in found for wait in note)) if found else None

    def _mark_duplicates(self, sections: tuple[Section, ...]) -> tuple[Section, ...]:
        """Name the lines that share an id, and give each of their tasks a key of its own."""
        lines: dict[str, list[int]] = {}
        for section in sections:
            for task in section.tasks:
                lines.setdefault(task.key, []).append(task.line)
        repeated = {key: found for key, found in lines.items() if len(found) > 1}
        if not repeated:
            return sections
        for key, (first, *others) in repeated.items():
            named = " and ".join(map(str, others))
            self.problems.append(
                self._error(
                    others[0],
                    f"task {key} appears {'twice' if len(others) == 1 else f'{len(others) + 1} times'} (again at line {named}); first at line {first}"
                    if len(others) > 1
                    else f"task {key} appears twice; first at line {first}",
                    "give each its own id, or run `baton plan number`",
                    code="duplicate_id",
                )
            )
        return tuple(
            replace(section, tasks=tuple(_as_twin(task, repeated) for task in section.tasks)) for section in sections
        )

    def _warn_of_task(self, task: Task) -> None:
        if task.inconsistent:
            open_step = next(step for step in task.steps if step.box.mark is not Mark.RESOLVED)
            self._warn(
                task.line,
                f"task {task.id} is ticked, its step at line {open_step.box.line} is not",
                "tick the step or untick the task",
            )
        if task.waits is None and re.search(r"[(（](?:depends\b|blocked\s+by)", task.text, re.IGNORECASE):  # noqa: RUF001
            self._warn(
                task.line, f"task {task.id} depends on something that is no task id", "name ids, as in (depends on 1.1)"
            )

    def _warn_of_section(self, section: Section) -> None:
        number = section.number
        if number is None:
            return
        for task in section.tasks:
            parts = task.id.split(".")
            if task.synthetic or family(task.id) not in (None, ".") or len(parts) == 1:
                continue
            if parts[0] != number and not task.id.startswith(f"{number}."):
                self._warn(
                    task.line,
                    f"task {task.id} stands in section {number}",
                    "its position counts; give it an id of its section",
                )
        if section.box and section.box.mark is Mark.RESOLVED:
            for task in section.tasks:
                if task.mark is not Mark.RESOLVED:
                    self._warn(
                        section.line,
                        f"{number} is ticked, its task {task.id} is not",
                        "tick the task or untick its parent",
                    )

    def _warn_of_numbers(self, sections: tuple[Section, ...]) -> None:
        """Section numbers are labels; say where they do not read like the order they stand in."""
        lines: dict[str, int] = {}
        previous: Section | None = None
        for section in sections:
            number = section.number
            if number is None:
                if section.title and any(other.number for other in sections):
                    self._warn(section.line, f"section {section.title!r} has no number", "its position counts")
                continue
            if number in lines:
                self._warn(
                    section.line,
                    f"section number {number} is used twice; first at line {lines[number]}",
                    "their positions count",
                )
            elif previous is not None and previous.number is not None and _rank(number) < _rank(previous.number):
                self._warn(
                    section.line, f"section {number} stands behind section {previous.number}", "their positions count"
                )
            elif previous is not None and previous.number is not None and _skips(previous.number, number):
                self._warn(
                    section.line, f"section numbers jump from {previous.number} to {number}", "their positions count"
                )
            lines.setdefault(number, section.line)
            previous = section

    def _warn_of_lines(self) -> None:
        for box in self.shape.hidden:
            self._warn(
                box.line,
                "a checkbox inside a code fence or comment is no task, but OpenSpec counts it",
                "the change is not complete while it is open: move or delete it",
            )
        for line, comment in self.shape.stray:
            if is_directive(comment):
                self._warn(
                    line, "a directive outside of any task has no effect", "indent it below the task it is meant for"
                )
        for text in self.lines:
            if text.kind is Kind.TEXT and "[" in text.text and (found := _WORDY.match(text.text)):
                self._warn(
                    text.number,
                    f"[{found['mark']}] is no checkbox, its mark is longer than one character",
                    "write [ ], [x] or one other character if this is a task",
                )

    def _warn(self, line: int, what: str, todo: str) -> None:
        self.warnings.append(f"{self.path}:{line}: {what}; {todo}")

    def _error(self, line: int, what: str, todo: str, *, code: str = "") -> PlanError:
        return PlanError(what, where=f"{self.path}:{line}", todo=todo, code=code)


def replace_text(line: Line, text: str) -> Line:
    """The line with other words, its place kept."""
    return Line(line.number, text, line.kind, line.indent, opener=line.opener)


def _cut_comments(head: Line | None, body: list[Line]) -> tuple[str, str, list[str]]:
    """First line and dedented body without comments, and the insides of these; code fences are left alone."""
    comments: list[str] = []
    if not body:
        if head is None or "<!--" not in head.text:
            return (head.text if head else ""), "", comments
    elif (head is None or "<!--" not in head.text) and not any("<!--" in line.text for line in body):
        return (head.text if head else ""), _dedent([line.text for line in body]), comments
    kept: list[str] = []
    for block in _blocks([head, *body] if head else body):
        text = "\n".join(line.text for line in block)
        if block[0].kind is not Kind.FENCED and "<!--" in text:
            found = scan(text)
            comments += [inner for _, _, inner in found.comments]
            text = found.without_comments(text)
            if not text.strip() and block[0] is not head:
                continue
        kept.append(text)
    if head is None:
        return "", _dedent(kept), comments
    first, _, more = kept[0].partition("\n")
    return first, _dedent([*([more] if more.strip() else []), *kept[1:]]), comments


def _blocks(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines, with those of a comment that goes on below gathered to one block."""
    block: list[Line] = []
    for line in lines:
        if block and not (line.kind is Kind.COMMENT and line.opener <= block[-1].number - 1):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _dedent(lines: list[str]) -> str:
    return (
        textwrap.dedent("\n".join(lines).expandtabs(4) if any("\t" in line for line in lines) else "\n".join(lines))
        .strip("\n")
        .rstrip()
    )


def _comments_of(step: Draft) -> list[str]:
    return _cut_comments(replace_text(step.head, step.head.rest), step.body)[2]


def _step(draft: Draft) -> Step:
    text, body, _ = _cut_comments(replace_text(draft.head, draft.head.rest), draft.body)
    box = draft.head.box
    assert box is not None  # noqa: S101 - the outline makes drafts of boxes only
    return Step("\n".join(part for part in (text.strip(), body) if part), box)


def _verification(text: str, body: str, steps: tuple[Step, ...], comments: Comments) -> tuple[Verification, ...]:
    found = [
        part
        for part in (split(words) for words in (text, body, *(step.text for step in steps)))
        if part.spans or part.fences
    ]
    if not found and not comments.verify:
        return ()
    return unique(
        (
            *(Verification(command, Source.LABEL) for part in found for command in part.spans),
            *(Verification(command, Source.FENCE) for part in found for command in part.fences),
            *(Verification(command, Source.COMMENT) for command in comments.verify),
        )
    )


def _title(text: str, tags: Markers) -> str:
    """What a list shows: the first words, without notes, markers, commands and emphasis."""
    if "(" in text or "[" in text or ":" in text:
        text = cut_notes(split(text).rest)
    if tags.red or tags.green:
        text = text.replace("[RED]", "").replace("[GREEN]", "")
    return _GAP.sub("", " ".join(text.replace("**", "").split()))


def _shown(words: _Words, section: int, position: int) -> str:
    return words.id.id if words.id else f"s{section + 1}.{position}"


def _as_twin(task: Task, repeated: dict[str, list[int]]) -> Task:
    lines = repeated.get(task.key)
    if lines is None:
        return task
    return replace(task, key=f"{task.key}#{lines.index(task.line) + 1}", duplicate=True)


def _rank(number: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(re.sub(r"\D", "", part) or 0), re.sub(r"\d", "", part)) for part in number.split("."))


def _skips(previous: str, number: str) -> bool:
    return previous.isdigit() and number.isdigit() and int(number) > int(previous) + 1


def _count(lines: list[Line]) -> Counts:
    marks = Counter(line.box.mark for line in lines if line.box is not None)
    total = sum(marks.values())
    return Counts(total, marks[Mark.RESOLVED], marks[Mark.HELD], marks[Mark.READY])
