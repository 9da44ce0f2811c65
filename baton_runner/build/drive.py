"""``baton run``: passes over the plans until nothing more can be worked on, then the closing checks.

Each pass reads the plans again, so that an edit made while it runs is taken up. A task that failed is tried again in the
same run only when its text was edited since; so passes end, and there are never more than ``MOST_PASSES``.
"""

from dataclasses import dataclass

from baton_runner.base.errors import BatonError
from baton_runner.build.account import Account
from baton_runner.build.guard import refuse_in_assignment
from baton_runner.build.heading import header
from baton_runner.build.item import Item
from baton_runner.build.report.values import Header, Reporter, RunSummary
from baton_runner.build.scope import Request, Scope
from baton_runner.build.stopping import stop_on_signals
from baton_runner.controller.project import Project
from baton_runner.controller.states import State
from baton_runner.repo.checkout import Seen
from baton_runner.repo.pins import ConfigPins

__all__ = ["MOST_PASSES", "run_changes"]

MOST_PASSES = 50
_SHOWN = 10


def run_changes(project: Project, request: Request, reporter: Reporter) -> RunSummary:
    """Bring what is selected to resolved, as far as that goes without a person.

    Raises UsageError inside an assignment and for a selection that names nothing, NothingCollected when nothing
    matches, PlanError and PolicyError for what cannot start. What fails on the way is in the summary; what ends the
    whole run early is raised after it was told.
    """
    refuse_in_assignment(project)
    with stop_on_signals(project.cancel):
        scope = Scope(project, request)
        try:
            return _Run(project, request, scope, Account(reporter)).run()
        finally:
            scope.end()


@dataclass(frozen=True)
class _Run:
    project: Project
    request: Request
    scope: Scope
    account: Account

    def run(self) -> RunSummary:
        clock, reporter = self.project.clock, self.account.reporter
        started = clock.monotonic()
        self.project.events.listen(reporter.event)
        recovered = tuple(self.scope.recover())
        self.scope.check_startable()
        self.account.begin(self.scope.items)
        reporter.begin(self._header())
        for line in recovered:
            reporter.note(line)
        if any(self._is_workable(item) for item in self.scope.items):
            self._warn_of_wrong_code()
        pins = ConfigPins.take(self.project.repository)
        seen = self._checkout()
        problem = self._work()
        self._warn_of_planted(pins)
        self._warn_of_changes(seen)
        summary = self.account.summary(
            self.scope.items,
            skip_held=self.request.skip_held,
            seconds=clock.monotonic() - started,
            interrupted=self.project.cancel.is_set,
        )
        reporter.end(summary)
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
        for _ in range(MOST_PASSES):
            if self._stops or not any(self._is_workable(item) for item in self.scope.items):
                return
            self._one_pass()
            self.scope.refresh()
        self.account.warn(f"stopped after {MOST_PASSES} passes over the plan; run again to go on")

    def _warn_of_wrong_code(self) -> None:
        from baton_runner.controller.doctor import wrong_code

        for diagnosis in wrong_code(self.project):
            self.account.warn(f"{diagnosis.what}; {diagnosis.todo}")

    def _warn_of_planted(self, pins: ConfigPins) -> None:
        """Report what was written into the configuration that all worktrees share: we never do, and read none of it."""
        changed = pins.changed()
        if changed:
            names = ", ".join(changed)
            self.account.warn(f"git's shared configuration was changed during the run: {names}; look who did, and why")

    def _checkout(self) -> frozenset[Seen]:
        """What is not as committed in the user's checkout; nothing, where no agent will run."""
        busy = any(self._is_workable(item) for item in self.scope.items)
        return self.project.checkout.status() if busy else frozenset()

    def _warn_of_changes(self, seen: frozenset[Seen]) -> None:
        """Name what changed in the user's checkout during the run besides our ticks: they, or an agent that strayed."""
        if not self.account.ends:
            return
        plans = {controller.parts.plan_path for controller in self.scope.controllers}
        paths = sorted({each.path for each in self.project.checkout.status() - seen} - plans)
        if paths:
            more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
            self.account.warn(f"files of your checkout changed during the run: {', '.join(paths[:_SHOWN])}{more}")

    def _one_pass(self) -> None:
        from baton_runner.build.engine import run_pass
        from baton_runner.build.runner import Limits
        from baton_runner.build.watching import AccountWatcher

        most = self.request.max_failures
        run_pass(
            self.scope.controllers,
            {item.identity for item in self.scope.items if not self.account.is_given_up(item)},
            limits=Limits(self.request.workers, None if most is None else most - self.account.failures),
            cancel=self.project.cancel,
            watcher=AccountWatcher(self.account),
        )

    def _is_workable(self, item: Item) -> bool:
        """Whether a task could be worked on now, or is being worked on elsewhere, and was not tried in vain."""
        assessment = item.assessment
        works = assessment.ready or assessment.state is State.RUNNING
        return works and not self.account.is_given_up(item)

    @property
    def _stops(self) -> bool:
        most = self.request.max_failures
        return self.project.cancel.is_set or (most is not None and self.account.failures >= most)

    def _close(self) -> None:
        """The closing check of every change that was run whole, or is finished anyway."""
        for controller in self.scope.controllers:
            if self.project.cancel.is_set or not self.scope.is_whole(controller):
                continue
            closing = controller.close()
            if not self.project.cancel.is_set:
                self.account.closed(controller, closing)

    def _header(self) -> Header:
        return header(
            self.scope.controllers,
            workers=self.request.workers,
            tasks=len(self.scope.items),
            done=len(self.account.kept),
            notes=self.scope.notes,
        )
