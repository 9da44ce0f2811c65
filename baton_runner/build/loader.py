"""How doit comes by our nodes: from a line in a user's dodo.py, or as doit's task loader where there is none.

A plan or policy that cannot be read becomes a node that fails with the reason, so that the user's own tasks in the same
dodo.py stay what they are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doit.cmd_base import TaskLoader2

from baton_runner.base.errors import BatonError
from baton_runner.build.names import EVERYTHING, change_name
from baton_runner.build.nodes import Node, project
from baton_runner.build.scope import DEFAULT_WORKERS
from baton_runner.build.works import BrokenWork
from baton_runner.controller.controller import Controller, RunOptions
from baton_runner.controller.project import Project
from baton_runner.plan.changes import Change

__all__ = ["DOIT_CONFIG", "PlanLoader", "nodes_of", "task_baton"]

DOIT_CONFIG: dict[str, Any] = {
    "backend": "baton",
    "continue": True,
    "num_process": DEFAULT_WORKERS,
    "par_type": "thread",
    "sort": "definition",
}
"""For a dodo.py that holds nothing but plans: work on what can be worked on, several tasks at a time, no database."""


def task_baton() -> Iterator[Node]:
    """The open changes of the repository around the dodo file, as doit tasks."""
    yield from nodes_of(Path.cwd())


def nodes_of(folder: Path) -> list[Node]:
    """The nodes of every open change of the repository around a folder, under one group of all."""
    try:
        opened = Project.open(folder)
        changes = opened.changes
    except BatonError as error:
        return [Node(EVERYTHING, BrokenWork(error), doc=str(error))]
    nodes: list[Node] = []
    for change in changes:
        nodes += _nodes(opened, change)
    groups = [change_name(change.id) for change in changes]
    if EVERYTHING in groups:
        return nodes
    return [Node(EVERYTHING, None, doc="every open change", task_dep=groups), *nodes]


def _nodes(opened: Project, change: Change) -> list[Node]:
    try:
        return project(Controller(opened, change, RunOptions(workers=DEFAULT_WORKERS)))
    except BatonError as error:
        return [Node(change_name(change.id), BrokenWork(error), doc=str(error))]


class PlanLoader(TaskLoader2):  # type: ignore[misc] # doit is untyped
    """doit's task loader for a repository without a dodo.py: ``loader = "baton"`` under ``[tool.doit]``."""

    def load_doit_config(self) -> dict[str, Any]:
        """Our defaults; what the user set in pyproject.toml wins."""
        chosen = self.config.get("GLOBAL", {}) if self.config else {}
        return {name: value for name, value in DOIT_CONFIG.items() if name not in chosen}

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Node]:  # noqa: ARG002 - doit's signature
        """The nodes of every open change."""
        return nodes_of(Path.cwd())
