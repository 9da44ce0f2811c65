"""The list: every change with its sections, tasks and states, as one value: the interface behind ``baton list --json``.

Reads files and refs; takes no lock and waits for nobody (promise 8).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from baton_runner.base.errors import UsageError
from baton_runner.controller.controller import Controller
from baton_runner.controller.project import Project
from baton_runner.controller.states import Assessment, State
from baton_runner.plan.changes import Change
from baton_runner.plan.model import Counts, Section, Step, Task

__all__ = ["ListedChange", "ListedSection", "ListedTask", "list_change", "list_changes"]

_NO_COUNTS = Counts(0, 0, 0, 0)


@dataclass(frozen=True)
class ListedTask:
    """A task and what it is now."""

    task: Task
    assessment: Assessment
    verify: tuple[str, ...]

    @property
    def state(self) -> State:
        """Its state."""
        return self.assessment.state

    def to_json(self) -> dict[str, Any]:
        """As the interface says; ``blockers`` are the ids of what it waits for now."""
        return {
            "id": self.task.id,
            "title": self.task.title,
            "line": self.task.line,
            "state": self.state.value,
            "steps": [_step(step) for step in self.task.steps],
            "blockers": list(self.assessment.blockers),
            "run": list(self.task.recipe),
            "verify": list(self.verify),
        }


@dataclass(frozen=True)
class ListedSection:
    """A section with its tasks."""

    section: Section
    tasks: tuple[ListedTask, ...]

    def to_json(self) -> dict[str, Any]:
        """As the interface says; ``number`` is null where the heading has none."""
        tasks = [task.to_json() for task in self.tasks]
        return {"number": self.section.number, "title": self.section.title, "tasks": tasks}


@dataclass(frozen=True)
class ListedChange:
    """A change. ``error`` says why its plan cannot be built; it has no sections then."""

    id: str
    path: str
    counts: Counts = _NO_COUNTS
    sections: tuple[ListedSection, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""

    @property
    def tasks(self) -> tuple[ListedTask, ...]:
        """Every task, in plan order."""
        return tuple(task for section in self.sections for task in section.tasks)

    def to_json(self) -> dict[str, Any]:
        """As the interface says; counts are those of OpenSpec; ``error`` is there only when there is one."""
        counts = self.counts
        value: dict[str, Any] = {
            "id": self.id,
            "path": self.path,
            "counts": {"total": counts.total, "done": counts.done, "held": counts.held, "open": counts.open},
            "sections": [section.to_json() for section in self.sections],
        }
        return {**value, "error": self.error} if self.error else value


def list_changes(project: Project, changes: tuple[Change, ...]) -> Iterator[ListedChange]:
    """The list of these changes; one whose plan is broken does not hide the others."""
    for change in changes:
        try:
            yield list_change(Controller(project, change))
        except UsageError as error:
            path = change.plan_path.relative_to(project.top).as_posix()
            yield ListedChange(change.id, path, error=str(error))


def list_change(controller: Controller) -> ListedChange:
    """The list of one change."""
    states, plan = controller.states(), controller.plan
    sections = []
    for section in plan.sections:
        listed = (
            ListedTask(task, states[task.key], tuple(check.command for check in controller.checks(task)))
            for task in section.tasks
        )
        sections.append(ListedSection(section, tuple(listed)))
    return ListedChange(controller.change.id, plan.path, plan.counts, tuple(sections), plan.warnings)


def _step(step: Step) -> dict[str, Any]:
    return {"text": step.text, "line": step.box.line, "state": step.box.mark.value}
