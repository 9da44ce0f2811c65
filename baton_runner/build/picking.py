"""Which tasks of a dodo file a command line of doit is about: by name, pattern or target, and what they wait for."""

import fnmatch
from collections.abc import Iterable, Sequence
from typing import Any

from baton_runner.build.nodes import Node

__all__ = ["default_names", "picked", "with_dependencies"]


def default_names(tasks: Sequence[Any]) -> list[str] | None:
    """What bare ``doit`` runs: the user's own tasks where there are any, else everything (None)."""
    users = [task.name for task in tasks if not isinstance(task, Node)]
    return users or None


def picked(tasks: Sequence[Any], words: Iterable[str] | None) -> list[Any]:
    """The tasks that words of a command line name; None means all. Options of tasks and unknown words name none."""
    if words is None:
        return list(tasks)
    by_name = {task.name: task for task in tasks}
    by_target = {target: task for task in tasks for target in task.targets}
    found: dict[str, Any] = {}
    for word in words:
        if "*" in word:
            found |= {name: task for name, task in by_name.items() if fnmatch.fnmatch(name, word)}
        elif (task := by_name.get(word) or by_target.get(word)) is not None:
            found[task.name] = task
    return list(found.values())


def with_dependencies(tasks: Sequence[Any], chosen: Iterable[Any]) -> list[Any]:
    """These tasks and all that they wait for, in the order of the file."""
    by_name = {task.name: task for task in tasks}
    by_target = {target: task.name for task in tasks for target in task.targets}
    reached: set[str] = set()
    pending = [task.name for task in chosen]
    while pending:
        name = pending.pop()
        if name in reached or name not in by_name:
            continue
        reached.add(name)
        task = by_name[name]
        pending += [*task.task_dep, *task.setup_tasks, *task.calc_dep]
        pending += [by_target[path] for path in task.file_dep if path in by_target]
    return [task for task in tasks if task.name in reached]
