"""The closing check: a change is complete only when every command of its finished tasks is green on the head's tree.

Runs when nothing more can be worked on. A green head is remembered with the commands it is green for, so the next run
compares and runs nothing; an edit of the sources, a pull or a later task that broke an earlier one is noticed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baton_runner.base import crash, files
from baton_runner.base.clock import rfc3339
from baton_runner.base.digest import canonical, digest
from baton_runner.base.errors import DamagedRecord
from baton_runner.controller.parts import Parts
from baton_runner.controller.verification import Check, CheckResult
from baton_runner.evidence.layout import Layout

__all__ = ["Closing", "close", "is_closed"]

COMPLETE = crash.declare("closing.write")
REOPENED = crash.declare("closing.remove")


@dataclass(frozen=True)
class Closing:
    """What the closing check found. ``red`` maps each red command to the ids of the tasks it proves."""

    ran: int
    known: int
    red: Mapping[str, tuple[str, ...]]
    results: tuple[CheckResult, ...]

    @property
    def green(self) -> bool:
        """Whether every command was green."""
        return not self.red


def is_closed(layout: Layout, tree: str, checks: Sequence[Check]) -> bool:
    """Whether exactly this was found green before."""
    try:
        record: Any = files.read_json(layout.complete())
    except DamagedRecord:
        return False  # a damaged fact is no fact
    return isinstance(record, dict) and record.get("tree") == tree and record.get("commands") == _commands(checks)


def close(parts: Parts, proves: Mapping[Check, tuple[str, ...]]) -> Closing:
    """Run what is not known to be green on the head; ``proves`` names the finished tasks of each distinct check."""
    checks = tuple(proves)
    with parts.integrator.verifying(f"closing check of {parts.change.id}"):
        head = parts.branch.head()
        tree = parts.objects.tree_of(head)
        if is_closed(parts.layout, tree, checks):
            return Closing(0, len(checks), {}, ())
        logs = parts.layout.change_logs("closing")
        parts.events.emit(parts.change.id, "", "closing.started", commands=len(checks))
        results = parts.verifier.verify(head, tree, checks, logs, first_red_ends=False)
        parts.events.emit(parts.change.id, "", "closing.ended", red=sum(not result.green for result in results))
    red = {result.check.command: proves[result.check] for result in results if not result.green}
    if not red and len(results) == len(checks):
        fact = {"tree": tree, "head": head, "commands": _commands(checks), "at": rfc3339(parts.clock.now())}
        files.write_atomic(parts.layout.complete(), canonical(fact), COMPLETE)
    elif parts.layout.complete().exists():
        files.remove(parts.layout.complete(), REOPENED)
    ran = sum(1 for result in results if not result.cached)
    return Closing(ran, len(results) - ran, red, results)


def _commands(checks: Sequence[Check]) -> str:
    return digest(sorted(check.command for check in checks))
