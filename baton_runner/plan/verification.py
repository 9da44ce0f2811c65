"""Verification commands: found in a task only where its author clearly meant them to be run.

A label (``Verify:``, ``**Test**:``, ``Done when:`` ...) with backtick spans in its own text, a shell fence right under
such a label, a ``<!-- verify: ... -->`` comment, and the policy. Everything else in backticks is prose: real plans
hold ``git push`` there. What is found and what remains are two halves of one reading, so that a task's definition
never depends on a command.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from baton_runner.plan.inline import blank_code, scan
from baton_runner.plan.lines import BULLET, Kind, Line, read_lines
from baton_runner.plan.model import Section, Source, Task, Verification

__all__ = ["Split", "resolve", "split", "unique"]

_WORD = r"(?:verify|verification|validation|gate|test|command|acceptance)"
_LABEL = re.compile(
    rf"(?:^\s*(?:(?:[-*+]|\d+[.)])\s+)?|(?<=[.;!?)|—–-]\s)|(?<=\())"  # noqa: RUF001 - punctuation of real plans
    rf"[*_]{{0,3}}(?:{_WORD}(?:\s+{_WORD})?|done\s+when)[*_]{{0,3}}\s*[:：][*_]{{0,3}}",  # noqa: RUF001
    re.IGNORECASE,
)
_LABELLED = re.compile(rf"(?:{_WORD}|done\s+when)[*_]{{0,3}}\s*[:：]", re.IGNORECASE)  # noqa: RUF001
_NEXT_SENTENCE = re.compile(r"[.;]\s+[*_]*[A-Z][\w ]{1,24}[*_]*:")
_ONLY_GLUE = re.compile(r"(?:[\s.,;:&|()*_]|\band\b|\bthen\b|\bpasses\b|\bpass\b)*", re.IGNORECASE)
_SHELLS = {"bash", "sh", "console"}
_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(\w*)")


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart: the commands in it, and the words that remain."""

    spans: tuple[str, ...]
    fences: tuple[str, ...]
    rest: str


def split(text: str) -> Split:
    """Take the labelled commands out of a task's text, body or step (without comments)."""
    if (":" not in text and "：" not in text) or ("`" not in text and "~~~" not in text):  # noqa: RUF001
        return Split((), (), text)
    return _Splitter(text).run() if _LABELLED.search(text) else Split((), (), text)


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

    def run(self) -> Split:
        lines = _lines(self.text)
        i = 0
        while i < len(lines):
            line = lines[i]
            i += 1
            if line.kind is Kind.FENCED:
                self.rest.append(line.text)
                continue
            labelled, bare = self._take(line.text)
            if not labelled:
                continue
            found = len(self.spans) + len(self.fences)
            at = len(self.rest)
            i = self._paragraph_below(lines, i) if bare else i
            i = self._fence_below(lines, i)
            if bare and len(self.spans) + len(self.fences) > found:
                self._drop_label(at - 1)
        return Split(tuple(self.spans), tuple(self.fences), "\n".join(self.rest))

    def _take(self, text: str) -> tuple[bool, bool]:
        """Keep a line without its labelled spans; say whether it had a label, and one with nothing behind it."""
        prose = blank_code(text) if _LABELLED.search(text) else ""
        labels = list(_LABEL.finditer(prose))
        if not labels:
            self.rest.append(text)
            return False, False
        code = scan(text).code
        kept, at = [], 0
        ends = [label.start() for label in labels[1:]] + [len(text)]
        for label, limit in zip(labels, ends, strict=True):
            sentence = _NEXT_SENTENCE.search(prose, label.end(), limit)
            end = sentence.start() + 1 if sentence else limit
            spans = [span for span in code if label.end() <= span[0] and span[1] <= end]
            self.spans += [command for span in spans if (command := _unspaced(span[2]))]
            words = _without(text, label.end(), end, spans)
            kept.append(text[at : label.start()])
            if not (spans and _ONLY_GLUE.fullmatch(words)):
                kept += [label[0], words]
            at = end
        if remainder := "".join([*kept, text[at:]]).rstrip():
            self.rest.append(remainder)
        return True, not text[labels[-1].end() :].strip(" *_")

    def _drop_label(self, at: int) -> None:
        """A label whose commands are gone says nothing: leave it out, like the commands."""
        kept = _LABEL.sub("", self.rest[at]).rstrip()
        self.rest[at : at + 1] = [kept] if kept else []

    def _paragraph_below(self, lines: list[Line], i: int) -> int:
        """A label alone on its line owns the words right under it."""
        while i < len(lines) and lines[i].kind is Kind.TEXT and not lines[i].blank and not BULLET.match(lines[i].text):
            text = lines[i].text
            if _LABEL.search(blank_code(text)):
                return i
            code = scan(text).code
            self.spans += [command for span in code if (command := _unspaced(span[2]))]
            words = _without(text, 0, len(text), list(code))
            if not _ONLY_GLUE.fullmatch(words):
                self.rest.append(words)
            i += 1
        return i

    def _fence_below(self, lines: list[Line], i: int) -> int:
        """Take the shell fence that begins right under a label."""
        first = i
        while first < len(lines) and lines[first].blank and lines[first].kind is Kind.TEXT:
            first += 1
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


def _unspaced(inner: str) -> str:
    return inner.strip()


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
