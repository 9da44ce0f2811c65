"""Whether doit may skip a task: for ours the controller says so, for the user's doit's own manager."""

from collections.abc import Mapping
from typing import Any

from doit.dependency import DependencyStatus

from baton_runner.build.nodes import Node

__all__ = ["PlanDependency"]


class PlanDependency:
    """Stands before doit's dependency manager. Of our nodes nothing is remembered, looked up or forgotten there."""

    def __init__(self, stock: Any) -> None:
        self._stock = stock

    def __getattr__(self, name: str) -> Any:
        """Everything else is doit's business."""
        return getattr(self._stock, name)

    def get_status(self, task: Any, tasks_dict: Mapping[str, Any], get_log: bool = False) -> Any:
        """``up-to-date`` or ``run``; a group of ours is up to date when its members are."""
        if not isinstance(task, Node):
            return self._stock.get_status(task, tasks_dict, get_log)
        status = DependencyStatus(get_log)
        if not _is_done(task, tasks_dict):
            status.status = "run"
        return status

    def status_is_ignore(self, task: Any) -> Any:
        """Ours cannot be ignored: a person holds them in the plan."""
        return None if isinstance(task, Node) else self._stock.status_is_ignore(task)


def _is_done(node: Node, tasks: Mapping[str, Any]) -> bool:
    if node.work is not None:
        return node.is_done()
    members = [tasks[name] for name in node.task_dep]
    return all(_is_done(member, tasks) for member in members if isinstance(member, Node))
