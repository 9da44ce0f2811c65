"""Dependency notes and markers inside a task's words: ``(depends on 1.1)``, ``Blocked by: 1.2``, ``[MANUAL]``.

Authors write many things in parentheses; only a note whose first words are ids makes an edge. Resolving the ids is
:mod:`order`'s work.
"""

import re
from dataclasses import dataclass

from baton_runner.plan.ids import DOTTED, FAMILY
from baton_runner.plan.inline import blank_code
from baton_runner.plan.model import Wait

__all__ = [
    "Markers",
    "body_note",
    "cut_notes",
    "is_body_note",
    "markers",
    "names_before_numbers",
    "text_note",
    "waits_of",
]

_ID = rf"(?:{DOTTED}|{FAMILY}|\d{{1,4}}[a-z]?)"
_REFERENCE = re.compile(
    rf"[\s*_`#\[]*(?P<first>{_ID})[*_`\]]*(?:\s*(?:\.\.+|…|[-–—~]|to\b|through\b)\s*[*_`\[]*(?P<last>{_ID})[*_`\]]*)?(?![\w.]*\w)",  # noqa: RUF001
    re.ASCII,
)


def names_before_numbers(words: str) -> re.Pattern[str]:
    """What may stand before a number in a list of references and says nothing (``task 1.1``, ``phase 2``)."""
    return re.compile(rf"\b(?:{words})s?\s+(?=#?[\dA-Z])", re.IGNORECASE)


_NAMES = names_before_numbers("task|step|item")
_SEPARATOR = re.compile(r"\s*(?:[,;&+、，/]|and\b|und\b|,\s*and\b)?\s*(?:tasks?\b|steps?\b)?", re.IGNORECASE)  # noqa: RUF001
_ASKS = re.compile(
    r"\s*(?P<verb>depends?(?:\s+on)?|dependenc(?:y|ies)|dep(?:s)?|blocked\s+by|after)\s*[:：]?\s*(?P<list>.*)",  # noqa: RUF001
    re.IGNORECASE | re.DOTALL,
)
_CODED_ID = re.compile(r"`([\w.-]{1,16})`")
_NONE = re.compile(r"[\s*_`]*(?:none|nothing|n/?a|no|-|–|—)[\s*_`.]*", re.IGNORECASE)  # noqa: RUF001
_OPENS = re.compile(r"[(（]\s*(?:dep|blocked|after)", re.IGNORECASE)  # noqa: RUF001
_PARENTHESES = re.compile(r"[(（](?P<inner>[^()（）]*)[)）]")  # noqa: RUF001
_BODY_LINE = re.compile(
    r"\s*(?:[-*+]\s+)?[*_]{0,3}(?P<verb>depends\s+on|depends|dependency|dependencies|blocked\s+by)[*_]{0,3}\s*[:：]\s*[*_]{0,3}(?P<list>.*)",  # noqa: RUF001
    re.IGNORECASE,
)
_MANUAL = re.compile(r"\[manual\]|\(manual\)", re.IGNORECASE)
_OPTIONAL = re.compile(r"\(optional\)", re.IGNORECASE)
_MARKER = re.compile(rf"{_MANUAL.pattern}|{_OPTIONAL.pattern}|\[P\]", re.IGNORECASE)


def waits_of(inner: str, line: int, *, names: re.Pattern[str] = _NAMES) -> tuple[Wait, ...] | None:
    """The references of ``depends on 1.1, 1.3`` (no parentheses); () for ``none``; None when it is prose.

    "after 1.7 is live" is prose; "depends on 1.1, once merged" names 1.1. ``names`` may stand before a number.
    """
    asked = _ASKS.fullmatch(inner)
    if asked is None:
        return None
    listed = names.sub("", asked["list"])
    found, rest = _references(listed, line)
    if not found:
        return () if _NONE.fullmatch(listed) and asked["verb"].lower() != "after" else None
    if asked["verb"].lower() == "after" and rest.strip(" .*_`"):
        return None
    return found


def text_note(text: str, line: int) -> tuple[Wait, ...] | None:
    """All references of the notes in parentheses in a task's first line, None without one."""
    if not _OPENS.search(text):
        return None
    notes = [waits_of(found["inner"], line) for found in _PARENTHESES.finditer(_plain(text))]
    return _joined([note for note in notes if note is not None])


def body_note(text: str, line: int) -> tuple[Wait, ...] | None:
    """The references of a body line such as ``- **Depends on**: 1.1``, None when it is no such line or prose."""
    found = _BODY_LINE.fullmatch(text) if ":" in text or "：" in text else None  # noqa: RUF001
    return waits_of(f"depends on {found['list']}", line) if found else None


def is_body_note(text: str) -> bool:
    """Whether a body line is a dependency note with ids (or ``none``)."""
    return body_note(text, 0) is not None


def cut_notes(text: str) -> str:
    """The text without its dependency notes in parentheses and without markers for the scheduler."""
    if "(" not in text and "[" not in text and "（" not in text:  # noqa: RUF001
        return text
    notes: list[re.Match[str]] = []
    if _OPENS.search(text):
        notes = [found for found in _PARENTHESES.finditer(_plain(text)) if waits_of(found["inner"], 0) is not None]
    marks = list(_MARKER.finditer(blank_code(text))) if _MARKER.search(text) else []
    if not notes and not marks:
        return text
    parts, at = [], 0
    for found in sorted((*notes, *marks), key=lambda found: found.start()):
        parts.append(text[at : found.start()])
        at = found.end()
    return "".join(parts) + text[at:]


@dataclass(frozen=True, slots=True)
class Markers:
    """What the tags in a task's first line say."""

    manual: bool = False
    optional: bool = False
    red: bool = False
    green: bool = False
    parallel: bool = False


_NO_MARKERS = Markers()


def markers(text: str) -> Markers:
    """Read ``[MANUAL]``, ``(manual)``, ``(optional)``, ``[RED]``, ``[GREEN]``, ``[P]``; code spans are only text."""
    if "[" not in text and "(" not in text:
        return _NO_MARKERS
    text = blank_code(text)
    return Markers(
        manual=_MANUAL.search(text) is not None,
        optional=_OPTIONAL.search(text) is not None,
        red="[RED]" in text,
        green="[GREEN]" in text,
        parallel="[P]" in text,
    )


def _references(listed: str, line: int) -> tuple[tuple[Wait, ...], str]:
    """The ids at the start of a list, and what follows them."""
    found: list[Wait] = []
    at = 0
    while reference := _REFERENCE.match(listed, at):
        found.append(Wait(reference["first"], reference["last"], line))
        separator = _SEPARATOR.match(listed, reference.end())
        at = separator.end() if separator else reference.end()
    return tuple(found), listed[at:]


def _joined(notes: list[tuple[Wait, ...]]) -> tuple[Wait, ...] | None:
    return tuple(wait for note in notes for wait in note) if notes else None


def _plain(text: str) -> str:
    """Ids may stand in backticks inside a note, so only long code spans are blanked."""
    return text if "`" not in text else blank_code(_CODED_ID.sub(r" \1 ", text))
