"""What is the state of a task? Every line of the design's section 4.1, and its properties against a naive oracle."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.controller.assess import Rules
from baton_runner.controller.states import Assessment, Facts, Need, State
from baton_runner.evidence.decisions import Failure, Redo, TickMark
from baton_runner.evidence.receipt import Inputs
from tests.controller.worlds import AT, World, assessor, finish, needs_work, receipt_of, worlds

ONE = "## 1. A\n- [{}] 1.1 add it{}\n"
REDO = Redo("redo", "", AT)
TWO_SECTIONS = "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n## 2. B\n- [ ] 2.1 c\n## 3. C\n- [ ] 3.1 d\n"


def _one(mark: str = " ", words: str = "", rules: Rules | None = None, **facts: Any) -> Assessment:
    """The state of a plan's only task."""
    found = assessor(ONE.format(mark, words), rules=rules)
    found.replace("1.1", Facts(**facts))
    return found.assess("1.1")


RECEIPT = receipt_of(assessor(ONE.format(" ", "")).task("1.1"), Inputs())
DONE: dict[str, Any] = {"receipt": RECEIPT, "integrated": True, "named": True}


# -- the order of decisions


@pytest.mark.parametrize("mark", ["~", "-", "?"])
def test_a_mark_that_holds_wins_over_everything(mark: str) -> None:
    """A person's mark is stronger than a receipt, a redo decision and a damaged record."""
    cases: list[dict[str, Any]] = [{}, DONE, {**DONE, "redo": REDO}, {"damage": "broken", "named": True}]
    for facts in cases:
        found = _one(mark, **facts)
        assert (found.state, found.need, found.ready) == (State.HELD, Need.PERSON, False)


def test_manual_is_for_people_until_they_tick_it() -> None:
    for facts in ({}, DONE, {**DONE, "redo": REDO}):
        assert _one(" ", " [manual]", **facts).state is State.MANUAL
    assert _one("x", " [manual]").state is State.ACCEPTED


def test_a_redo_decision_wins_over_any_receipt() -> None:
    """Also over one that is damaged, unmerged or stale, and over a tick."""
    edited = replace(RECEIPT, definition_digest="sha256:other")
    for facts in (DONE, {**DONE, "integrated": False}, {**DONE, "receipt": edited}, {"damage": "broken"}, {}):
        for mark in " x":
            found = _one(mark, redo=REDO, **facts)
            assert (found.state, found.need) == (State.REDO, Need.AGENT)


def test_forced_by_the_command_line_is_a_redo_of_exactly_the_named_tasks() -> None:
    found = assessor(TWO_SECTIONS, rules=Rules(forced=frozenset({"1.2"})))
    for key in ("1.1", "1.2"):
        finish(found, key)
    assert [found.assess(key).state for key in ("1.1", "1.2")] == [State.RESOLVED, State.REDO]


def test_a_damaged_receipt_proves_nothing_and_is_not_accepted_for_its_tick() -> None:
    """The box may be ticked, and nothing else name the task: a receipt that was there is not a tick by hand."""
    found = _one("x", damage="its receipt does not match its seal")
    assert (found.state, found.need, found.outcome) == (State.BROKEN, Need.AGENT, None)
    assert "seal" in found.reason


def test_ticked_by_hand_is_accepted_only_when_nothing_of_ours_names_it() -> None:
    found = _one("x")
    assert (found.state, found.need) == (State.ACCEPTED, Need.NOTHING)
    assert found.outcome is not None
    assert _one("x", named=True).state is State.READY
    assert _one("x", redo=REDO).state is State.REDO
    assert _one("x", named=True, failure=Failure("red", "it is red", 1, AT)).state is State.FAILED


def test_without_a_receipt_it_is_ready_or_tells_how_it_failed() -> None:
    assert _one().state is State.READY
    failed = _one(failure=Failure("red", "`make` is red", 3, AT))
    assert (failed.state, failed.need, failed.reason, failed.ready) == (State.FAILED, Need.AGENT, "`make` is red", True)
    assert _one(failure=Failure("conflict", "a.py", 1, AT)).state is State.CONFLICT


