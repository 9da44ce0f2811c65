"""Where a command works: a folder, the project around it, and the change or task that its words name.

``@command`` makes a click command that takes a :class:`Place` first and the option ``-C PATH``, behind the command's
name as well as before it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baton_runner.base.errors import NothingCollected, PlanError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from baton_runner.controller.controller import Controller
    from baton_runner.controller.project import Project
    from baton_runner.plan.changes import Change
    from baton_runner.plan.model import Task

__all__ = ["CHANGE", "TASK", "Place", "command"]


@dataclass(frozen=True)
class Place:
    """A folder of a repository, and the environment."""

    folder: Path
    environ: Mapping[str, str]

    @cached_property
    def project(self) -> "Project":
        """The project around the folder."""
        from baton_runner.controller.project import Project

        return Project.open(self.folder, self.environ)

    def refuse_in_assignment(self) -> None:
        """UsageError where an agent calls: refs and records are the user's, and so are decisions about them."""
        from baton_runner.build.guard import refuse_in_assignment

        refuse_in_assignment(self.project)

    def change(self, name: str | None) -> "Change":
        """The change with this name, or the only one there is."""
        from baton_runner.plan.changes import select_change

        return select_change(self.project.changes, name)

    def controller(self, name: str | None) -> "Controller":
        """The controller of a change."""
        from baton_runner.controller.controller import Controller

        return Controller(self.project, self.change(name))

    def task(self, name: str) -> "tuple[Controller, Task]":
        """The task called ``<change>:<id>``, or ``<id>`` where one change alone has it.

        UsageError says what was probably meant; NothingCollected that there is no change at all.
        """
        change, colon, id_ = name.rpartition(":")
        if colon:
            controller = self.controller(change)
            return controller, _task_in(controller, id_)
        if len(self.project.changes) < 2:  # noqa: PLR2004 - one or none: no doubt which is meant
            controller = self.controller(None)
            return controller, _task_in(controller, name)
        return self._task_of_any(name)

    def close(self) -> None:
        """Give back what a command opened."""
        project = vars(self).get("project")
        if project is not None and "database" in vars(project):
            project.database.close()

    def _task_of_any(self, id_: str) -> "tuple[Controller, Task]":
        ids = [change.id for change in self.project.changes]
        found = []
        for change in ids:
            controller = self._readable(change)
            if controller is not None and any(id_ in (task.id, task.key) for task in controller.plan.tasks):
                found.append(controller)
        if len(found) == 1:
            return found[0], _task_in(found[0], id_)
        if found:
            names = " or ".join(f"{controller.change.id}:{id_}" for controller in found)
            raise UsageError(f"several changes have a task {id_}", todo=f"say {names}", code="several_changes")
        raise UsageError(
            f"no change has a task {id_}",
            todo=f"name it <change>:<id>; the changes are {', '.join(ids)}",
            code="unknown_task",
        )

    def _readable(self, change: str) -> "Controller | None":
        """The controller of a change, None where its plan is broken: another one may be meant."""
        try:
            return self.controller(change)
        except UsageError:
            return None


def _task_in(controller: "Controller", id_: str) -> "Task":
    from baton_runner.workflow.nearest import nearest

    try:
        return controller.plan.task(id_)
    except PlanError:
        raise
    except NothingCollected as error:
        near = nearest(id_, [task.id for task in controller.plan.tasks])
        todo = f"did you mean {near}?" if near else error.todo
        raise UsageError(error.what, where=error.where, todo=todo, code="unknown_task") from error


def command(**settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of ours: the function's first parameter is the place, the others are its options and arguments."""

    def make(function: Callable[..., Any]) -> click.Command:
        def call(folder: Path | None, **values: Any) -> Any:
            context = click.get_current_context()
            start: Path = context.find_object(Path) or Path()
            place = Place((start / (folder or ".")).absolute(), os.environ)
            try:
                return function(place, **values)
            finally:
                place.close()

        call.__doc__ = function.__doc__
        call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        there = click.option("-C", "folder", type=click.Path(path_type=Path), metavar="PATH", hidden=True)
        made: click.Command = click.command(cls=_Command, **settings)(there(call))
        return made

    return make


class _Command(click.Command):
    """A command whose errors of usage all name it: some that the parser finds do not know where they arose."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class _Name(click.ParamType[str]):
    """A name that a shell can complete: what cannot be read offers nothing."""

    def __init__(self, name: str, known: "Callable[[Place], list[str]]") -> None:
        self.name = name
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        from click.shell_completion import CompletionItem

        from baton_runner.base.errors import BatonError

        start: Path = ctx.find_object(Path) or Path()
        try:
            known = self._known(Place(start / (ctx.params.get("folder") or "."), os.environ))
        except BatonError:
            return []  # a shell that completes is no place for messages
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]


def _change_names(place: Place) -> list[str]:
    return [change.id for change in place.project.changes]


def _task_names(place: Place) -> list[str]:
    from baton_runner.plan.tasks_md import load_plan

    changes = place.project.changes
    plans = [load_plan(change.plan_path, change.id, str(change.plan_path)) for change in changes]
    short = [task.id for plan in plans for task in plan.tasks] if len(plans) == 1 else []
    return [*short, *(task.name(plan.change) for plan in plans for task in plan.tasks)]


CHANGE = _Name("change", _change_names)
"""The name of a change."""
TASK = _Name("task", _task_names)
"""The name of a task: ``<change>:<id>``, or its id."""
