"""A task of a plan together with the controller that decides on it: what a run chooses, works on and tells of."""

from dataclasses import dataclass

from baton_runner.controller.controller import Controller
from baton_runner.controller.states import Assessment
from baton_runner.plan.model import Task

__all__ = ["Item"]


@dataclass(frozen=True)
class Item:
    """A chosen task with the controller of its change."""

    controller: Controller
    task: Task

    @property
    def change(self) -> str:
        """The id of its change."""
        return self.controller.change.id

    @property
    def identity(self) -> tuple[str, str]:
        """Change and key: what it is across readings of the plan."""
        return self.change, self.task.key

    @property
    def name(self) -> str:
        """``<change>:<id>``."""
        return self.task.name(self.change)

    @property
    def assessment(self) -> Assessment:
        """Its state now."""
        return self.controller.assess(self.task.key)

    @property
    def finished(self) -> bool:
        """Whether dependants may rely on it."""
        return self.assessment.state.finished

    @property
    def definition(self) -> str:
        """The digest of what it asks for now."""
        return self.controller.definition_digest(self.task.key)
