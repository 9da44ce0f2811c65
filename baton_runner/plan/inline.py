"""Code spans and HTML comments inside text: which of the two a character belongs to.

As in Markdown, what opens first wins, and a backtick run or a comment that never closes is plain text. One linear
pass, whatever the input.
"""

import re
from dataclasses import dataclass

__all__ = ["Inline", "blank_code", "scan"]

_TOKEN = re.compile(r"`+|<!--|-->")
_SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Inline:
    """Offsets in the scanned text. ``code``: (start, end, inner) of spans; ``comments``: (start, end, inner)."""

    code: tuple[tuple[int, int, str], ...] = ()
    comments: tuple[tuple[int, int, str], ...] = ()
    unclosed: int = -1

    def without_comments(self, text: str) -> str:
        """The text with its comments cut out."""
        if not self.comments:
            return text
        parts, at = [], 0
        for start, end, _ in self.comments:
            parts.append(text[at:start])
            at = end
        return "".join(parts) + text[at:]


_NOTHING = Inline()


def scan(text: str) -> Inline:
    """Find the code spans and comments of a text; ``unclosed`` is the offset of a comment that stays open, or -1."""
    if "<!--" not in text and "``" not in text:  # the ordinary case: single backticks
        return (
            Inline(tuple((found.start(), found.end(), found[1]) for found in _SPAN.finditer(text)))
            if "`" in text
            else _NOTHING
        )
    tokens = list(_TOKEN.finditer(text))
    partner = _partners([token.group() for token in tokens])
    code: list[tuple[int, int, str]] = []
    comments: list[tuple[int, int, str]] = []
    unclosed, i = -1, 0
    while i < len(tokens):
        token, other = tokens[i], partner[i]
        if other is None:
            if token.group() == "<!--":
                unclosed = token.start()
                break
            i += 1
            continue
        inner = text[token.end() : tokens[other].start()]
        found = (token.start(), tokens[other].end(), inner)
        (comments if token.group() == "<!--" else code).append(found)
        i = other + 1
    return Inline(tuple(code), tuple(comments), unclosed)


def blank_code(text: str) -> str:
    """The text with code spans overwritten by blanks: same length, for rules that must not see code."""
    if "`" not in text:
        return text
    parts, at = [], 0
    for start, end, _ in scan(text).code:
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join(parts) + text[at:]


def _partners(tokens: list[str]) -> list[int | None]:
    """For each token the index of the next one that would close it."""
    partners: list[int | None] = [None] * len(tokens)
    later: dict[str, int] = {}
    for i in range(len(tokens) - 1, -1, -1):
        opener = tokens[i]
        if opener != "-->":
            partners[i] = later.get("-->" if opener == "<!--" else opener)
        later[opener] = i
    return partners
