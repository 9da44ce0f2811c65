"""Names in doit: what people type, safe and injective."""

import re

from hypothesis import given
from hypothesis import strategies as st

from baton_runner.build.names import change_name, gate_names, task_names
from baton_runner.plan.tasks_md import read_plan

PLAN = "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n## 2. B\n- [ ] c\n"


def test_ordinary_names_stay_as_they_are() -> None:
    plan = read_plan(PLAN.encode(), change="add-login", path="tasks.md")
    assert list(task_names(plan).values())[:2] == ["add-login:1.1", "add-login:1.2"]
    assert gate_names(plan, frozenset()) == {0: "add-login:gate-1", 1: "add-login:gate-2"}


def test_a_gate_gives_way_to_a_task_of_its_name() -> None:
    plan = read_plan(PLAN.encode(), change="c", path="tasks.md")
    assert gate_names(plan, frozenset({"c:gate-1"})) == {0: "c:@gate-1", 1: "c:gate-2"}


@given(st.sets(st.text(min_size=1, max_size=30), min_size=2, max_size=8))
def test_names_are_injective_and_hold_nothing_that_doit_reads_otherwise(texts: set[str]) -> None:
    """``=`` is a variable, ``*`` a pattern, ``:`` a group, a leading ``-`` an option, a leading ``_`` hidden."""
    names = {change_name(text) for text in texts}
    assert len(names) == len(texts)
    for name in names:
        assert not re.search(r"[=*?\[\]:\s]", name)
        assert name[0] != "-"


@given(st.text(min_size=1, max_size=30))
def test_a_name_is_never_the_slug_of_another(text: str) -> None:
    """Whoever calls a change what another one's slug is gets a slug of their own."""
    name = change_name(text)
    assert name == text or change_name(name) != name


def test_two_tasks_with_one_id_have_two_names() -> None:
    plan = read_plan(b"- [ ] 1.1 a\n- [ ] 1.1 b\n", change="c", path="tasks.md")
    assert len(set(task_names(plan).values())) == 2
