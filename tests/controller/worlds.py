"""Worlds for the assessment: a plan in text, what is on disk about its tasks, and an oracle that knows no gates.

The oracle is quadratic and naive on purpose: it remembers for every finished task the outcome of every single task
that it waited for, and compares them one by one.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from baton_runner.controller.assess import Assessor, Rules
from baton_runner.controller.states import Assessment, Facts, Need
from baton_runner.evidence.decisions import Failure, Redo
from baton_runner.evidence.receipt import Inputs, Receipt, Work
from baton_runner.plan.definition import definition, definition_digest
from baton_runner.plan.model import Plan, Task
from baton_runner.plan.order import Order, order
from baton_runner.plan.tasks_md import read_plan

__all__ = ["Line", "World", "assessor", "finish", "receipt_of", "worlds"]


@functools.lru_cache(maxsize=64)
def _read(text: str) -> Plan:
    return read_plan(text.encode(), change="c", path="tasks.md")


AT = "2026-03-01T12:00:00.000Z"


def receipt_of(task: Task, inputs: Inputs, *, outcome: str = "", work: str = "1" * 40) -> Receipt:
    """A receipt for a task as the plan has it now; ``work`` is its commit."""
    return Receipt(
        change="c", task=task.id, key=task.key, attempt=1, packet="sha256:p", definition=definition(task),
        definition_digest=definition_digest(task), inputs=inputs, commit=work, base="b" * 40, tree="t" * 40,
        outcome=outcome or f"outcome of {task.key}", checks=(), work=Work("command"), finished=AT,
    )  # fmt: skip


def assessor(text: str, facts: Mapping[str, Facts] | None = None, rules: Rules | None = None) -> Assessor:
    """The assessment of a plan's text."""
    plan = read_plan(text.encode(), change="c", path="tasks.md")
    return Assessor(plan, order(plan, sections="parallel"), facts or {}, rules or Rules())


def finish(found: Assessor, key: str, *, outcome: str = "") -> Receipt:
    """Do a task as a run would: a receipt for its present inputs."""
    receipt = receipt_of(found.task(key), found.assess(key).inputs, outcome=outcome)
    found.replace(key, Facts(receipt=receipt, integrated=True, named=True))
    return receipt


@dataclass(frozen=True)
class Line:
    """One task of a generated plan; ``waits`` are ids of earlier tasks of its section."""

    id: str
    mark: str
    words: str
    waits: tuple[str, ...]

    @property
    def text(self) -> str:
        note = f" (depends on: {', '.join(self.waits)})" if self.waits else ""
        return f"- [{self.mark}] {self.id} {self.words}{note}"

    @property
    def never_gates(self) -> bool:
        return "optional" in self.words or self.is_follow_up

    @property
    def is_follow_up(self) -> bool:
        return self.words == "Archive the change"


