"""The last readings of plan files, so that a tick need not parse a thousand tasks to change one byte.

A reading fits other bytes when they differ from its own in nothing but the marks of plain boxes (``[ ]``, ``[x]``,
``[X]``), whoever made them: such a mark moves no offset and changes no word, and it is read from the bytes at hand.
Anything else is parsed again. What :func:`reading` returns is therefore never older than the bytes it is asked for.
"""

import threading
from dataclasses import dataclass
from functools import cached_property

from baton_runner.plan.model import Box, Mark, Plan, Task
from baton_runner.plan.tasks_md import read_plan

__all__ = ["Reading", "mark_of", "reading"]

_MOST_FILES = 8
_PLAIN = {b" ": Mark.READY, b"x": Mark.RESOLVED, b"X": Mark.RESOLVED}
_SIGNS = frozenset(b" xX")
_BLANK = ord(" ")


@dataclass(frozen=True)
class Reading:
    """A plan, and what of its bytes it depends on: ``places`` of the marks it does not, ``rest`` with these blanked."""

    plan: Plan
    places: tuple[int, ...]
    rest: bytes

    def fits(self, data: bytes) -> bool:
        """Whether reading ``data`` would give this plan but for its marks."""
        if len(data) != len(self.rest):
            return False
        if not all(data[place] in _SIGNS for place in self.places):
            return False
        return _blanked(data, self.places) == self.rest

    @cached_property
    def by_id(self) -> dict[str, tuple[Task, ...]]:
        """The tasks that stand under each id; more than one is a mistake of the plan."""
        found: dict[str, tuple[Task, ...]] = {}
        for task in self.plan.tasks:
            found[task.id] = (*found.get(task.id, ()), task)
        return found


_lock = threading.Lock()
_known: dict[str, Reading] = {}


def reading(data: bytes, path: str) -> Reading:
    """The reading of a plan's bytes, parsed only where no known one fits; PlanError as :func:`read_plan`.

    The boxes of its plan say where marks stand, :func:`mark_of` what they are in ``data``.
    """
    with _lock:
        known = _known.get(path)
    if known is not None and known.fits(data):
        return known
    fresh = _read(data, path)
    with _lock:
        _known.pop(path, None)
        while len(_known) >= _MOST_FILES:
            del _known[next(iter(_known))]
        _known[path] = fresh
    return fresh


def mark_of(box: Box, data: bytes) -> Mark:
    """What a box of a fitting reading says in ``data``."""
    return _PLAIN.get(data[box.start + 1 : box.end - 1], box.mark)


def _read(data: bytes, path: str) -> Reading:
    plan = read_plan(data, change="", path=path)
    boxes = [box for task in plan.tasks for box in task.boxes]
    boxes += [section.box for section in plan.sections if section.box]
    places = tuple(box.start + 1 for box in boxes if _is_plain(box, data))
    return Reading(plan, places, _blanked(data, places))


def _is_plain(box: Box, data: bytes) -> bool:
    """Whether a box may take any plain mark and stay a box: before ``(`` or ``[`` it would become a link."""
    return data[box.start + 1 : box.end - 1] in _PLAIN and data[box.end : box.end + 1] not in (b"(", b"[")


def _blanked(data: bytes, places: tuple[int, ...]) -> bytes:
    rest = bytearray(data)
    for place in places:
        rest[place] = _BLANK
    return bytes(rest)
