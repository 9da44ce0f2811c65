"""What a run is about, put together for its reporters."""

from collections.abc import Sequence

from baton_runner.build.report.values import Header
from baton_runner.controller.controller import Controller

__all__ = ["header"]


def header(
    controllers: Sequence[Controller], *, workers: int, tasks: int, done: int, notes: tuple[str, ...] = ()
) -> Header:
    """The header of a run over some changes of one project; there is at least one."""
    project, options = controllers[0].project, controllers[0].options
    return Header(
        changes=tuple(controller.change.id for controller in controllers),
        bases=tuple(_base(controller) for controller in controllers),
        agent=options.agent or project.policy.settings.agent.kind or "none",
        workers=workers,
        tasks=tasks,
        done=done,
        notes=notes,
        titles={
            (controller.change.id, task.key): f"{task.name(controller.change.id)} {task.title}"
            for controller in controllers
            for task in controller.plan.tasks
        },
    )


def _base(controller: Controller) -> str:
    """Where a change started, or would start now."""
    branch = controller.parts.branch
    base = branch.base()
    name = base.base_branch if base else controller.project.repository.head_branch()
    commit = base.base_commit if base else branch.head()
    return f"{name.removeprefix('refs/heads/') if name else 'a detached HEAD'} at {commit[:8]}"
