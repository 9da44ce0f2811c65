"""``baton run``: passes over the plans until nothing more can be worked on, then the closing checks.

Each pass reads the plans again, so that an edit made while it runs is taken up. A task that failed is tried again in the
same run only when its text was edited since; so passes end, and there are never more than ``MOST_PASSES``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from baton_runner.base.errors import BatonError, NothingCollected
from baton_runner.build.guard import refuse_in_assignment
from baton_runner.build.report.values import ClosingEnd, Header, Reporter, RunSummary, TaskEnd, Unfinished
from baton_runner.build.selection import Selection, blockers_of, check_targets, chosen_changes, resolved
from baton_runner.build.stopping import stop_on_signals
from baton_runner.controller.controller import Controller, RunOptions
from baton_runner.controller.project import Project
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.states import Assessment, Need, State
from baton_runner.plan.model import Mark, Task

__all__ = ["DEFAULT_WORKERS", "MOST_PASSES", "Request", "open_controllers", "run_changes"]

DEFAULT_WORKERS = 4
MOST_PASSES = 50

_PERSON = {State.HELD: "held", State.MANUAL: "manual", State.DUPLICATE: "duplicate"}


@dataclass(frozen=True)
class Request:
    """What the command line says: what to run, how many at a time, when to stop, and what to make of held tasks."""

    selection: Selection = field(default_factory=Selection)
    workers: int = DEFAULT_WORKERS
    max_failures: int | None = None
    force: bool = False
    skip_held: bool = False
    agent: str | None = None


def run_changes(project: Project, request: Request, reporter: Reporter) -> RunSummary:
    """Bring what is selected to resolved, as far as that goes without a person.

    Raises UsageError inside an assignment or for a selection that names nothing, NothingCollected when nothing matches,
    PlanError and PolicyError for what cannot start. What fails on the way is in the summary.
    """
    refuse_in_assignment(project)
    with stop_on_signals(project.cancel):
        controllers = open_controllers(project, request)
        try:
            return _Run(project, request, controllers, reporter).run()
        finally:
            for controller in controllers:
                controller.end()


def open_controllers(project: Project, request: Request) -> tuple[Controller, ...]:
    """The controllers of the changes that a request is about, with its options; nothing is mended or written."""
    selection = resolved(request.selection, project.changes)
    options = RunOptions(workers=request.workers, skip_held=request.skip_held, agent=request.agent)
    controllers = [
        Controller(project, change, options) for change in chosen_changes(project.changes, selection.targets)
    ]
    check_targets(selection.targets, controllers)
    if request.force:
        controllers = [_forced(controller, selection) for controller in controllers]
    return tuple(controllers)


def _forced(controller: Controller, selection: Selection) -> Controller:
    forced = frozenset(task.key for task in selection.tasks(controller))
    return Controller(controller.project, controller.change, replace(controller.options, forced=forced))


@dataclass
class _Run:
    project: Project
    request: Request
    controllers: tuple[Controller, ...]
    reporter: Reporter
    ends: dict[tuple[str, str], TaskEnd] = field(default_factory=dict)
    closings: list[ClosingEnd] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tried: dict[tuple[str, str], str] = field(default_factory=dict)
    kept: int = 0

    def run(self) -> RunSummary:
        clock = self.project.clock
        started = clock.monotonic()
        self.project.events.listen(self.reporter.event)
        for controller in self.controllers:
            for line in controller.recover().lines:
                self._warn(line)
        self.selection = self._selection()
        chosen = {controller: self._chosen(controller) for controller in self.controllers}
        if not any(chosen.values()):
            raise NothingCollected("no task was selected", todo="see `baton list` for what there is", code="no_match")
        for controller, tasks in chosen.items():
            controller.check_startable(task.key for task in tasks)
        self.kept = sum(1 for controller, tasks in chosen.items() for task in tasks if _finished(controller, task))
        self.reporter.begin(self._header(sum(map(len, chosen.values()))))
        problem = self._work()
        summary = self._summary(clock.monotonic() - started)
        self.reporter.end(summary)
        if problem is not None:
            raise problem
        return summary

    def _work(self) -> BatonError | None:
        """All passes and the closing checks. What ends them early is returned, so that the summary comes first."""
        try:
            self._passes()
            self._close()
        except BatonError as error:
            return error
        return None

    def _passes(self) -> None:
        for number in range(1, MOST_PASSES + 1):
            frontier = list(self._frontier())
            if not frontier or self._stops:
                return
            self._one_pass()
            for controller in self.controllers:
                controller.refresh()
            if number == MOST_PASSES:
                self._warn(f"stopped after {MOST_PASSES} passes over the plan; run again to go on")

    def _one_pass(self) -> None:
        from baton_runner.build.engine import run_pass
        from baton_runner.build.runner import Limits

        failures = self.request.max_failures
        chosen = [
            (controller.change.id, task.key)
            for controller in self.controllers
            for task in self._chosen(controller)
            if not self._given_up(controller, task)
        ]
        run_pass(
            self.controllers,
            chosen,
            limits=Limits(self.request.workers, None if failures is None else failures - self._failures),
            cancel=self.project.cancel,
            watcher=_Watch(self),
        )

    def _frontier(self) -> Iterator[Task]:
        """What could be worked on now, or is being worked on elsewhere, and was not tried in vain."""
        for controller in self.controllers:
            for task in self._chosen(controller):
                assessment = controller.assess(task.key)
                works = assessment.ready or assessment.state is State.RUNNING
                if works and not self._given_up(controller, task):
                    yield task

    def _given_up(self, controller: Controller, task: Task) -> bool:
        name = (controller.change.id, task.key)
        return self.tried.get(name) == controller.definition_digest(task.key)

    @property
    def _failures(self) -> int:
        return sum(1 for end in self.ends.values() if end.failed)

    @property
    def _stops(self) -> bool:
        limit = self.request.max_failures
        return self.project.cancel.is_set or (limit is not None and self._failures >= limit)

    def _close(self) -> None:
        """The closing check of every change that was run whole, or is finished anyway."""
        for controller in self.controllers:
            whole = not self.selection or all(
                _finished(controller, task) for task in controller.plan.tasks if not task.follow_up
            )
            if self.project.cancel.is_set or not whole:
                continue
            closing = controller.close()
            if not self.project.cancel.is_set:
                self.closings.append(ClosingEnd(controller.change.id, closing))

    # -- what is told

    def note_end(self, controller: Controller, task: Task, result: Result) -> None:
        """A task came to an end in a pass."""
        name = (controller.change.id, task.key)
        if not result.verdict.good:
            self.tried[name] = controller.definition_digest(task.key)
        if result.verdict in {Verdict.PERSON, Verdict.BLOCKED}:
            return  # what the run leaves undone is told in the end, with its reason then
        end = TaskEnd(task.name(controller.change.id), task.title, result)
        self.ends[name] = end
        self.reporter.task_ended(end)

    def note_waiting(self, controller: Controller, task: Task, result: Result) -> None:
        """Another process has a task."""
        self.reporter.note(f"{task.name(controller.change.id)} waits: {result.message}")

    def _warn(self, text: str) -> None:
        self.warnings.append(text)
        self.reporter.note(text)

    def _header(self, tasks: int) -> Header:
        bases = []
        for controller in self.controllers:
            base = controller.parts.branch.base()
            name = base.base_branch.removeprefix("refs/heads/") if base and base.base_branch else "HEAD"
            bases.append(f"{name} at {base.base_commit[:8] if base else controller.parts.branch.head()[:8]}")
        agent = self.request.agent or self.project.policy.settings.agent.kind or "none"
        notes = (
            ["no task failed in the last run: all are taken"] if self.selection is not self.request_selection else []
        )
        return Header(
            tuple(controller.change.id for controller in self.controllers),
            tuple(bases),
            agent,
            self.request.workers,
            tasks,
            self.kept,
            tuple(notes),
        )

    def _summary(self, seconds: float) -> RunSummary:
        plan_warnings = [warning for controller in self.controllers for warning in controller.plan.warnings]
        return RunSummary(
            ends=tuple(self.ends.values()),
            closings=tuple(self.closings),
            unfinished=tuple(self._unfinished()),
            kept=self.kept,
            warnings=(*plan_warnings, *self.warnings),
            seconds=seconds,
            interrupted=self.project.cancel.is_set,
        )

    def _unfinished(self) -> Iterator[Unfinished]:
        for controller in self.controllers:
            for task in self._chosen(controller):
                name = (controller.change.id, task.key)
                assessment = controller.assess(task.key)
                if assessment.state.finished or name in self.ends or not self._matters(task):
                    continue
                yield Unfinished(task.name(controller.change.id), task.title, _word(assessment), assessment.reason)

    def _matters(self, task: Task) -> bool:
        """Whether the run is incomplete without this task."""
        return not task.optional and not (self.request.skip_held and task.mark is Mark.HELD)

    # -- what is chosen

    def _selection(self) -> Selection:
        selection = resolved(self.request.selection, self.project.changes)
        self.request_selection = selection
        if selection.last_failed and not any(selection.tasks(controller) for controller in self.controllers):
            return replace(selection, last_failed=False)
        return selection

    def _chosen(self, controller: Controller) -> tuple[Task, ...]:
        """The selected tasks of a change and what they wait for, as its plan says now."""
        return blockers_of(controller, self.selection.tasks(controller))


@dataclass(frozen=True)
class _Watch:
    """Turns what the runner tells of nodes into what a run tells of tasks; gates are no news."""

    run: _Run

    def current(self, node: object) -> None:
        """Nothing is said of what was done before."""

    def waiting(self, node: object, result: Result) -> None:
        found = _task_of(node)
        if found:
            self.run.note_waiting(*found, result)

    def ended(self, node: object, result: Result) -> None:
        found = _task_of(node)
        if found:
            self.run.note_end(*found, result)


def _task_of(node: object) -> tuple[Controller, Task] | None:
    work = getattr(node, "work", None)
    task = getattr(work, "task", None)
    return (work.controller, task) if work is not None and task is not None else None


def _finished(controller: Controller, task: Task) -> bool:
    return controller.assess(task.key).state.finished


def _word(assessment: Assessment) -> str:
    if assessment.state in _PERSON:
        return _PERSON[assessment.state]
    return "blocked" if assessment.blockers else "not run" if assessment.need is not Need.PERSON else "needs a person"
