"""What a run is about: the changes that its selection names, and their chosen tasks as the plans say now."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from baton_runner.base.errors import BatonError, NothingCollected, PlanError, Problems, UsageError
from baton_runner.build.item import Item
from baton_runner.build.selection import Selection, blockers_of, check_targets, chosen_changes, resolved
from baton_runner.build.startable import check_startable
from baton_runner.controller.controller import Controller, RunOptions
from baton_runner.controller.project import Project
from baton_runner.plan.changes import Change
from baton_runner.plan.tasks_md import load_plan

__all__ = ["DEFAULT_WORKERS", "Request", "Scope"]

DEFAULT_WORKERS = 4


@dataclass(frozen=True)
class Request:
    """What the command line says: what to run, how many at a time, when to stop, and what to make of held tasks.

    ``force`` does the selected tasks again (not what they wait for); ``max_failures`` None is no limit; ``agent``
    overrides the policy's kind.
    """

    selection: Selection = field(default_factory=Selection)
    workers: int = DEFAULT_WORKERS
    max_failures: int | None = None
    force: bool = False
    skip_held: bool = False
    agent: str | None = None


class Scope:
    """The chosen tasks of some changes. ``notes`` say where the selection was read otherwise than it was written."""

    def __init__(self, project: Project, request: Request) -> None:
        selection = resolved(request.selection, project.changes, _task_names)
        options = RunOptions(workers=request.workers, skip_held=request.skip_held, agent=request.agent)
        changes = chosen_changes(project.changes, selection.targets)
        controllers = _controllers(project, changes, options)
        check_targets(selection.targets, controllers)
        self.notes: tuple[str, ...] = ()
        if selection.last_failed and not any(selection.tasks(controller) for controller in controllers):
            selection = replace(selection, last_failed=False)
            self.notes = ("no task failed in the last run: all are taken",)
        if request.force:
            for controller in controllers:
                controller.force(frozenset(task.key for task in selection.tasks(controller)))
        self.controllers = tuple(controllers)
        self.selection = selection.pinned(self.controllers)
        self._choose()

    def refresh(self) -> None:
        """Read the plans and all facts again. Raises PlanError or Problems where a plan cannot be built any more."""
        for controller in self.controllers:
            controller.refresh()
        self._choose()

    def recover(self) -> Iterator[str]:
        """Mend what earlier runs left unfinished; a line for each thing that was mended."""
        for controller in self.controllers:
            yield from controller.recover().lines
        self._choose()

    def check_startable(self) -> None:
        """Refuse before anything is paid what cannot end well. Raises PlanError, PolicyError, or Problems of several."""
        found: dict[str, BatonError | None] = {}
        for controller in self.controllers:
            keys = (item.task.key for item in self.items if item.controller is controller)
            found[controller.change.id] = _problem_of_plan(controller, keys)
        _refuse(found)

    def is_whole(self, controller: Controller) -> bool:
        """Whether everything there is of a change was chosen, or is finished anyway."""
        return not self.selection or all(
            controller.assess(task.key).state.finished for task in controller.plan.tasks if not task.follow_up
        )

    def end(self) -> None:
        """Give back what the controllers hold."""
        for controller in self.controllers:
            controller.end()

    def _choose(self) -> None:
        self.items = tuple(
            Item(controller, task)
            for controller in self.controllers
            for task in blockers_of(controller, self.selection.tasks(controller))
        )
        if not self.items:
            raise NothingCollected("no task was selected", todo="see `baton list` for what there is", code="no_match")


def _controllers(project: Project, changes: Iterable[Change], options: RunOptions) -> list[Controller]:
    """A controller for each change. What keeps any of them from being built is raised, for all of them together."""
    controllers: list[Controller] = []
    found: dict[str, BatonError | None] = {}
    for change in changes:
        try:
            controllers.append(Controller(project, change, options))
            found[change.id] = None
        except (PlanError, Problems) as error:
            found[change.id] = error
    _refuse(found)
    return controllers


def _problem_of_plan(controller: Controller, keys: Iterable[str]) -> BatonError | None:
    """What in its plan keeps a change from starting; what is wrong with the policy concerns all, and is raised."""
    try:
        check_startable(controller, keys)
    except (PlanError, Problems) as error:
        return error
    return None


def _refuse(found: dict[str, BatonError | None]) -> None:
    """Raise what is wrong with the plans of some changes, every one of them, and say what can be run nevertheless."""
    wrong = [error for error in found.values() if error is not None]
    if not wrong:
        return
    good = [change for change, error in found.items() if error is None]
    if len(wrong) == 1 and not good:
        raise wrong[0]
    if good:
        wrong.append(UsageError("nothing was started", todo=f"`baton run {' '.join(good)}` runs what is sound"))
    raise Problems(wrong)


def _task_names(change: Change) -> frozenset[str]:
    """The ids and keys of a change's tasks; none where its plan cannot be read: another one may be meant."""
    try:
        plan = load_plan(change.plan_path, change.id, str(change.plan_path))
    except UsageError:
        return frozenset()
    return frozenset(name for task in plan.tasks for name in (task.id, task.key))