@dataclass
class World:
    """A plan and the facts about its tasks. ``seen`` is the oracle's memory: what each finished task was built on."""

    sections: list[list[Line]]
    facts: dict[str, Facts] = field(default_factory=dict)
    seen: dict[str, dict[str, str | None]] = field(default_factory=dict)

    @property
    def lines(self) -> list[Line]:
        return [line for section in self.sections for line in section]

    @property
    def text(self) -> str:
        parts = []
        for number, section in enumerate(self.sections, 1):
            parts += [f"## {number}. Section", *(line.text for line in section), ""]
        return "\n".join(parts)

    @property
    def plan(self) -> Plan:
        return _read(self.text)

    @property
    def order(self) -> Order:
        return order(self.plan, sections="parallel")

    def assessor(self, rules: Rules | None = None) -> Assessor:
        return Assessor(self.plan, self.order, self.facts, rules or Rules())

    # -- the oracle

    def waited_for(self, line: Line) -> list[Line]:
        """Every task that one waits for: all of earlier sections, what its note names; a follow-up for everything."""
        if line.is_follow_up:
            return [other for other in self.lines if not other.is_follow_up]
        index = next(number for number, section in enumerate(self.sections) if line in section)
        earlier = [other for section in self.sections[:index] for other in section if not other.is_follow_up]
        return [*earlier, *(other for other in self.sections[index] if other.id in line.waits)]

    def outcome(self, line: Line) -> str | None:
        facts = self.facts.get(line.id, Facts())
        return facts.receipt.outcome if facts.receipt and not facts.damage else None

    def finished(self, line: Line) -> bool:
        facts = self.facts.get(line.id, Facts())
        if line.mark == "~" or ("manual" in line.words and line.mark != "x") or facts.redo or facts.damage:
            return False
        if facts.receipt is None:
            return line.mark == "x" and not facts.named
        edited = facts.receipt.definition_digest != definition_digest(self.plan.by_key[line.id])
        return facts.integrated and not edited and not self.is_built_on_other_things(line)

    def is_built_on_other_things(self, line: Line) -> bool:
        return self.seen[line.id] != {other.id: self.outcome(other) for other in self.waited_for(line)}

    def may_start(self, line: Line) -> bool:
        """Whether all that it waits for is finished, or lets it pass."""
        return all(other.never_gates or self.finished(other) for other in self.waited_for(line))

    def is_for_people(self, line: Line) -> bool:
        return line.mark == "~" or ("manual" in line.words and line.mark != "x")

    # -- what may happen

    def run(self, most: int) -> None:
        """Finish up to ``most`` tasks, always the first that is ready."""
        found = self.assessor()
        for _ in range(most):
            line = next((each for each in self.lines if found.assess(each.id).ready), None)
            if line is None:
                return
            receipt = finish(found, line.id)
            self.facts[line.id] = Facts(receipt=receipt, integrated=True, named=True)
            self.seen[line.id] = {other.id: self.outcome(other) for other in self.waited_for(line)}

    def happen(self, line: Line, event: str) -> None:
        """Something befalls one task."""
        facts = self.facts.get(line.id, Facts())
        match event:
            case "redo":
                self.facts[line.id] = replace(facts, redo=Redo("redo", "", AT))
            case "failed":
                self.facts[line.id] = replace(facts, failure=Failure("red", "red", 1, AT))
            case "broken" if facts.receipt:
                self.facts[line.id] = replace(facts, receipt=None, damage="its receipt does not match its seal")
            case "left out" if facts.receipt:
                self.facts[line.id] = replace(facts, integrated=False)
            case "another outcome" if facts.receipt:
                self.facts[line.id] = replace(facts, receipt=replace(facts.receipt, outcome=f"new of {line.id}"))
            case "edited":
                section = next(section for section in self.sections if line in section)
                words = line.words if line.is_follow_up else f"{line.words} now"
                section[section.index(line)] = replace(line, words=words)

    def mark(self, line: Line, mark: str) -> None:
        section = next(section for section in self.sections if line in section)
        section[section.index(line)] = replace(line, mark=mark)


EVENTS = ["redo", "failed", "broken", "left out", "another outcome", "edited"]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Plans of a few sections with every kind of task, worked on for a while, after which things happened."""
    sections = []
    for section in range(1, draw(st.integers(1, 3)) + 1):
        lines: list[Line] = []
        for number in range(1, draw(st.integers(1, 4)) + 1):
            words = draw(
                st.sampled_from(["add it"] * 5 + ["add it (optional)", "try it [manual]", "Archive the change"])
            )
            earlier = [line.id for line in lines if not line.is_follow_up]
            waits = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2)) if earlier else []
            mark = draw(st.sampled_from("      xxx~"))
            is_follow_up = words == "Archive the change"
            lines.append(Line(f"{section}.{number}", mark, words, () if is_follow_up else tuple(waits)))
        sections.append(lines)
    world = World(sections)
    world.run(draw(st.integers(0, 12)))
    for _ in range(draw(st.integers(0, 3))):
        world.happen(draw(st.sampled_from(world.lines)), draw(st.sampled_from(EVENTS)))
    return world


def needs_work(found: Assessment) -> bool:
    """Whether something could be done about it by us."""
    return found.need not in {Need.NOTHING, Need.PERSON}
