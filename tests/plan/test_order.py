"""What waits for what: edges of every note, gates that cover all earlier sections, and errors that name ids and lines."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import Problems
from baton_runner.plan.model import Plan
from baton_runner.plan.order import Order, order
from baton_runner.plan.tasks_md import load_plan, read_plan

FIXTURES = Path(__file__).parent / "fixtures"


def _plan(text: str) -> Plan:
    return read_plan(text.encode(), change="c", path="tasks.md")


def _edges(found: Order) -> dict[str, tuple[str, ...]]:
    return {key: blockers for key, blockers in found.edges.items() if blockers}


def _errors(text: str) -> list[str]:
    with pytest.raises(Problems) as caught:
        order(_plan(text), sections="parallel")
    return [f"{error.code}: {error}" for error in caught.value.errors]


def test_every_form_of_note_makes_its_edges_and_prose_makes_none() -> None:
    found = order(load_plan(FIXTURES / "depends.md", "c", "depends.md"), sections="parallel")
    assert _edges(found) == {
        "1.2": ("1.1",),
        "1.3": ("1.1", "1.2"),
        "1.4": ("1.1", "1.2", "1.3"),
        "1.5": ("1.2",),
        "1.6": ("1.5",),
        "1.7": ("1.6",),
        "1.8": ("1.7", "1.6"),
        "2.2": ("2.1",),
        "2.3": ("2.1",),
        "3.1": ("2.2",),
    }
    assert found.after == {0: (), 1: (0,), 2: (0,), 3: (1, 2)}


def test_the_policy_makes_sections_sequential_unless_a_heading_or_note_says_otherwise() -> None:
    plan = _plan(
        "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c (depends on 1.1)\n- [ ] 1.4 d (depends on: none)\n- [ ] 1.5 e\n"
        "## 2. B (parallel)\n- [ ] 2.1 a (after 1.1)\n- [ ] 2.2 b\n"
    )
    assert _edges(order(plan, sections="sequential")) == {"1.2": ("1.1",), "1.3": ("1.1",), "1.5": ("1.4",)}
    assert _edges(order(plan, sections="parallel")) == {"1.3": ("1.1",)}


def test_an_edge_to_an_earlier_section_keeps_the_chain_of_its_own() -> None:
    plan = _plan("## 1. A\n- [ ] 1.1 a\n## 2. B (sequential)\n- [ ] 2.1 a\n- [ ] 2.2 b (after 1.1)\n")
    assert _edges(order(plan, sections="parallel")) == {"2.2": ("2.1",)}


def test_red_and_green_in_one_section_run_in_turn() -> None:
    found = order(load_plan(FIXTURES / "red_green.md", "c", "x"), sections="parallel")
    assert _edges(found) == {"1.2": ("1.1",), "1.3": ("1.2",)}


def test_parallel_marks_of_spec_kit_run_together_and_others_wait_for_all_before() -> None:
    plan = _plan("## A\n- [ ] T1 a\n- [ ] T2 [P] b\n- [ ] T3 [P] c\n- [ ] T4 d\n- [ ] T5 e\n- [ ] T6 [P] f\n")
    expected = {"T2": ("T1",), "T3": ("T1",), "T4": ("T2", "T3"), "T5": ("T4",), "T6": ("T5",)}
    assert _edges(order(plan, sections="parallel")) == expected


def test_parallel_marks_mean_nothing_without_spec_kit_ids() -> None:
    assert _edges(order(_plan("- [ ] 1.1 a\n- [ ] 1.2 [P] b\n- [ ] 1.3 c\n"), sections="parallel")) == {}


@pytest.mark.parametrize(
    ("heading", "after"),
    [
        ("(depends: 1)", (0,)),
        ("(depends on phases 1 and 2)", (0, 1)),
        ("(depends: none)", ()),
        ("(depends: 1-2, sequential)", (0, 1)),
        ("", (1,)),
    ],
)
def test_a_heading_replaces_the_gates_of_its_section(heading: str, after: tuple[int, ...]) -> None:
    plan = _plan(f"## 1. A\n- [ ] 1.1 a\n## 2. B\n- [ ] 2.1 b\n## 3. C {heading}\n- [ ] 3.1 c\n## 4. D\n- [ ] 4.1 d\n")
    found = order(plan, sections="parallel")
    assert found.after[2] == after
    assert {1, 2} & set(found.after[3]) == set(found.after[3])


def test_a_heading_counts_positions_where_no_section_has_a_number() -> None:
    plan = _plan("## A\n- [ ] a\n## B\n- [ ] b\n## C (depends: 1)\n- [ ] c\n")
    assert order(plan, sections="parallel").after == {0: (), 1: (0,), 2: (0,)}


def test_follow_ups_block_nothing_and_wait_for_nothing() -> None:
    plan = _plan("## 1. A (sequential)\n- [ ] 1.1 a\n- [ ] 1.2 Archive the change\n- [ ] 1.3 b\n")
    assert _edges(order(plan, sections="parallel")) == {"1.3": ("1.1",)}


def test_a_note_on_an_earlier_section_by_its_number_adds_nothing_to_the_gates() -> None:
    plan = _plan("## 1. A\n- [ ] 1.1 a\n## 2. B\n- [ ] 2.1 b (depends on 1)\n")
    assert _edges(order(plan, sections="parallel")) == {}


def test_an_unknown_id_is_named_with_its_line() -> None:
    assert _errors("- [ ] 1.1 a\n- [ ] 1.2 b\n  - Depends on: 1.1, 1.7\n") == [
        "unknown_blocker: tasks.md:3: task 1.2 depends on 1.7, which does not exist; name the id of a task of this plan"
    ]


def test_a_later_section_is_no_blocker() -> None:
    assert _errors("## 1. A\n- [ ] 1.1 a (depends on 2.1)\n## 2. B\n- [ ] 2.1 b\n") == [
        "later_blocker: tasks.md:2: task 1.1 depends on 2.1 of the later section 2; move one of the two"
    ]


def test_a_cycle_is_named_in_full() -> None:
    text = "- [ ] 1.1 a (depends on 1.3)\n- [ ] 1.2 b (depends on 1.1)\n- [ ] 1.3 c (depends on 1.2)\n- [ ] 1.4 d (after 1.4)\n"
    assert _errors(text) == [
        "cycle: tasks.md:1: tasks of section 1 wait for each other: 1.1 (line 1) -> 1.3 (line 3) -> 1.2 (line 2) -> 1.1 (line 1); drop one of their notes",
        "cycle: tasks.md:4: tasks of section 1 wait for each other: 1.4 (line 4) -> 1.4 (line 4); drop one of their notes",
    ]


def test_headings_that_name_no_earlier_section_are_errors_all_at_once() -> None:
    text = "## 1. A (depends: 2)\n- [ ] 1.1 a\n## 2. B (depends: 7)\n- [ ] 2.1 b\n"
    assert _errors(text) == [
        "later_blocker: tasks.md:1: section 1 depends on section 2, which does not stand before it; move it behind that section, or name an earlier one",
        "unknown_blocker: tasks.md:3: section 2 depends on section 7, which does not exist; name the number of an earlier section",
    ]


def test_a_task_that_waits_for_a_follow_up_is_an_error() -> None:
    assert _errors("- [ ] 1.1 Archive the change\n- [ ] 1.2 a (after 1.1)\n")[0].startswith(
        "later_blocker: tasks.md:2: task 1.2 depends on 1.1, which is done after everything else"
    )


def test_a_word_that_looks_like_an_id_of_no_family_is_prose() -> None:
    assert _edges(order(_plan("- [ ] 1.1 a\n- [ ] 1.2 b (after S3)\n"), sections="parallel")) == {}


@given(
    st.lists(st.sampled_from(["", " (depends: 1)", " (depends: 1, 2)", " (depends: none)"]), min_size=3, max_size=12)
)
def test_default_gates_cover_every_earlier_section_and_none_twice(suffixes: list[str]) -> None:
    """Minimal: no gate that is waited for is covered by another one."""
    headings = ["", "", *suffixes]
    text = "".join(f"## {n}. S{suffix}\n- [ ] {n}.1 a\n" for n, suffix in enumerate(headings, 1))
    after = order(_plan(text), sections="parallel").after
    for index, suffix in enumerate(headings):
        below = _reach(after, index)
        if not suffix:
            assert below == set(range(index))
            assert all(other not in _reach(after, gate) for gate in after[index] for other in after[index])


def _reach(after: Mapping[int, tuple[int, ...]], index: int) -> set[int]:
    found: set[int] = set()
    waiting = list(after[index])
    while waiting:
        found.add(gate := waiting.pop())
        waiting += after[gate]
    return found


def test_edges_grow_linearly() -> None:
    """Never a list of all earlier tasks for each task."""
    text = "".join(f"## {s}. S\n" + "".join(f"- [ ] {s}.{t} a\n" for t in range(1, 11)) for s in range(1, 301))
    for policy in ("parallel", "sequential"):
        found = order(_plan(text), sections=policy)
        size = sum(map(len, found.edges.values())) + sum(map(len, found.after.values()))
        assert size <= 3000 + 300


def test_a_long_chain_needs_no_deep_stack() -> None:
    text = "- [ ] 1.1 a\n" + "".join(f"- [ ] 1.{n} a (after 1.{n - 1})\n" for n in range(2, 3001))
    assert len(_edges(order(_plan(text), sections="parallel"))) == 2999
