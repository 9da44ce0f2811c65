"""Verification commands: found in a task only where its author clearly meant them to be run.

A label (:mod:`labels`) with backtick spans in its own text, bullets of nothing but a span or a shell fence right under
such a label, a ``<!-- verify: ... -->`` comment, and the policy. Everything else in backticks is prose: real plans
hold ``git push`` there. What is found and what remains are two halves of one reading, so that a task's definition
never depends on a command. A line that asks for a check and was not understood is kept as ``missed``, never dropped.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from operator import itemgetter

from baton_runner.plan.inline import blank_code, scan
from baton_runner.plan.labels import LABEL, bare_label, has_label, is_near_label, may_have_label
from baton_runner.plan.lines import BULLET, Kind, Line, read_lines
from baton_runner.plan.model import Section, Source, Task, Verification

__all__ = ["Split", "resolve", "split", "split_task", "unique"]

_NEXT_SENTENCE = re.compile(r"[.;]\s+[*_]*[A-Z][\w ]{1,24}[*_]*:")
_ONLY_GLUE = re.compile(r"(?:[\s.,;:&|()*_]|\band\b|\bthen\b|\bpasses\b|\bpass\b)*", re.IGNORECASE)
_SHELLS = {"bash", "sh", "console"}
_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(\w*)")


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart: the commands in it, the words that remain, and the lines that look like labels in vain."""

    spans: tuple[str, ...]
    fences: tuple[str, ...]
    rest: str
    missed: tuple[str, ...] = ()


_NOTHING = Split((), (), "")


def split(text: str) -> Split:
    """Take the labelled commands out of a task's text, body or step (without comments)."""
    if not text:
        return _NOTHING
    if (":" not in text and "：" not in text) or ("`" not in text and "~~~" not in text):  # noqa: RUF001
        return Split((), (), text)
    if not may_have_label(text) and not is_near_label(text):
        return Split((), (), text)
    return _Splitter(text).run()


def split_task(text: str, body: str) -> tuple[Split, Split]:
    """Take a task's text and body apart; a label at the end of the text owns what stands at the start of the body."""
    if not body or not text.rstrip(" *_").endswith((":", "：")) or not bare_label(text):  # noqa: RUF001
        return split(text), split(body)
    alone, below = split(body), split(f"Verify:\n{body}")
    if (alone.spans, alone.fences) == (below.spans, below.fences):
        missed = [text for line in below.missed if line == "Verify:"]
        return split(text), replace(alone, missed=(*missed[:1], *alone.missed))
    head = split(text)
    return replace(head, rest=without_label(head.rest)), below


def without_label(text: str) -> str:
    """A label whose commands are gone says nothing: the text that is left without it."""
    return LABEL.sub("", text).rstrip()


def unique(found: Iterable[Verification]) -> tuple[Verification, ...]:
    """The commands in their order, each once: where it was found first."""
    first: dict[str, Verification] = {}
    for item in found:
        first.setdefault(item.command, item)
    return tuple(first.values())


def resolve(
    task: Task,
    section: Section,
    *,
    commands: Sequence[str] = (),
    tasks: Mapping[str, Sequence[str]] | None = None,
    sections: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Verification, ...]:
    """All commands of a task: its own, then those of the policy.

    ``commands`` hold for every task, ``tasks`` maps globs of ids, ``sections`` numbers or globs of titles.
    """
    policy = [Verification(command, Source.POLICY_ALL) for command in commands]
    for pattern, listed in (tasks or {}).items():
        if fnmatchcase(task.id, pattern):
            policy += [Verification(command, Source.POLICY_TASK) for command in listed]
    for pattern, listed in (sections or {}).items():
        if pattern == section.number or fnmatchcase(section.title, pattern):
            policy += [Verification(command, Source.POLICY_SECTION) for command in listed]
    return unique((*task.verification, *policy))


