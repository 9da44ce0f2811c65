"""What stands behind a node: a task, a gate or the closing check of one change, asked and done through the controller."""

from pathlib import Path
from typing import TYPE_CHECKING

from baton_runner.base import crash, files
from baton_runner.base.errors import BatonError
from baton_runner.build.item import Item
from baton_runner.controller.controller import Controller
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.states import State
from baton_runner.evidence.layout import Layout
from baton_runner.evidence.outcome import outcome_bytes

if TYPE_CHECKING:
    from baton_runner.controller.closing import Closing
    from baton_runner.evidence.decisions import Failure

__all__ = ["BrokenWork", "ClosingWork", "GateWork", "TaskWork", "gate_file"]

GATE = crash.declare("gate.write")


def gate_file(layout: Layout, section: int) -> Path:
    """The file of the gate at the end of a section (an index from 0); it bears the number of the gate's name, from 1."""
    return layout.gate(section + 1)


class TaskWork:
    """One task."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.resources = item.task.directives.resources
        self._deferred = False
        self._known: Failure | None = None

    def is_done(self) -> bool:
        """Whether its receipt proves it, or a person resolved it by hand."""
        return self.item.finished

    def attempt(self) -> Result:
        """Perform it. What another process tried and failed while we waited for it is not tried again."""
        if self._deferred:
            elsewhere = self._failed_elsewhere()
            if elsewhere is not None:
                return elsewhere
        result = self.item.controller.perform(self.item.task.key)
        if result.verdict is Verdict.DEFERRED and not self._deferred:
            self._deferred = True
            self._known = self.item.controller.facts(self.item.task.key).failure
        return result

    def _failed_elsewhere(self) -> Result | None:
        controller, key = self.item.controller, self.item.task.key
        assessment, failure = controller.look(key), controller.facts(key).failure
        if assessment.state is State.RUNNING or failure is None or failure == self._known:
            return None
        verdict = Verdict.CONFLICT if failure.kind == "conflict" else Verdict.FAILED
        message = f"failed in another run: {failure.message}"
        return Result(self.item.change, key, verdict, message, failure)


class GateWork:
    """The end of a section: a file whose bytes change exactly when something later sections rely on does."""

    resources: tuple[str, ...] = ()

    def __init__(self, controller: Controller, section: int) -> None:
        self._controller = controller
        self._section = section

    def is_done(self) -> bool:
        """Whether the section is done and its gate file says so."""
        gate = self._controller.gate(self._section)
        try:
            return gate.passed and self._path.read_bytes() == outcome_bytes(gate.digest)
        except OSError:
            return False

    def attempt(self) -> Result:
        """Write the gate's digest, where the section is done."""
        gate = self._controller.gate(self._section)
        change, key = self._controller.change.id, f"gate-{self._section + 1}"
        if not gate.passed:
            return Result(change, key, Verdict.BLOCKED, f"waits for {', '.join(gate.open)}")
        files.write_if_changed(self._path, outcome_bytes(gate.digest), GATE)
        return Result(change, key, Verdict.CURRENT)

    @property
    def _path(self) -> Path:
        return gate_file(self._controller.parts.layout, self._section)


class ClosingWork:
    """The closing check."""

    resources: tuple[str, ...] = ()

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.found: Closing | None = None

    def is_done(self) -> bool:
        """Whether every command was found green on the head's tree before; what cannot be read is not known to be."""
        try:
            return self.controller.is_closed()
        except BatonError:
            return False

    def attempt(self) -> Result:
        """Run what is not known to be green."""
        self.found = self.controller.close()
        change = self.controller.change.id
        if self.found.green:
            return Result(change, "closing", Verdict.RESOLVED)
        red = ", ".join(f"`{command}`" for command in self.found.red)
        return Result(change, "closing", Verdict.FAILED, f"red on the final tree: {red}")


class BrokenWork:
    """A plan or policy that cannot be read: it stands in the graph and fails with the reason."""

    resources: tuple[str, ...] = ()

    def __init__(self, error: BatonError) -> None:
        self.error = error

    def is_done(self) -> bool:
        """Never."""
        return False

    def attempt(self) -> Result:
        """Raise what is wrong."""
        raise self.error
