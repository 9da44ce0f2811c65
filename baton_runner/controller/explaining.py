"""Explain: why a task is in its state, input by input, with the event that changed each."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baton_runner.controller.controller import Controller
from baton_runner.controller.states import Assessment, State
from baton_runner.evidence.receipt import Receipt
from baton_runner.plan.definition import definition
from baton_runner.plan.model import Task

__all__ = ["Compared", "Explanation", "explain"]

_SHOWN = 5


@dataclass(frozen=True)
class Compared:
    """One input that a receipt is held against.

    ``path`` is where it is to be seen, ``old`` and ``new`` its digests at the time of the receipt and now (empty: it
    was not there), ``event`` what changed it, empty while it is the same.
    """

    name: str
    path: str
    old: str
    new: str
    event: str = ""

    @property
    def same(self) -> bool:
        """Whether it is what it was."""
        return self.old == self.new


@dataclass(frozen=True)
class Explanation:
    """The state of a task, and everything it was decided from."""

    task: Task
    assessment: Assessment
    receipt: Receipt | None
    compared: tuple[Compared, ...]
    notes: tuple[str, ...]


def explain(controller: Controller, task: Task) -> Explanation:
    """Why a task is what it is now; reads only."""
    receipt = controller.facts(task.key).receipt
    compared = tuple(_compared(controller, task, receipt)) if receipt is not None else ()
    return Explanation(task, controller.assess(task.key), receipt, compared, tuple(_notes(controller, task)))


def _compared(controller: Controller, task: Task, receipt: Receipt) -> Iterator[Compared]:
    """Definition, what ``rerun.on`` names, gates, explicit blockers: in the order in which they are compared."""
    assessment, plan = controller.assess(task.key), controller.plan
    today = controller.definition_digest(task.key)
    edited = _edited(receipt.definition, definition(task)) if today != receipt.definition_digest else ""
    yield Compared("definition", f"{plan.path}:{task.line}", receipt.definition_digest, today, edited)
    for name, (old, new) in assessment.differs.items():
        if name in receipt.recipe or name in {"prompt", "agent"}:
            policy = controller.project.policy.path
            yield Compared(name, policy.name if policy else "WORKFLOW.md", old, new, f"the {name} was edited")
    then, now = receipt.inputs, assessment.inputs
    for number in sorted({*then.gates, *now.gates}, key=int):
        old, new = then.gates.get(number, ""), now.gates.get(number, "")
        event = _gate_event(controller, int(number), receipt) if old != new else ""
        yield Compared(
            f"gate of section {_label(controller, int(number))}",
            _path_of_gate(controller, int(number)),
            old,
            new,
            event,
        )
    for key in sorted({*then.edges, *now.edges}):
        old, new = then.edges.get(key, ""), now.edges.get(key, "")
        event = _edge_event(controller, key, receipt) if old != new else ""
        yield Compared(
            f"blocker {_id(controller, key)}", _shown(controller, controller.parts.layout.outcome(key)), old, new, event
        )


def _notes(controller: Controller, task: Task) -> Iterator[str]:
    """What besides inputs made the state what it is."""
    facts, assessment = controller.facts(task.key), controller.assess(task.key)
    if facts.redo is not None:
        remark = f": {facts.redo.feedback}" if facts.redo.feedback else ""
        yield f"baton {facts.redo.kind} was said at {facts.redo.at}{remark}"
    if facts.worker:
        yield f"in work by {facts.worker}"
    if facts.failure is not None and assessment.state is not State.RESOLVED:
        failure = facts.failure
        yield f"attempt {failure.attempt} ended at {failure.at}: {failure.message}"
        if failure.log:
            yield f"its output is in {failure.log}"
        if failure.worktree:
            yield f"its worktree is kept: {failure.worktree}"
    if facts.receipt is not None and not facts.integrated:
        yield f"commit {facts.receipt.commit[:12]} is not part of {controller.parts.branch.name}"


def _edited(old: Any, new: dict[str, Any]) -> str:
    """Which parts of a definition were edited, with the words where they are short."""
    parts = [name for name in new if old.get(name) != new[name]]
    return "edited in the plan: " + ", ".join(_part(name, old.get(name), new[name]) for name in parts)


def _part(name: str, old: Any, new: Any) -> str:
    short = 60
    if isinstance(old, str) and isinstance(new, str) and len(old) <= short and len(new) <= short:
        return f"{name} from {old!r} to {new!r}"
    return str(name)


def _gate_event(controller: Controller, section: int, receipt: Receipt) -> str:
    """What changed a gate: receipts before it that are newer than this one, else the plan itself."""
    before = _sections_before(controller, section)
    tasks = [task for task in controller.plan.tasks if task.section in before and task.key != receipt.key]
    newer = [text for task in tasks if (text := _newer(controller, task, receipt))]
    if newer:
        more = f" and {len(newer) - _SHOWN} more" if len(newer) > _SHOWN else ""
        return "; ".join(newer[:_SHOWN]) + more
    undone = [task.id for task in tasks if controller.assess(task.key).outcome is None]
    if undone:
        return f"not finished there now: {', '.join(undone[:_SHOWN])}"
    return "the tasks before it are others than then: some were added, removed or ticked by hand"


def _edge_event(controller: Controller, key: str, receipt: Receipt) -> str:
    task = controller.plan.by_key.get(key)
    if task is None:
        return "it was removed from the plan"
    if key not in receipt.inputs.edges:
        return "the plan did not name it as a blocker then"
    if key not in controller.order.edges.get(receipt.key, ()):
        return "the plan does not name it as a blocker any more"
    return _newer(controller, task, receipt) or "its outcome is not there now"


def _newer(controller: Controller, task: Task, receipt: Receipt) -> str:
    """The event that gave a task a newer receipt than this one, empty when there is none."""
    found = controller.facts(task.key).receipt
    if found is None or found.finished <= receipt.finished:
        return ""
    return f"{task.id} was resolved again at {found.finished} (attempt {found.attempt})"


def _sections_before(controller: Controller, section: int) -> set[int]:
    """A section and all whose gates lead to it."""
    found: set[int] = set()
    pending = [section]
    while pending:
        index = pending.pop()
        if index not in found and index < len(controller.plan.sections):
            found.add(index)
            pending += controller.order.after.get(index, ())
    return found


def _label(controller: Controller, section: int) -> str:
    sections = controller.plan.sections
    if section >= len(sections):
        return f"{section + 1} (gone)"
    return sections[section].number or sections[section].title or str(section + 1)


def _path_of_gate(controller: Controller, section: int) -> str:
    sections = controller.plan.sections
    return f"{controller.plan.path}:{sections[section].line}" if section < len(sections) else controller.plan.path


def _id(controller: Controller, key: str) -> str:
    task = controller.plan.by_key.get(key)
    return task.id if task is not None else key


def _shown(controller: Controller, path: Path) -> str:
    top = controller.project.top
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else str(path)
