"""Real ids written into a plan, once: for tasks that have none, and the way out of ids that appear twice.

Pure: the new bytes, and which key became which id, so that receipts can be taken along. Nothing else in the file
changes, and no definition digest does.
"""

import re
from itertools import count

from baton_runner.plan.ids import leading_id
from baton_runner.plan.model import Plan, Section, Task
from baton_runner.plan.tasks_md import read_plan

__all__ = ["number"]

_SERIAL = re.compile(r"([A-Z]+-?)(\d+)")


def number(data: bytes, *, path: str = "tasks.md") -> tuple[bytes, dict[str, str]]:
    """Give every task an id of its own; return the new bytes and {old key: new id} of the tasks whose key changed.

    An id that is used once stays; of those that share one the first keeps it. New ids follow their section's number
    (``2.4``), or go on with the only letter family of the file (``T013``). PlanError as :func:`read_plan`.
    """
    plan = read_plan(data, change="", path=path)
    ids = _Ids(plan)
    renamed: dict[str, str] = {}
    edits: list[tuple[int, int, bytes]] = []
    for section in plan.sections:
        for task in section.tasks:
            if not task.synthetic and task.id not in ids.given:
                ids.given.add(task.id)
                if task.duplicate:
                    renamed[task.key] = task.id
                continue
            renamed[task.key] = new = ids.next(section)
            edits.append(_edit(task, new))
    for start, end, replacement in reversed(edits):
        data = data[:start] + replacement + data[end:]
    return data, renamed


class _Ids:
    """Hands out ids that no task of the plan has."""

    def __init__(self, plan: Plan) -> None:
        self.given: set[str] = set()
        self._taken = {task.id for task in plan.tasks if not task.synthetic}
        self._numbers = [section.number for section in plan.sections]
        self._serial = self._only_family()
        self._counters: dict[str, count[int]] = {}

    def next(self, section: Section) -> str:
        pattern = self._serial or f"{self._prefix(section)}.{{}}"
        counter = self._counters.setdefault(pattern, count(self._highest(pattern) + 1))
        return pattern.format(next(counter))

    def _only_family(self) -> str | None:
        """A pattern such as ``T{:03d}`` when every id of the plan is of one such family."""
        found = [_SERIAL.fullmatch(id_) for id_ in self._taken]
        prefixes = {match[1] if match else "" for match in found}
        if len(prefixes) != 1 or "" in prefixes:
            return None
        digits = max(len(match[2]) for match in found if match)
        return f"{prefixes.pop()}{{:0{digits}d}}"

    def _highest(self, pattern: str) -> int:
        prefix = pattern.partition("{")[0]
        heads = (re.match(r"\d+", id_[len(prefix) :]) for id_ in self._taken if id_.startswith(prefix))
        return max((int(head[0]) for head in heads if head), default=0)

    def _prefix(self, section: Section) -> str:
        """The section's number; its position where it has none, or the next number that no section has."""
        if section.number is not None:
            return section.number
        position = str(section.index + 1)
        if position not in self._numbers:
            return position
        free = max(int(label) for label in self._numbers if label and label.isdigit())
        return str(free + section.index + 1)


def _edit(task: Task, new: str) -> tuple[int, int, bytes]:
    """Byte range and replacement that give a task's line its id."""
    star = 1 if task.raw.startswith(("* ", "*\t")) else 0
    words = task.raw[star:]
    old = None if task.synthetic else leading_id(words)
    if old is not None:
        start, end = star + old.start, star + old.end
        return _range(task, start, end, new)
    start = star + len(words) - len(words.lstrip())
    before = "" if task.raw[:start].strip("*") else " "
    following = task.raw[start:]
    for mark in (" ", ": "):
        found = leading_id(new + mark + following)
        if found is not None and found.id == new:
            break
    return _range(task, start, start, before + new + (mark if following else ""))


def _range(task: Task, start: int, end: int, replacement: str) -> tuple[int, int, bytes]:
    first = task.box.end + len(task.raw[:start].encode())
    return first, first + len(task.raw[start:end].encode()), replacement.encode()
