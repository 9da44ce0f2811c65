"""An oracle: OpenSpec 1.13's counter of checkboxes, written again from its documented rule, without a pattern.

A line counts when it is: blanks, a bullet (``-``, ``*``, ``+`` or up to nine digits and ``.`` or ``)``), blanks, and
brackets around blanks and at most one UTF-16 unit that is neither blank nor ``]``; the brackets must not go on with
``(`` or ``[``, unless there is at least one blank and nothing else in them. It is done when the unit is x or X.
"""

# ECMAScript's WhiteSpace and LineTerminator
_BLANKS = frozenset("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | {
    chr(c) for c in range(0x2000, 0x200B)
}


def count(data: bytes) -> tuple[int, int]:
    """(total, completed), as ``openspec list --json`` says it."""
    found = [mark for line in data.decode("utf-8").split("\n") if (mark := _mark(line)) is not None]
    return len(found), sum(mark in ("x", "X") for mark in found)


def _mark(line: str) -> str | None:
    at = _skip(line, 0)
    at = _bullet(line, at)
    if at < 0:
        return None
    at = _skip(line, at)
    if line[at : at + 1] != "[":
        return None
    first = at + 1
    at = _skip(line, first)
    mark = ""
    if at < len(line) and line[at] != "]":
        if ord(line[at]) > 0xFFFF:  # two units
            return None
        mark = line[at]
        at = _skip(line, at + 1)
    if line[at : at + 1] != "]":
        return None
    goes_on = line[at + 1 : at + 2] in ("(", "[")
    only_blanks = not mark and at > first
    return None if goes_on and not only_blanks else mark


def _bullet(line: str, at: int) -> int:
    if line[at : at + 1] in ("-", "*", "+"):
        return at + 1
    digits = at
    while digits < len(line) and line[digits] in "0123456789":
        digits += 1
    if 1 <= digits - at <= 9 and line[digits : digits + 1] in (".", ")"):
        return digits + 1
    return -1


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in _BLANKS:
        at += 1
    return at
