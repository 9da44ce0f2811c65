r"""A plan file as lines: which are boxes, headings, or hidden in code fences and comments.

Works on bytes split at ``\n`` and nothing else; every offset is a byte offset. What is a box is exactly what
OpenSpec 1.13 counts (its blanks are JavaScript's, a mark is one UTF-16 unit). Linear in the size of the file.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum

from baton_runner.base.errors import PlanError
from baton_runner.plan.inline import scan
from baton_runner.plan.model import Box, Mark

__all__ = ["BLANKS", "BULLET", "Kind", "Line", "read_lines", "width"]

# What JavaScript's \s matches; Python's differs in a few characters, and the counts must not.
BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_BOM = b"\xef\xbb\xbf"
_TAB = 4

# Possessive quantifiers: a line of a million blanks must not be tried a million times.
_BOX = re.compile(
    rf"(?P<indent>[{BLANKS}]*+)(?:[-*+]|[0-9]{{1,9}}+[.)])[{BLANKS}]*+"
    rf"(?P<box>\[(?:[{BLANKS}]*+(?P<mark>[^\]{BLANKS}\U00010000-\U0010ffff]?+)[{BLANKS}]*+\](?![(\[])|[{BLANKS}]++\]))"
)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t\u3000\u00a0]+(.*)", re.DOTALL)
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_FENCE = re.compile(
    r"(?P<indent>[ \t]*+)(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*+(?P<run>`{3,}+|~{3,}+)(?P<info>.*)", re.DOTALL
)
BULLET = re.compile(rf"[{BLANKS}]*+(?:[-*+]|[0-9]{{1,9}}[.)])(?=[{BLANKS}]|$)")


class Kind(Enum):
    """What a line is. FENCED and COMMENT lines hold no tasks; a fence's delimiters are FENCED too."""

    TEXT = "text"
    BOX = "box"
    HEADING = "heading"
    FENCED = "fenced"
    COMMENT = "comment"


@dataclass(slots=True)
class Line:
    """One line: ``text`` without its end, ``indent`` in columns, ``rest`` what follows the box or the hashes.

    A FENCED or COMMENT line that would be counted as a box has one. ``opener`` is the index of the line that began
    the fence or comment. Made once by :func:`read_lines` and only read after that.
    """

    number: int
    text: str
    kind: Kind = Kind.TEXT
    indent: int = 0
    rest: str = ""
    level: int = 0
    box: Box | None = None
    opener: int = -1

    @property
    def blank(self) -> bool:
        """Whether there is nothing to see."""
        return not self.text or self.text.isspace()


def width(indent: str) -> int:
    """Columns of an indent, tabs to multiples of four."""
    if "\t" not in indent:
        return len(indent)
    return len(indent.expandtabs(_TAB))