@dataclass
class _Splitter:
    text: str
    spans: list[str] = field(default_factory=list)
    fences: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def found(self) -> int:
        return len(self.spans) + len(self.fences)

    def run(self) -> Split:
        lines = _lines(self.text)
        i = 0
        while i < len(lines):
            line = lines[i]
            i += 1
            if line.kind is Kind.FENCED:
                self.rest.append(line.text)
                continue
            prose = blank_code(line.text) if may_have_label(line.text) else ""
            if labels := list(LABEL.finditer(prose)):
                i = self._labelled(line.text, prose, labels, lines, i)
                continue
            self.rest.append(line.text)
            if is_near_label(line.text):
                self.missed.append(line.text)
        return Split(tuple(self.spans), tuple(self.fences), "\n".join(self.rest), tuple(self.missed))

    def _labelled(self, text: str, prose: str, labels: list[re.Match[str]], lines: list[Line], i: int) -> int:
        """Take what a line with labels asks for, there and below; the index of the line to go on with."""
        bare = not text[labels[-1].end() :].strip(" *_")
        before = self.found
        self._take(text, prose, labels)
        at = len(self.rest)
        if not bare:
            after = self._fence_below(lines, i)
            if self.found == before and _promises(lines, i, _is_command_alone):
                self.missed.append(text)
            return after
        before = self.found
        after = self._below(lines, i, text)
        if self.found > before:
            kept = without_label(self.rest[at - 1])
            self.rest[at - 1 : at] = [kept] if kept else []
        elif _promises(lines, i, _has_code):
            self.missed.append(text)
        return after

    def _take(self, text: str, prose: str, labels: list[re.Match[str]]) -> None:
        """Keep a line without its labelled spans."""
        code = scan(text).code
        kept, at, first = [], 0, 0
        ends = [label.start() for label in labels[1:]] + [len(text)]
        for label, limit in zip(labels, ends, strict=True):
            sentence = _NEXT_SENTENCE.search(prose, label.end(), limit)
            end = sentence.start() + 1 if sentence else limit
            first = bisect_left(code, label.end(), first, key=itemgetter(0))
            last = bisect_right(code, end, first, key=itemgetter(1))
            spans, first = code[first:last], last
            self.spans += [command for span in spans if (command := span[2].strip())]
            words = _without(text, label.end(), end, spans)
            kept.append(text[at : label.start()])
            if not (spans and _ONLY_GLUE.fullmatch(words)):
                kept += [label[0], words]
            at = end
        if remainder := "".join([*kept, text[at:]]).rstrip():
            self.rest.append(remainder)

    def _below(self, lines: list[Line], i: int, label: str) -> int:
        """A label alone on its line owns what stands right under it: a paragraph, bullets, a fence."""
        i = self._paragraph_below(lines, i)
        i = self._bullets_below(lines, i, _indent(label) + (1 if BULLET.match(label) else 0))
        return self._fence_below(lines, i)

    def _paragraph_below(self, lines: list[Line], i: int) -> int:
        while i < len(lines) and lines[i].kind is Kind.TEXT and not lines[i].blank and not BULLET.match(lines[i].text):
            text = lines[i].text
            if has_label(blank_code(text)):
                return i
            code = scan(text).code
            self.spans += [command for span in code if (command := span[2].strip())]
            words = _without(text, 0, len(text), list(code))
            if not _ONLY_GLUE.fullmatch(words):
                self.rest.append(words)
            i += 1
        return i

    def _bullets_below(self, lines: list[Line], i: int, least: int) -> int:
        """Take bullets of one span and nothing else that stand at ``least`` so deep; one with words ends them."""
        at = _next_line(lines, i)
        taken = []
        while at < len(lines) and _indent(lines[at].text) >= least and (command := _alone(lines[at])):
            taken.append(command)
            at += 1
        if not taken:
            return i
        self.spans += taken
        if (
            at < len(lines)
            and _indent(lines[at].text) >= least
            and BULLET.match(lines[at].text)
            and _has_code(lines[at])
        ):
            self.missed.append(lines[at].text)
        return at

    def _fence_below(self, lines: list[Line], i: int) -> int:
        """Take the shell fence that begins right under a label."""
        first = _next_line(lines, i)
        if first == len(lines) or lines[first].kind is not Kind.FENCED:
            return i
        opening = _FENCE_LINE.match(lines[first].text)
        if opening is None or opening[1].lower() not in _SHELLS:
            return i
        end = first
        while end < len(lines) and lines[end].kind is Kind.FENCED and lines[end].opener == lines[first].opener:
            end += 1
        inside = [line.text for line in lines[first + 1 : end - 1]]
        transcript = opening[1].lower() == "console" and any(text.lstrip().startswith("$ ") for text in inside)
        self.fences += _shell_commands(inside, only_prompts=transcript)
        return end


def _lines(text: str) -> list[Line]:
    if "```" in text or "~~~" in text:
        return read_lines(text.encode(), "")
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]


def _without(text: str, start: int, end: int, spans: Sequence[tuple[int, int, str]]) -> str:
    parts, at = [], start
    for first, last, _ in spans:
        parts.append(text[at:first])
        at = last
    return "".join(parts) + text[at:end]


def _next_line(lines: list[Line], i: int) -> int:
    """The first line from ``i`` on that is not blank."""
    while i < len(lines) and lines[i].blank and lines[i].kind is Kind.TEXT:
        i += 1
    return i


def _promises(lines: list[Line], i: int, is_meant: Callable[[Line], bool]) -> bool:
    """Whether the next line is a fence, or text that may be meant as a command."""
    at = _next_line(lines, i)
    if at == len(lines):
        return False
    return lines[at].kind is Kind.FENCED or (is_meant(lines[at]) and not has_label(blank_code(lines[at].text)))


def _has_code(line: Line) -> bool:
    return line.kind is Kind.TEXT and bool(scan(line.text).code)


def _is_command_alone(line: Line) -> bool:
    return bool(_alone(line))


def _alone(line: Line) -> str:
    """The command of a bullet that is one code span and nothing else, or nothing."""
    bullet = BULLET.match(line.text)
    if bullet is None or line.kind is not Kind.TEXT:
        return ""
    code = scan(line.text).code
    if len(code) != 1 or not _ONLY_GLUE.fullmatch(_without(line.text, bullet.end(), len(line.text), code)):
        return ""
    return code[0][2].strip()


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _shell_commands(lines: list[str], *, only_prompts: bool) -> list[str]:
    """One command a line: continued lines joined, prompts stripped, comments left out, and a transcript's output."""
    found: list[str] = []
    unfinished = ""
    for line in lines:
        text = line.strip()
        if unfinished:
            text = f"{unfinished} {text.removeprefix('> ') if only_prompts else text}"
        elif not text or text.startswith("#") or (only_prompts and not text.startswith("$ ")):
            continue
        else:
            text = text.removeprefix("$ ").lstrip()
        unfinished = text[:-1].rstrip() if text.endswith("\\") else ""
        if not unfinished:
            found.append(text)
    return [*found, unfinished] if unfinished else found
