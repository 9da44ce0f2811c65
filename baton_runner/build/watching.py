"""What the runner tells of nodes, made into what a run tells of tasks; gates and what was done before are no news."""

from dataclasses import dataclass
from typing import Any

from baton_runner.build.account import Account
from baton_runner.build.nodes import Node, failed
from baton_runner.build.works import ClosingWork
from baton_runner.controller.results import Result

__all__ = ["AccountWatcher", "DoitWatcher"]


@dataclass(frozen=True)
class AccountWatcher:
    """Keeps the account of a run."""

    account: Account

    def current(self, node: Node) -> None:
        """Nothing."""

    def waiting(self, node: Node, result: Result) -> None:
        """Say why a task waits."""
        if node.item is not None:
            self.account.reporter.note(f"{node.item.name} waits: {result.message}")

    def ended(self, node: Node, result: Result) -> None:
        """Note how a task or a closing check ended."""
        if node.item is not None:
            self.account.ended(node.item, result)
        elif isinstance(node.work, ClosingWork) and node.work.found is not None:
            self.account.closed(node.work.controller, node.work.found)


@dataclass(frozen=True)
class DoitWatcher:
    """Tells a reporter of doit's that the user chose, in doit's words."""

    reporter: Any

    def current(self, node: Node) -> None:
        """It was up to date; groups are no news."""
        if node.work is not None:
            self.reporter.skip_uptodate(node)

    def waiting(self, node: Node, result: Result) -> None:
        """Nothing: doit has no word for it."""

    def ended(self, node: Node, result: Result) -> None:
        """It succeeded or failed."""
        self.reporter.execute_task(node)
        failure = failed(result)
        if failure is None:
            self.reporter.add_success(node)
        else:
            self.reporter.add_failure(node, failure)
