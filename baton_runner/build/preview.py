"""``--dry-run``: what a run would do with each chosen task, and why. Reads, decides, writes nothing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from baton_runner.build.guard import refuse_in_assignment
from baton_runner.build.item import Item
from baton_runner.build.report.lines import Verbosity
from baton_runner.build.report.text import one_line, plural
from baton_runner.build.scope import Request, Scope
from baton_runner.controller.project import Project
from baton_runner.controller.states import Need, State

__all__ = ["Plan", "Step", "preview", "preview_lines"]


class Plan(Enum):
    """What a run would do with a task."""

    RUN = "run"
    VERIFY = "verify"
    LATER = "later"
    WAIT = "wait"
    PERSON = "person"
    NOTHING = "up to date"


@dataclass(frozen=True)
class Step:
    """A task, what would be done with it, and why."""

    item: Item
    plan: Plan
    reason: str


def preview(scope: Scope) -> Iterator[Step]:
    """What a run would do, in plan order. Later tasks may turn out otherwise: what they wait for is not done yet."""
    for item in scope.items:
        assessment = item.assessment
        if assessment.need is Need.NOTHING:
            plan = Plan.NOTHING
        elif assessment.need is Need.PERSON:
            plan = Plan.PERSON
        elif assessment.state is State.RUNNING:
            plan = Plan.WAIT
        elif assessment.blockers:
            plan = Plan.LATER
        else:
            plan = Plan.RUN if assessment.need is Need.AGENT else Plan.VERIFY
        yield Step(item, plan, assessment.reason)


def preview_lines(project: Project, request: Request, verbosity: Verbosity) -> Iterator[str]:
    """The answer to ``--dry-run``: a line per task that is not up to date (with ``-v`` those too), and the counts."""
    refuse_in_assignment(project)
    scope = Scope(project, request)
    try:
        scope.check_startable()
        steps = list(preview(scope))
        for note in scope.notes:
            yield one_line(note)
        shown = [step for step in steps if verbosity is Verbosity.VERBOSE or step.plan is not Plan.NOTHING]
        for step in shown if verbosity is not Verbosity.QUIET else ():
            yield one_line(f"{step.plan.value}: {step.item.name} {step.item.task.title} - {step.reason}")
        counts = Counter(step.plan.value for step in steps)
        told = ", ".join(f"{counts[plan.value]} {plan.value}" for plan in Plan if counts[plan.value])
        yield f"{plural(len(steps), 'task')}: {told}"
    finally:
        scope.end()
