"""One pass of doit over the nodes of some changes: project, choose, run. The graph is what the plans say at its start."""

from collections.abc import Collection, Iterable

from doit.control import TaskControl
from doit.reporter import ZeroReporter

from baton_runner.base.cancel import Cancel
from baton_runner.build.nodes import Node, project
from baton_runner.build.projection import write_projection
from baton_runner.build.runner import Limits, PlanRunner, Watcher
from baton_runner.controller.controller import Controller

__all__ = ["run_pass"]


class _NoDatabase:
    """What doit remembers of our nodes: nothing, receipts do."""

    def close(self) -> None:
        """There is nothing to write."""


def run_pass(
    controllers: Iterable[Controller],
    chosen: Collection[tuple[str, str]],
    *,
    limits: Limits,
    cancel: Cancel,
    watcher: Watcher,
) -> None:
    """Run the tasks ``chosen`` as (change, key), and what they wait for; return when nothing more can start."""
    nodes: list[Node] = []
    for controller in controllers:
        write_projection(controller)
        nodes += project(controller)
    control = TaskControl(nodes)
    control.process([node.name for node in nodes if node.item is not None and node.item.identity in chosen])
    runner = PlanRunner(_NoDatabase(), ZeroReporter(None, {}), limits=limits, cancel=cancel, watcher=watcher)
    runner.run_all(control.task_dispatcher())
