"""Ids: which words at the start of a task are one, and the key of a task that has none.

Numbers (``1.2``, ``2a.1``, ``1.``) always are; letter families (``T001``, ``TASK-101``, ``A.1``) only where two or
more different ones occur in the file, because "R2 smoke check" and "S3 bucket" are words. A range is no id.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["DOTTED", "FAMILY", "LeadingId", "families", "family", "leading_id", "synthetic_key"]

DOTTED = r"\d{1,4}[a-z]?(?:\.\d{1,4}[a-z]?)+"
FAMILY = r"[A-Z]{1,6}\d{1,6}(?:\.\d{1,4})*[a-z]?|[A-Z][A-Z0-9]{0,11}-\d{1,6}|[A-Z]{1,3}(?:\.\d{1,4})+[a-z]?"
_PLAIN = r"\d{1,4}"
_LEADING = re.compile(
    rf"(?P<open>[*_~`(\[]*)(?P<word>[Tt]ask\s+#?|TASK\s+#?)?(?P<id>{DOTTED}|{FAMILY}|{_PLAIN})"
    r"(?P<close>[.:]?[*_~`)\]]*[.:)：、]?)(?=\s|$|[—–-]\s|[^\x00-\x7f–—…])",  # noqa: RUF001 - punctuation of real plans
    re.ASCII,
)
_RANGE_GOES_ON = re.compile(
    rf"\s*(?:\.\.+|…|[-–—~/,&+]|(?:to|and|through)\b)\s*[*_`]*(?:{DOTTED}|{FAMILY}|\d)",  # noqa: RUF001
    re.ASCII,
)
_FAMILY_OF = re.compile(r"([A-Z][A-Z0-9]*-|[A-Z]+)(?=[\d.])")
_OPENERS = str.maketrans("([", ")]")
_MAX_WORDS = 48
_HASH_LENGTH = 12


@dataclass(frozen=True, slots=True)
class LeadingId:
    """An id at the start of a text: offsets of its bare characters, and of the text behind it with its decoration."""

    id: str
    start: int
    end: int
    rest: str


def leading_id(text: str) -> LeadingId | None:
    """The id a text starts with; letter families still have to be confirmed (:func:`families`)."""
    skipped = len(text) - len(text.lstrip())
    found = _LEADING.match(text, skipped)
    if found is None or _RANGE_GOES_ON.match(text, found.end("id")):
        return None
    opened, close = found["open"], found["close"]
    if close and _RANGE_GOES_ON.match(text, found.end()):
        return None
    if found["id"].isdigit() and not found["word"] and not any(c in close for c in ".:)：、"):  # noqa: RUF001
        return None
    rest = text[found.end() :].lstrip()
    if opened and (unmatched := _unmatched(opened, close)):
        if set(unmatched) & set("(["):
            return None  # (1.2 of the specification) is a remark
        rest = unmatched + rest
    return LeadingId(found["id"], found.start("id"), found.end("id"), rest)


def _unmatched(opened: str, close: str) -> str:
    """The opening decoration that does not end right behind the id, as in ``**1.2 All of this is bold**``."""
    wanted = opened[::-1].translate(_OPENERS)
    return "" if wanted in close else opened


def family(id: str) -> str | None:  # noqa: A002 - the word of the design
    """The letter family of an id (``T``, ``TASK-``, ``.`` for ``A.1``), None for a number."""
    found = None if id[0].isdigit() else _FAMILY_OF.match(id)
    if found is None:
        return None
    return "." if id[found.end() : found.end() + 1] == "." else found[1]


def families(ids: Iterable[str]) -> frozenset[str]:
    """The letter families that two or more different ids belong to."""
    members: dict[str, set[str]] = {}
    for id_ in ids:
        if (name := family(id_)) is not None:
            members.setdefault(name, set()).add(id_)
    return frozenset(name for name, found in members.items() if len(found) > 1)


def synthetic_key(section: str, text: str, occurrence: int) -> str:
    """The key of a task without an id: readable words and a hash of section title, text and which of its twins.

    The result is its own slug: it is what names files and refs, unchanged.
    """
    identity = "\0".join((section, text) if occurrence == 1 else (section, text, str(occurrence)))
    fingerprint = hashlib.sha256(identity.encode()).hexdigest()[:_HASH_LENGTH]
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if len(words) > _MAX_WORDS:
        words = words[:_MAX_WORDS].rpartition("-")[0] or words[:_MAX_WORDS]
    return f"{words or 'task'}-{fingerprint}"