def test_a_commit_outside_the_branch_is_merged_before_anything_else_is_asked() -> None:
    """Not integrated comes before edited and upstream: no agent is needed to merge what is there."""
    edited = replace(RECEIPT, definition_digest="sha256:other", inputs=Inputs({"0": "other"}))
    for receipt in (RECEIPT, edited):
        found = _one(receipt=receipt, integrated=False, named=True)
        assert (found.state, found.need) == (State.NOT_INTEGRATED, Need.INTEGRATE)


def test_edited_goes_to_the_agent_and_says_what_differs() -> None:
    """Edited comes before upstream: when both changed, the agent works once."""
    receipt = replace(RECEIPT, definition_digest="sha256:was", inputs=Inputs({"0": "other"}))
    found = _one(receipt=receipt, integrated=True)
    assert (found.state, found.need) == (State.STALE, Need.AGENT)
    assert found.differs["definition"][0] == "sha256:was"


def test_rerun_on_compares_what_it_names_and_nothing_else() -> None:
    """A changed prompt or agent makes nothing stale, unless ``rerun.on`` says so."""
    receipt = replace(RECEIPT, recipe={"prompt": "p1", "agent": "a1"})
    facts = {**DONE, "receipt": receipt}
    assert _one(rules=Rules(), **facts).state is State.RESOLVED
    assert _one(rules=Rules(recipe={"prompt": "p1"}), **facts).state is State.RESOLVED
    changed = _one(rules=Rules(recipe={"prompt": "p2", "agent": "a1"}), **facts)
    assert (changed.state, changed.need, dict(changed.differs)) == (State.STALE, Need.AGENT, {"prompt": ("p1", "p2")})


def test_upstream_is_verified_again_before_an_agent_is_asked() -> None:
    found = assessor(TWO_SECTIONS)
    for key in ("1.1", "1.2", "2.1"):
        finish(found, key)
    finish(found, "1.2", outcome="another")
    upstream = found.assess("2.1")
    assert (upstream.state, upstream.need, upstream.ready) == (State.STALE, Need.REVERIFY, True)
    assert list(upstream.differs) == ["gate 0"]


def test_an_explicit_edge_makes_only_its_own_dependant_stale() -> None:
    found = assessor("## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b (depends on: 1.1)\n- [ ] 1.3 c\n")
    for key in ("1.1", "1.2", "1.3"):
        finish(found, key)
    finish(found, "1.1", outcome="another")
    states = {key: each.state for key, each in found.all().items()}
    assert states == {"1.1": State.RESOLVED, "1.2": State.STALE, "1.3": State.RESOLVED}
    assert list(found.assess("1.2").differs) == ["blocker 1.1"]


def test_up_to_date_needs_nothing_whatever_its_box_says() -> None:
    """The box is a projection of the receipt: a lost tick is no lost work."""
    for mark in " x":
        found = _one(mark, **DONE)
        assert (found.state, found.need, found.outcome) == (State.RESOLVED, Need.NOTHING, RECEIPT.outcome)


# -- unticking


def test_unticking_means_redo_only_where_the_policy_says_so() -> None:
    ours = {**DONE, "tick": TickMark(RECEIPT.seal)}
    redo = Rules(untick_is_redo=True)
    assert _one(" ", rules=Rules(), **ours).state is State.RESOLVED
    assert _one(" ", rules=redo, **ours).state is State.REDO
    assert _one("x", rules=redo, **ours).state is State.RESOLVED


def test_a_box_that_was_not_ticked_yet_is_not_unticked() -> None:
    """A kill between receipt and tick, or a tick for an older receipt, is nobody's decision."""
    redo = Rules(untick_is_redo=True)
    assert _one(" ", rules=redo, **DONE).state is State.RESOLVED
    assert _one(" ", rules=redo, **{**DONE, "tick": TickMark("sha256:older")}).state is State.RESOLVED


# -- running, blocked, duplicates


def test_work_in_progress_is_shown_with_its_owner_and_not_started_twice() -> None:
    found = _one(worker="process 42")
    assert (found.state, found.ready) == (State.RUNNING, False)
    assert "process 42" in found.reason
    assert _one(worker="process 42", **DONE).state is State.RESOLVED


def test_a_task_waits_for_every_earlier_section_and_names_the_nearest_open_tasks() -> None:
    found = assessor(TWO_SECTIONS)
    blocked = found.assess("3.1")
    assert (blocked.state, blocked.ready, blocked.blockers) == (State.BLOCKED, False, ("2.1",))
    finish(found, "1.1")
    finish(found, "1.2")
    assert found.assess("2.1").ready
    assert found.assess("3.1").blockers == ("2.1",)


