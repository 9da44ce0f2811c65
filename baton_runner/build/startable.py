"""What keeps a change from starting, found before anything is paid: the controller's reasons, and agents nobody has.

Who named the agent is who has to mend it: a task in its plan, the command line, or the policy.
"""

from collections.abc import Iterable, Iterator

from baton_runner.agents.registry import KINDS
from baton_runner.base.errors import PlanError, Problems, UsageError
from baton_runner.controller.controller import Controller
from baton_runner.controller.states import Need
from baton_runner.plan.model import Task
from baton_runner.workflow.nearest import nearest

__all__ = ["check_startable", "unknown_agents"]


def check_startable(controller: Controller, keys: Iterable[str]) -> None:
    """Refuse what cannot end well. Raises UsageError, PlanError, PolicyError, or Problems for several tasks."""
    keys = tuple(keys)
    chosen = controller.options.agent
    if chosen is not None and chosen not in KINDS:
        raise UsageError(
            f"{chosen} is no kind of agent", where="--agent", todo=_advice(chosen), code="unsupported_agent_kind"
        )
    tasks = (controller.task(key) for key in keys if controller.assess(key).need is Need.AGENT)
    wrong = tuple(unknown_agents(tasks, controller.plan.path))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else Problems(wrong)
    controller.check_startable(keys)


def unknown_agents(tasks: Iterable[Task], shown: str) -> Iterator[PlanError]:
    """The directives ``agent=`` that name no agent, as errors at their task's line of the plan called ``shown``."""
    for task in tasks:
        kind = task.directives.agent
        if kind is None or task.recipe or kind in KINDS:
            continue
        yield PlanError(
            f"task {task.id} asks for the agent {kind}, which there is not",
            where=f"{shown}:{task.line}",
            todo=_advice(kind),
            code="unsupported_agent_kind",
        )


def _advice(kind: str) -> str:
    near = nearest(kind, KINDS)
    return f"did you mean {near}?" if near else f"use one of {', '.join(KINDS)}"
