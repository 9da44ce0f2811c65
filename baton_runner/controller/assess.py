"""Assess: what is the state of a task? Pure decisions from a plan, its order and the facts on disk (design 4.1).

The answers are cached: a task's state depends on its own facts, the outcomes of its explicit blockers and the gates
before its section, so a new receipt only invalidates its own section's gate and those after it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from baton_runner.controller.states import Assessment, Facts, Need, State
from baton_runner.controller.strays import Stray
from baton_runner.evidence.outcome import accepted_outcome, gate_digest
from baton_runner.evidence.receipt import Inputs
from baton_runner.plan.definition import definition_digest
from baton_runner.plan.model import Mark, Plan, Section, Task
from baton_runner.plan.order import Order

__all__ = ["Assessor", "Gate", "Rules"]


@dataclass(frozen=True)
class Rules:
    """What a policy or a command line says about assessing.

    ``recipe`` holds today's digests of what ``rerun.on`` names besides the task (``prompt``, ``agent``): a difference
    to the receipt makes a task stale. ``forced`` keys are done again whatever their receipts say.
    """

    skip_held: bool = False
    untick_is_redo: bool = False
    recipe: Mapping[str, str] = field(default_factory=dict)
    forced: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Gate:
    """The end of a section: its chained digest, the ids of the tasks that keep it closed, whether it is passed.

    ``open`` are the section's own tasks; where it has none, those of the nearest sections before it that have.
    """

    digest: str
    open: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether later sections may start."""
        return not self.open