def test_what_needs_work_again_waits_for_its_blockers_too() -> None:
    """Redo, edited and upstream go to work after their blockers."""
    found = assessor(TWO_SECTIONS)
    for key in ("1.1", "1.2", "2.1"):
        finish(found, key)
    found.replace("1.1", replace(found.facts("1.1"), redo=REDO))
    found.replace("2.1", replace(found.facts("2.1"), redo=REDO))
    again = found.assess("2.1")
    assert (again.state, again.blockers, again.ready) == (State.REDO, ("1.1",), False)


def test_neither_of_two_tasks_with_one_id_is_dispatched_and_both_block() -> None:
    found = assessor("## 1. A\n- [ ] 1.1 a\n- [x] 1.1 b\n## 2. B\n- [ ] 2.1 c\n")
    states = found.all()
    assert [each.state for each in states.values()] == [State.DUPLICATE, State.DUPLICATE, State.BLOCKED]
    assert not any(each.ready for each in states.values())


def test_held_blocks_unless_held_tasks_are_skipped() -> None:
    text = "## 1. A\n- [~] 1.1 a\n- [ ] 1.2 b (depends on: 1.1)\n## 2. B\n- [ ] 2.1 c\n"
    assert assessor(text).assess("1.2").blockers == ("1.1",)
    skipping = assessor(text, rules=Rules(skip_held=True))
    assert skipping.assess("1.2").ready
    assert skipping.assess("2.1").blockers == ("1.2",)
    assert skipping.assess("1.1").state is State.HELD


def test_an_open_manual_task_is_not_skipped_with_the_held_ones() -> None:
    text = "## 1. A\n- [ ] 1.1 a [manual]\n## 2. B\n- [ ] 2.1 c\n"
    assert assessor(text, rules=Rules(skip_held=True)).assess("2.1").blockers == ("1.1",)


def test_optional_work_can_be_done_and_blocks_nothing() -> None:
    found = assessor("## 1. A\n- [ ] 1.1 a (optional)\n## 2. B\n- [ ] 2.1 c\n")
    assert found.assess("1.1").ready
    assert found.assess("2.1").ready


def test_a_follow_up_comes_after_everything_and_holds_up_nothing() -> None:
    """Archiving in the first section waits for the last one."""
    found = assessor("## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 Archive the change\n## 2. B\n- [ ] 2.1 c\n")
    assert found.assess("1.2").blockers == ("2.1",)
    finish(found, "1.1")
    assert found.assess("2.1").ready
    assert not found.assess("1.2").ready
    finish(found, "2.1")
    assert found.assess("1.2").ready


# -- outcomes and gates


def test_an_outcome_stays_while_its_task_is_to_be_done_again() -> None:
    """Dependants become stale when a new outcome exists, not when somebody asks for one."""
    found = assessor(TWO_SECTIONS)
    for key in ("1.1", "1.2", "2.1", "3.1"):
        finish(found, key)
    before = found.gate(0).digest
    for change in ({"redo": REDO}, {"integrated": False}):
        found.replace("1.1", replace(found.facts("1.1"), **change))
        assert found.assess("1.1").outcome == "outcome of 1.1"
        assert found.gate(0).digest == before
        assert found.assess("2.1").state is State.RESOLVED


def test_gates_are_chained_so_a_new_outcome_reaches_every_later_section() -> None:
    found = assessor(TWO_SECTIONS)
    for key in ("1.1", "1.2", "2.1", "3.1"):
        finish(found, key)
    digests = [found.gate(index).digest for index in range(3)]
    finish(found, "1.1", outcome="another")
    assert all(found.gate(index).digest != digests[index] for index in range(3))
    assert [found.assess(key).state for key in ("1.2", "2.1", "3.1")] == [State.RESOLVED, State.STALE, State.STALE]


def test_a_gate_is_passed_when_its_tasks_and_all_gates_before_it_are() -> None:
    found = assessor("## 1. A\n- [ ] 1.1 a\n## 2. B\n- [x] 2.1 b\n## 3. C\n- [ ] 3.1 c\n")
    assert (found.gate(1).passed, found.gate(1).open) == (False, ("1.1",))
    finish(found, "1.1")
    assert found.gate(1).passed


