"""The names that changes, tasks and gates have in doit: what people type, made safe, one name for one thing.

doit reads ``=`` as a variable, ``*`` as a pattern and ``:`` as the border of a group; whatever holds one of these, a
blank or the look of a slug becomes its slug (promise 6).
"""

import re

from baton_runner.base.slug import slug
from baton_runner.plan.model import Plan

__all__ = ["EVERYTHING", "change_name", "gate_names", "task_names"]

EVERYTHING = "baton"
"""The name of the group of all open changes."""

_SAFE = re.compile(r"[^\s=*?\[\]:,_-][^\s=*?\[\]:,]*")
_LIKE_A_SLUG = re.compile(r"--[0-9a-f]{16}$")


def change_name(change: str) -> str:
    """The name of the group of all tasks of a change."""
    return _safe(change)


def task_names(plan: Plan) -> dict[str, str]:
    """For each task key its name ``<change>:<id>``; the key stands in where an id is not its task's alone."""
    group = change_name(plan.change)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for task in plan.tasks:
        wanted = _safe(task.key if task.duplicate else task.id)
        name = next(each for each in (wanted, _safe(task.key), slug(f"{task.key}@{task.line}")) if each not in taken)
        taken.add(name)
        names[task.key] = f"{group}:{name}"
    return names


def gate_names(plan: Plan, taken: frozenset[str]) -> dict[int, str]:
    """For each section index its gate's name ``<change>:gate-<n>``, n from 1; ``@gate-<n>`` where a task has that name."""
    group = change_name(plan.change)
    names = {}
    for section in plan.sections:
        name = f"{group}:gate-{section.index + 1}"
        names[section.index] = name if name not in taken else f"{group}:@gate-{section.index + 1}"
    return names


def _safe(text: str) -> str:
    return text if _SAFE.fullmatch(text) and not _LIKE_A_SLUG.search(text) else slug(text)