class Assessor:
    """The states of one change's tasks, from facts that the owner replaces as they change. Not thread-safe."""

    def __init__(self, plan: Plan, order: Order, facts: Mapping[str, Facts], rules: Rules) -> None:
        self.plan = plan
        self.order = order
        self.rules = rules
        self._facts = dict(facts)
        self._tasks = plan.by_key
        self._gates: dict[int, Gate] = {}
        self._assessed: dict[int, dict[str, Assessment]] = {}
        self._digests: dict[str, str] = {}
        waited_for = {index for indexes in order.after.values() for index in indexes}
        self._with_follow_ups = frozenset(task.section for task in plan.follow_ups)
        self._last_gates = tuple(s.index for s in plan.sections if s.index not in waited_for)

    def task(self, key: str) -> Task:
        """The plan's task with this key."""
        return self._tasks[key]

    def facts(self, key: str) -> Facts:
        """What is known of a task."""
        return self._facts.get(key, Facts())

    def replace(self, key: str, facts: Facts) -> None:
        """Take note of new facts; what depends on them is decided anew."""
        self._facts[key] = facts
        section = self._tasks[key].section
        for index in [index for index in self._gates if index >= section]:
            del self._gates[index]
        for index in [index for index in self._assessed if index >= section or index in self._with_follow_ups]:
            del self._assessed[index]

    def definition(self, key: str) -> str:
        """The digest of a task's definition as the plan has it now."""
        if key not in self._digests:
            self._digests[key] = definition_digest(self._tasks[key])
        return self._digests[key]

    def gate(self, section: int) -> Gate:
        """The gate at the end of a section."""
        for index in range(section + 1):
            if index not in self._gates:
                self._gates[index] = self._decide_gate(self.plan.sections[index])
        return self._gates[section]

    def assess(self, key: str) -> Assessment:
        """The state of one task."""
        known = self._assessed.setdefault(self._tasks[key].section, {})
        if key not in known:
            known[key] = self._assess(key)
        return known[key]

    def judge_by(self, rules: Rules) -> None:
        """Decide by other rules from now on."""
        self.rules = rules
        self._gates.clear()
        self._assessed.clear()

    def _assess(self, key: str) -> Assessment:
        task, facts = self._tasks[key], self.facts(key)
        marked = self._by_mark(task)
        if marked is not None:
            return marked
        inputs, outcome = self._inputs(task), self._outcome(task)
        blockers = self._blockers(task)
        found = self._by_record(task, facts, inputs)
        state, need, reason = found.state, found.need, found.reason
        if facts.worker and need is not Need.NOTHING:
            state, reason = State.RUNNING, f"in work by {facts.worker}"
        elif blockers and state in {State.READY, State.FAILED, State.CONFLICT}:
            state, reason = State.BLOCKED, f"waits for {_listed(blockers)}"
        return Assessment(state, need, reason, inputs, outcome, blockers, found.differs)

    def all(self) -> dict[str, Assessment]:
        """Every task's state, in plan order."""
        return {task.key: self.assess(task.key) for task in self.plan.tasks}

    def _by_mark(self, task: Task) -> Assessment | None:
        """Decide what the mark alone decides: it wins over everything."""
        if task.duplicate:
            return Assessment(State.DUPLICATE, Need.PERSON, f"the id {task.id} stands twice in the plan")
        if task.mark is Mark.HELD:
            return Assessment(State.HELD, Need.PERSON, "its mark holds it")
        if task.manual and task.mark is not Mark.RESOLVED:
            return Assessment(State.MANUAL, Need.PERSON, "for people only: tick it when it is done")
        return None

    def _by_record(self, task: Task, facts: Facts, inputs: Inputs) -> Assessment:
        """Decide from redo decisions, receipt, commit, definition and inputs, in the order of design 4.1."""
        receipt = facts.receipt
        if task.key in self.rules.forced:
            return Assessment(State.REDO, Need.AGENT, "forced by the command line")
        if facts.redo is not None:
            return Assessment(State.REDO, Need.AGENT, f"asked for again ({facts.redo.kind})")
        if facts.damage:
            return Assessment(State.BROKEN, Need.AGENT, facts.damage)
        if receipt is None:
            return self._without_receipt(task, facts)
        if self._unticked(task, facts):
            return Assessment(State.REDO, Need.AGENT, "unticked by hand")
        if not facts.integrated:
            return Assessment(
                State.NOT_INTEGRATED, Need.INTEGRATE, f"commit {receipt.commit[:12]} is not in the integration branch"
            )
        today = self.definition(task.key)
        if receipt.definition_digest != today:
            differs = {"definition": (receipt.definition_digest, today)}
            return Assessment(State.STALE, Need.AGENT, "its text was edited", differs=differs)
        recipe = {
            name: (receipt.recipe.get(name, ""), digest)
            for name, digest in self.rules.recipe.items()
            if receipt.recipe.get(name) != digest
        }
        if recipe:
            return Assessment(State.STALE, Need.AGENT, f"the {' and '.join(recipe)} changed", differs=recipe)
        if receipt.inputs != inputs:
            differs = _differences(receipt.inputs, inputs)
            reason = "what it builds on changed"
            return Assessment(State.STALE, Need.REVERIFY, reason, differs=differs)
        return Assessment(State.RESOLVED, Need.NOTHING, "proven by its receipt")

    def _without_receipt(self, task: Task, facts: Facts) -> Assessment:
        if facts.stray is not None and task.mark is Mark.RESOLVED:
            return _astray(facts.stray)
        if task.mark is Mark.RESOLVED and not facts.named:
            return Assessment(State.ACCEPTED, Need.NOTHING, "ticked by hand")
        if facts.failure is None:
            return Assessment(State.READY, Need.AGENT, "not done yet")
        state = State.CONFLICT if facts.failure.kind == "conflict" else State.FAILED
        return Assessment(state, Need.AGENT, facts.failure.message)

    def _unticked(self, task: Task, facts: Facts) -> bool:
        """Whether a person took back a tick of ours, where the policy lets that mean redo."""
        if not self.rules.untick_is_redo or task.mark is not Mark.READY:
            return False
        return facts.tick is not None and facts.receipt is not None and facts.tick.seal == facts.receipt.seal

    def _outcome(self, task: Task) -> str | None:
        """What dependants look at: the receipt's outcome, also while its task is stale, until a new one exists."""
        facts = self.facts(task.key)
        if facts.receipt is not None and not facts.damage:
            return facts.receipt.outcome
        if (
            facts.stray is None
            and facts.redo is None
            and not facts.damage
            and not facts.named
            and task.mark is Mark.RESOLVED
        ):
            return accepted_outcome(task.key)
        return None

    def _relied_on(self, task: Task) -> str:
        """What goes into a gate: of what no receipt tells, nothing is known, so a mark alone makes nothing stale."""
        return self._outcome(task) or accepted_outcome(task.key)

    def _inputs(self, task: Task) -> Inputs:
        gates = {str(index): self.gate(index).digest for index in self._after(task)}
        edges = {key: self._relied_on(self._tasks[key]) for key in self._edges(task)}
        return Inputs(gates, edges)

    def _after(self, task: Task) -> tuple[int, ...]:
        """The sections whose gates a task waits for: a follow-up comes when all else is done."""
        return self._last_gates if task.follow_up else self.order.after.get(task.section, ())

    def _blockers(self, task: Task) -> tuple[str, ...]:
        open_before = self._open_before(self._after(task))
        open_edges = tuple(self._tasks[key].id for key in self._edges(task) if not self._lets_pass(self._tasks[key]))
        return open_before + open_edges if open_edges else open_before

    def _edges(self, task: Task) -> tuple[str, ...]:
        return self.order.edges.get(task.key, ())

    def _lets_pass(self, task: Task) -> bool:
        """Whether dependants of a task may start."""
        if task.optional or task.follow_up:
            return True
        if task.mark is Mark.HELD and not task.duplicate:
            return self.rules.skip_held
        marked = self._by_mark(task)
        if marked is not None:
            return False
        found = self._by_record(task, self.facts(task.key), self._inputs(task))
        return found.state.finished

    def _decide_gate(self, section: Section) -> Gate:
        before = self.order.after.get(section.index, ())
        outcomes = {task.key: self._relied_on(task) for task in section.tasks if not task.follow_up}
        still_open = tuple(task.id for task in section.tasks if not self._lets_pass(task))
        still_open = still_open or self._open_before(before)
        return Gate(gate_digest([self._gates[index].digest for index in before], outcomes), still_open)

    def _open_before(self, sections: Sequence[int]) -> tuple[str, ...]:
        """What keeps these gates closed; of one gate the very tuple it has, so that big plans share it."""
        found = [self.gate(index).open for index in sections]
        return found[0] if len(found) == 1 else tuple(name for names in found for name in names)


_SHOWN = 5
"""So many open tasks are named in a sentence."""


def _astray(stray: Stray) -> Assessment:
    """What a tick of ours is whose proof lies under another name."""
    name = f"{stray.receipt.change}:{stray.receipt.task}"
    if not stray.renamed:
        return Assessment(State.STALE, Need.AGENT, f"its text was edited since it was proven as {name}")
    return Assessment(
        State.STALE,
        Need.PERSON,
        f"baton ticked it for {name}, and that change is gone: give its folder the name back, or untick this one",
    )


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _differences(before: Inputs, now: Inputs) -> dict[str, tuple[str, str]]:
    """Each compared input that differs: its name, the digest then, the digest now."""
    differs = {}
    compare: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
        ("gate", before.gates, now.gates),
        ("blocker", before.edges, now.edges),
    ]
    for kind, old, new in compare:
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                differs[f"{kind} {name}"] = (old.get(name, ""), new.get(name, ""))
    return differs
