"""Which tasks of which changes a run is about: targets, ``-k`` and ``--lf``, as values.

A target is ``change``, ``change:id``, a glob of either (``add-*``, ``add-login:1.*``), or a bare ``id`` where one change
alone has it. Without a target every open change is meant. What a selected task waits for runs too, as in doit.
"""

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from baton_runner.base.errors import NothingCollected, UsageError
from baton_runner.build.expression import parse_expression
from baton_runner.controller.controller import Controller
from baton_runner.plan.changes import Change, select_change
from baton_runner.plan.model import Task
from baton_runner.workflow.nearest import nearest

__all__ = ["Selection", "blockers_of", "check_targets", "chosen_changes", "resolved"]


@dataclass(frozen=True)
class Selection:
    """What the command line asks for. ``failed`` are the (change, key) that ``last_failed`` means, once they are known."""

    targets: tuple[str, ...] = ()
    expression: str = ""
    last_failed: bool = False
    failed: frozenset[tuple[str, str]] | None = None

    def __bool__(self) -> bool:
        """Whether it is less than everything."""
        return bool(self.targets or self.expression or self.last_failed)

    def tasks(self, controller: Controller) -> tuple[Task, ...]:
        """The tasks of one change that are asked for by name, in plan order; follow-ups only when a target names them."""
        change = controller.change.id
        patterns = [pattern for pattern in (_pattern(target, change) for target in self.targets) if pattern is not None]
        wanted = parse_expression(self.expression) if self.expression else None
        return tuple(
            task
            for task in controller.plan.tasks
            if _is_target(task, patterns, everything=not self.targets)
            and (wanted is None or wanted(f"{task.name(change)} {task.title}"))
            and (not self.last_failed or self._failed(controller, task))
        )

    def pinned(self, controllers: Sequence[Controller]) -> "Selection":
        """The same selection, where what failed before is what had failed now: a run that mends it goes on with it."""
        if not self.last_failed:
            return self
        failed = {(each.change.id, task.key) for each in controllers for task in self.tasks(each)}
        return replace(self, failed=frozenset(failed))

    def _failed(self, controller: Controller, task: Task) -> bool:
        if self.failed is not None:
            return (controller.change.id, task.key) in self.failed
        return controller.facts(task.key).failure is not None


def resolved(
    selection: Selection, changes: Sequence[Change], names_of: Callable[[Change], frozenset[str]]
) -> Selection:
    """The same selection with every bare task id written as ``change:id``; ``names_of`` gives the task ids of a change.

    Where there is one change, it is meant. Raises UsageError where several have a task with that id.
    """
    return replace(selection, targets=tuple(_in_full(target, changes, names_of) for target in selection.targets))


def _in_full(target: str, changes: Sequence[Change], names_of: Callable[[Change], frozenset[str]]) -> str:
    if ":" in target or any(_pattern(target, change.id) is not None for change in changes):
        return target
    if len(changes) == 1:
        return f"{changes[0].id}:{target}"
    found = [change.id for change in changes if target in names_of(change)]
    if len(found) > 1:
        names = " or ".join(f"{change}:{target}" for change in found)
        raise UsageError(f"several changes have a task {target}", todo=f"say {names}", code="several_changes")
    return f"{found[0]}:{target}" if found else target


def chosen_changes(changes: Sequence[Change], targets: Sequence[str]) -> tuple[Change, ...]:
    """The changes that the targets name, in the order of ``changes``; all of them without a target.

    Raises NothingCollected when there is no change, UsageError when a target names none.
    """
    if not changes:
        select_change((), None)
    if not targets:
        return tuple(changes)
    chosen: set[str] = set()
    for target in targets:
        named = [change.id for change in changes if _pattern(target, change.id) is not None]
        if not named:
            select_change(tuple(changes), target.partition(":")[0])
        chosen.update(named)
    return tuple(change for change in changes if change.id in chosen)


def check_targets(targets: Iterable[str], controllers: Sequence[Controller]) -> None:
    """Refuse a target that matches no task of the chosen changes: UsageError for a name, NothingCollected for a glob."""
    for target in targets:
        found = [
            task
            for controller in controllers
            for pattern in [_pattern(target, controller.change.id)]
            for task in controller.plan.tasks
            if pattern is not None and _is_target(task, [pattern], everything=False)
        ]
        if found:
            continue
        if not any(sign in target for sign in "*?["):
            raise _unknown(target, controllers)
        raise NothingCollected(f"no task matches {target}", todo="see `baton list` for what there is", code="no_match")


def _unknown(target: str, controllers: Sequence[Controller]) -> UsageError:
    """The error for a name that neither a change nor a task has."""
    change, _, id_ = target.rpartition(":")
    ids = [task.id for controller in controllers for task in controller.plan.tasks]
    near = nearest(id_, [*ids, *(controller.change.id for controller in controllers)])
    advice = f"did you mean {near}?" if near else "see `baton list` for what there is"
    where = f"change {change}" if change else ""
    return UsageError(f"there is no task or change {id_}", where=where, todo=advice, code="unknown_target")


def blockers_of(controller: Controller, tasks: Iterable[Task]) -> tuple[Task, ...]:
    """These tasks and all that they wait for, in plan order."""
    plan, order = controller.plan, controller.order
    keys: set[str] = set()
    sections: set[int] = set()
    pending = list(tasks)
    while pending:
        task = pending.pop()
        if task.key in keys:
            continue
        keys.add(task.key)
        pending += [plan.by_key[key] for key in order.edges.get(task.key, ())]
        gates = list(order.after.get(task.section, ()))
        while gates:
            index = gates.pop()
            if index not in sections:
                sections.add(index)
                gates += order.after.get(index, ())
                pending += [each for each in plan.sections[index].tasks if not (each.optional or each.follow_up)]
    return tuple(task for task in plan.tasks if task.key in keys)


def _pattern(target: str, change: str) -> str | None:
    """The pattern of task ids that a target means in a change (``*`` for all), None when it is about other changes."""
    name, colon, ids = target.partition(":")
    if target == change:
        return "*"
    if fnmatch.fnmatchcase(change, name):
        return ids if colon else "*"
    return None


def _is_target(task: Task, patterns: Iterable[str], *, everything: bool) -> bool:
    if everything:
        return not task.follow_up
    return any(
        (fnmatch.fnmatchcase(task.id, pattern) and (pattern != "*" or not task.follow_up))
        or pattern in {task.id, task.key}
        for pattern in patterns
    )
