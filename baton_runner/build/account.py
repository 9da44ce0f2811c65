"""What a run has done so far: the ends of its tasks, what was tried in vain, the closing checks; in the end, its summary."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from baton_runner.build.item import Item
from baton_runner.build.report.values import NOT_RUN, ClosingEnd, Named, Reporter, RunSummary, TaskEnd, Unfinished
from baton_runner.controller.closing import Closing
from baton_runner.controller.controller import Controller
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.states import Assessment, Need, State
from baton_runner.plan.model import Mark, Task

__all__ = ["Account"]

_PERSON = {State.HELD: "held", State.MANUAL: "manual", State.DUPLICATE: "duplicate"}


@dataclass
class Account:
    """The state of one run. Used from the thread that drives it."""

    reporter: Reporter
    kept: dict[tuple[str, str], Named] = field(default_factory=dict)
    ends: dict[tuple[str, str], TaskEnd] = field(default_factory=dict)
    closings: list[ClosingEnd] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tried: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """How many tasks were tried and failed."""
        return sum(1 for end in self.ends.values() if end.failed)

    def begin(self, items: Iterable[Item]) -> None:
        """Note what is done before anything starts."""
        self.kept = {
            item.identity: Named(item.change, item.task.id, item.task.title) for item in items if item.finished
        }

    def warn(self, text: str) -> None:
        """Say something now, and again in the end."""
        self.warnings.append(text)
        self.reporter.note(text)

    def ended(self, item: Item, result: Result) -> None:
        """A task came to an end. What waits for a person or another task is told in the end, with its reason then."""
        if result.verdict is Verdict.EDITED:
            return  # nothing was tried: the next pass reads the plan again
        if not result.verdict.good:
            self.tried[item.identity] = item.definition
        if result.verdict not in {Verdict.PERSON, Verdict.BLOCKED}:
            self.kept.pop(item.identity, None)
            self.ends[item.identity] = TaskEnd(item.task.id, item.task.title, result)
            self.reporter.task_ended(self.ends[item.identity])

    def closed(self, controller: Controller, closing: Closing) -> None:
        """The closing check of a change came to an end."""
        self.closings.append(ClosingEnd(controller.change.id, closing))

    def is_given_up(self, item: Item) -> bool:
        """Whether this run tried a task in vain, as its text still is."""
        return self.tried.get(item.identity) == item.definition

    def summary(self, items: Sequence[Item], *, skip_held: bool, seconds: float, interrupted: bool) -> RunSummary:
        """The run over these tasks, in the end."""
        controllers = dict.fromkeys(item.controller for item in items)
        plan_warnings = [warning for controller in controllers for warning in controller.plan.warnings]
        return RunSummary(
            ends=tuple(self.ends.values()),
            closings=tuple(self.closings),
            unfinished=tuple(self._unfinished(items, skip_held=skip_held, interrupted=interrupted)),
            kept=tuple(self.kept.values()),
            warnings=(*plan_warnings, *self.warnings),
            seconds=seconds,
            interrupted=interrupted,
        )

    def _unfinished(self, items: Iterable[Item], *, skip_held: bool, interrupted: bool) -> Iterator[Unfinished]:
        for item in items:
            assessment = item.assessment
            if assessment.state.finished or item.identity in self.ends:
                continue
            word, reason = _word(assessment), assessment.reason
            if word == NOT_RUN:
                ended = "was interrupted" if interrupted else "ended"
                reason = f"the run {ended} before its turn ({reason})"
            needed = _matters(item.task, skip_held=skip_held)
            yield Unfinished(item.change, item.task.id, item.task.title, word, reason, needed)


def _matters(task: Task, *, skip_held: bool) -> bool:
    """Whether a run is incomplete without a task."""
    return not task.optional and not (skip_held and task.mark is Mark.HELD)


def _word(assessment: Assessment) -> str:
    if assessment.state in _PERSON:
        return _PERSON[assessment.state]
    if assessment.blockers:
        return "blocked"
    return "needs a person" if assessment.need is Need.PERSON else NOT_RUN