def test_open_tasks_are_all_there_and_a_sentence_names_a_few() -> None:
    """The sections right before are told whole, by one shared tuple, so that a large plan stays small."""
    text = "## 1. A\n" + "".join(f"- [ ] 1.{number} a\n" for number in range(1, 30)) + "## 2. B\n- [ ] 2.1 b\n"
    found = assessor(text)
    assert found.assess("2.1").blockers == tuple(f"1.{number}" for number in range(1, 30))
    assert found.assess("2.1").reason == "waits for 1.1, 1.2, 1.3, 1.4, 1.5 and 24 more"
    assert found.assess("2.1").blockers is found.gate(0).open
    for number in range(1, 29):
        finish(found, f"1.{number}")
    assert found.assess("2.1").blockers == ("1.29",)


# -- properties


@given(worlds(), st.data())
def test_ticking_any_box_makes_nothing_stale(world: World, data: st.DataObject) -> None:
    """Whatever the plan's history: marks alone change no digest."""
    before = world.assessor().all()
    held = {line.id for line in world.lines if world.is_for_people(line)}
    for line in data.draw(st.lists(st.sampled_from(world.lines), min_size=1)):
        current = next(each for each in world.lines if each.id == line.id)
        world.mark(current, "x")
    after = world.assessor().all()
    stale = {key for key, each in after.items() if each.state is State.STALE}
    assert stale - held <= {key for key, each in before.items() if each.state is State.STALE}


@given(worlds())
def test_a_task_is_ready_exactly_when_all_it_waits_for_is_finished(world: World) -> None:
    """The chained gates say what a list of every blocker would say."""
    found = world.assessor().all()
    for line in world.lines:
        expected = not world.is_for_people(line) and not world.finished(line) and world.may_start(line)
        assert found[line.id].ready is expected, (line, found[line.id])
        assert found[line.id].state.finished is world.finished(line), (line, found[line.id])


@given(worlds(), st.data())
def test_facts_replaced_one_by_one_give_the_states_of_a_fresh_look(world: World, data: st.DataObject) -> None:
    """The cached gates never outlive what they were made of."""
    known = world.assessor()
    known.all()
    pool = [Facts(), *world.facts.values()]
    for line in data.draw(st.lists(st.sampled_from(world.lines), max_size=6)):
        facts = data.draw(st.sampled_from(pool))
        world.facts[line.id] = facts
        known.replace(line.id, facts)
        looked_at = data.draw(st.sampled_from(world.lines))
        known.assess(looked_at.id)
    fresh = world.assessor()
    assert known.all() == fresh.all()
    assert [known.gate(i) for i in range(len(world.sections))] == [fresh.gate(i) for i in range(len(world.sections))]


@given(worlds(), st.data())
def test_a_renewed_task_with_its_old_outcome_leaves_all_others_as_they_were(world: World, data: st.DataObject) -> None:
    """Early cutoff: what was verified again and changed nothing costs nobody anything."""
    proven = [line for line in world.lines if world.finished(line) and world.facts.get(line.id, Facts()).receipt]
    if not proven:
        return
    line = data.draw(st.sampled_from(proven))
    before = world.assessor().all()
    facts = world.facts[line.id]
    assert facts.receipt is not None
    renewed = replace(facts.receipt, attempt=7, tree="f" * 40, commit="e" * 40, supersedes=facts.receipt.seal)
    world.facts[line.id] = replace(facts, receipt=renewed)
    assert world.assessor().all() == before


@given(worlds(), st.data())
def test_with_another_outcome_exactly_those_that_waited_for_it_are_verified_again(
    world: World, data: st.DataObject
) -> None:
    proven = [line for line in world.lines if world.finished(line) and world.facts.get(line.id, Facts()).receipt]
    if not proven:
        return
    line = data.draw(st.sampled_from(proven))
    before = world.assessor().all()
    world.happen(line, "another outcome")
    for other in world.lines:
        found = world.assessor().assess(other.id)
        if before[other.id].state is State.RESOLVED:
            built_on_it = line in world.waited_for(other)
            assert (found.state is State.STALE) is built_on_it, other
            assert needs_work(found) is built_on_it, other