def read_lines(data: bytes, path: str) -> list[Line]:
    """Classify every line of a file; PlanError when it is not UTF-8."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, start + error.start) + 1
        raise PlanError(
            "is not UTF-8",
            where=f"{path}:{number}",
            todo="save the file as UTF-8; nothing was written",
            code="not_utf8",
        ) from error
    lines = _classify(text, start)
    if "```" in text or "~~~" in text or "<!--" in text:
        _hide(lines)
    return lines


def _classify(text: str, start: int) -> list[Line]:
    ascii_only = text.isascii()
    lines = []
    for number, raw in enumerate(text.split("\n"), 1):
        shown = raw.rstrip("\r")
        line = Line(number, shown)
        if found := _BOX.match(shown):
            line.kind, line.box = Kind.BOX, _box(found, number, start)
            line.indent, line.rest = width(found["indent"]), shown[found.end() :]
        elif "#" in shown[:10] and (found := _HEADING.match(shown)):
            line.kind, line.level = Kind.HEADING, len(found[1])
            line.indent = width(shown[: found.start(1)])
            line.rest = _CLOSING_HASHES.sub("", found[2].rstrip()).strip()
        elif shown:
            line.indent = width(shown[: len(shown) - len(shown.lstrip(" \t"))])
        lines.append(line)
        start += (len(raw) if ascii_only or raw.isascii() else len(raw.encode())) + 1
    return lines


def _box(found: re.Match[str], line: int, start: int) -> Box:
    before, inside = found.string[: found.start("box")], found["box"]
    first = start + len(before.encode())
    mark = found["mark"] or ""
    meaning = Mark.RESOLVED if mark in ("x", "X") else Mark.HELD if mark else Mark.READY
    return Box(line, first, first + len(inside.encode()), meaning)


@dataclass(frozen=True, slots=True)
class _Fence:
    indent: int
    character: str
    length: int
    bare: bool


def _hide(lines: list[Line]) -> None:
    """Mark what lies inside fences and comments; what never closes hides nothing."""
    fences = _Fences(lines)
    closes = [i for i, line in enumerate(lines) if "-->" in line.text]
    boxes = [i for i, line in enumerate(lines) if line.kind is Kind.BOX]
    i = 0
    while i < len(lines):
        if (end := fences.end(i)) is not None:
            _set(lines, range(i, end + 1), Kind.FENCED, opener=i)
            i = end + 1
            continue
        if "<!--" in lines[i].text and (end := _comment_end(lines, i, closes, boxes)) is not None:
            _set(lines, range(i + 1, end + 1), Kind.COMMENT, opener=i)
            i = end
        i += 1


def _set(lines: list[Line], region: range, kind: Kind, *, opener: int) -> None:
    for i in region:
        lines[i].kind, lines[i].opener = kind, opener


def _comment_end(lines: list[Line], i: int, closes: list[int], boxes: list[int]) -> int | None:
    """The line that closes the comment left open by line ``i``: a block from its line's start hides boxes, one that
    opens behind other text ends with its paragraph, so a box before its end means that it was none.
    """
    text = lines[i].text
    start = scan(text).unclosed
    at = bisect_right(closes, i)
    if start < 0 or at == len(closes):
        return None
    end = closes[at]
    next_box = bisect_right(boxes, i)
    if text[:start].strip() and next_box < len(boxes) and boxes[next_box] <= end:
        return None
    return end


class _Fences:
    """Which lines open a fence that closes, asked in one forward walk."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._fences = {i: fence for i, line in enumerate(lines) if (fence := _fence(line)) is not None}
        self._closers: dict[str, dict[int, list[int]]] = {"`": {}, "~": {}}
        for i, fence in self._fences.items():
            if fence.bare:
                self._closers[fence.character].setdefault(fence.length, []).append(i)
        self._edges = [i for i, line in enumerate(lines) if line.kind is Kind.BOX or line.level > 1]
        self._broken = (0, 0)  # fences before this line with at least this indent end there, closed or not

    def end(self, i: int) -> int | None:
        """The closing line of the fence that opens at line ``i``, None when none does."""
        fence = self._fences.get(i)
        end = self._closer(fence, i) if fence else None
        if fence is None or end is None or (fence.indent and self._item_ends_before(end, i, fence.indent)):
            return None
        return end

    def _closer(self, fence: _Fence, i: int) -> int | None:
        found = []
        for length, indexes in self._closers[fence.character].items():
            at = bisect_right(indexes, i)
            if length >= fence.length and at < len(indexes):
                found.append(indexes[at])
        return min(found, default=None)

    def _item_ends_before(self, end: int, i: int, indent: int) -> bool:
        """Whether the list item around an indented fence ends first: at a box or a section's heading further left
        (a single ``#`` there is a shell's comment more often than a title).
        """
        before, at_least = self._broken
        if i < before < end and indent >= at_least:
            return True
        for at in range(bisect_right(self._edges, i), len(self._edges)):
            edge = self._edges[at]
            if edge > end:
                return False
            if self._lines[edge].indent < indent:
                self._broken = (edge, indent)
                return True
        return False


def _fence(line: Line) -> _Fence | None:
    text = line.text
    if ("```" not in text and "~~~" not in text) or not (found := _FENCE.match(text)):
        return None
    run = found["run"]
    if run[0] == "`" and "`" in found["info"]:
        return None
    return _Fence(width(found["indent"]), run[0], len(run), bare=not found["info"].strip())
