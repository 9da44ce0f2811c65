"""The graph that doit sees is the controller's own, and linear in the plan."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from doit.control import TaskControl
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.build.nodes import Node, project
from baton_runner.controller.assess import Assessor, Rules
from baton_runner.controller.controller import Controller, RunOptions
from baton_runner.evidence.layout import Layout
from baton_runner.plan.order import order
from baton_runner.plan.tasks_md import read_plan
from tests.controller.worlds import World, finish, worlds


@dataclass
class Decider:
    """A controller that only decides: what nodes ask it is pure."""

    found: Assessor
    options: RunOptions

    def __post_init__(self) -> None:
        self.plan, self.order = self.found.plan, self.found.order
        self.parts = SimpleNamespace(layout=Layout(Path("/nowhere/.baton"), "c"))
        self.change = SimpleNamespace(id="c")
        self.assess, self.gate = self.found.assess, self.found.gate

    def is_closed(self) -> bool:
        return False


def _nodes(found: Assessor, *, skip_held: bool = False) -> list[Node]:
    return project(cast("Controller", Decider(found, RunOptions(skip_held=skip_held))))


def _ready_in_doit(nodes: list[Node]) -> Iterator[str]:
    """The keys that doit's own dispatcher would start, were nothing ever to end but what is up to date."""
    control = TaskControl(nodes)
    control.process(None)
    generator = control.task_dispatcher().generator
    node: Any = None
    while True:
        try:
            node = generator.send(node)
        except StopIteration:
            return
        if node == "hold on":
            return
        task = node.task
        passed = task.work is None or task.is_done() or _is_open_gate(task)
        node.run_status = "up-to-date" if passed else "run"
        if not passed:
            if task.item is not None:
                yield task.item.task.key
            node = None


def _is_open_gate(node: Node) -> bool:
    """A gate ends at once where its section is done: its file is written."""
    gate = getattr(node.work, "_section", None)
    return gate is not None and bool(node.work._controller.gate(gate).passed)  # type: ignore[union-attr]


@given(worlds(), st.booleans())
def test_doit_and_the_controller_see_the_same_ready_set(world: World, skip_held: bool) -> None:
    """What doit would start is what the controller calls ready; beyond that only what waits for a person."""
    found = world.assessor(Rules(skip_held=skip_held))
    states = found.all()
    for_people = {key for key, each in states.items() if each.need.value == "person"}
    started = set(_ready_in_doit(_nodes(found, skip_held=skip_held)))
    assert started - for_people == {key for key, each in states.items() if each.ready}


@given(worlds())
def test_a_node_is_up_to_date_exactly_when_its_task_is_finished(world: World) -> None:
    found = world.assessor()
    for node in _nodes(found):
        if node.item is not None:
            assert node.is_done() is found.assess(node.item.task.key).state.finished


def test_the_graph_grows_with_the_plan_and_not_with_its_square() -> None:
    def edges(sections: int) -> int:
        text = "".join(f"## {n}. S\n" + "".join(f"- [ ] {n}.{m} t\n" for m in range(10)) for n in range(sections))
        plan = read_plan(text.encode(), change="c", path="tasks.md")
        nodes = _nodes(Assessor(plan, order(plan, sections="parallel"), {}, Rules()))
        return sum(len(node.task_dep) + len(node.file_dep) for node in nodes)

    assert edges(60) - edges(40) == pytest.approx(edges(40) - edges(20), abs=10)


def test_nodes_stand_in_plan_order() -> None:
    text = "## 1. A\n- [ ] 1.2 b\n- [ ] 1.10 j\n## 2. B\n- [ ] 2.1 c\n"
    plan = read_plan(text.encode(), change="c", path="tasks.md")
    nodes = _nodes(Assessor(plan, order(plan, sections="parallel"), {}, Rules()))
    names = [node.name for node in nodes]
    assert names == ["c", "c:1.2", "c:1.10", "c:gate-1", "c:2.1", "c:gate-2", "c:closing"]


def test_a_follow_up_waits_for_everything_and_is_no_part_of_the_group() -> None:
    text = "## 1. A\n- [ ] 1.1 b\n- [ ] 1.2 Archive the change\n## 2. B\n- [ ] 2.1 c\n"
    plan = read_plan(text.encode(), change="c", path="tasks.md")
    nodes = {node.name: node for node in _nodes(Assessor(plan, order(plan, sections="parallel"), {}, Rules()))}
    assert "c:1.2" not in nodes["c"].task_dep
    assert nodes["c:1.2"].task_dep == ["c:gate-2"]


def test_a_finished_task_stays_done_whatever_else_happens_to_its_gate() -> None:
    """Finished tasks stay resolved while an earlier one is done again."""
    plan = read_plan(b"## 1. A\n- [ ] 1.1 a\n## 2. B\n- [ ] 2.1 b\n", change="c", path="tasks.md")
    found = Assessor(plan, order(plan, sections="parallel"), {}, Rules())
    finish(found, "1.1")
    finish(found, "2.1")
    found.rules = Rules(forced=frozenset({"1.1"}))
    done = {node.name: node.is_done() for node in _nodes(found) if node.item}
    assert done == {"c:1.1": False, "c:2.1": True}
