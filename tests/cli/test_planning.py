"""``baton plan number``: ids are written, proofs follow their tasks."""

import pytest

from baton_runner.base.locks import Lock
from tests.cli.conftest import World

PLAN = """\
## 1. First

- [ ] Write one
- [ ] 1.2 Write two

## 2. Second

- [ ] Write three
"""
POLICY = """\
---
agent: {kind: command, env: [SPACE]}
command: {run: 'echo "$BATON_TASK_ID" >> "$SPACE/agent.log"; echo x > "$(echo "$BATON_TASK_ID" | tr -c "a-z0-9\\n" -)"'}
verify:
  commands: ["true"]
---
"""


@pytest.fixture
def unnumbered(world: World) -> World:
    """A finished change two of whose tasks have no id."""
    world.write("tasks/demo/tasks.md", PLAN)
    world.write("WORKFLOW.md", POLICY)
    world.commit()
    world.run()
    return world


def _turns(world: World) -> int:
    return len((world.root / "agent.log").read_text().splitlines())


def test_numbers_are_written_and_proofs_come_along(unnumbered: World) -> None:
    """Everything stays proven under its new id, and the next run does nothing."""
    text = unnumbered.ok("plan", "number")
    assert "numbered 2 tasks of demo" in text
    assert "again" not in text
    assert "- [x] 1.3 Write one" in unnumbered.plan()
    assert "- [x] 2.1 Write three" in unnumbered.plan()
    assert unnumbered.states() == {"1.3": "resolved", "1.2": "resolved", "2.1": "resolved"}
    assert unnumbered.ok("verify").endswith("all whole\n")
    before = _turns(unnumbered)
    unnumbered.run()
    assert _turns(unnumbered) == before
    assert unnumbered.states() == {"1.3": "resolved", "1.2": "resolved", "2.1": "resolved"}
    refs = unnumbered.git("for-each-ref", "--format=%(refname:lstrip=4)", "refs/baton/receipts/demo").split()
    assert refs == ["1.2", "1.3", "2.1"]


def test_a_numbered_plan_stays_as_it_is(finished: World) -> None:
    """Nothing to do is said, and nothing is written."""
    before = finished.plan()
    assert finished.ok("plan", "number") == "every task has an id of its own\n"
    assert finished.plan() == before


def test_duplicates_are_told_apart(world: World) -> None:
    """The way out of a repeated id: the first keeps it."""
    world.write("tasks/demo/tasks.md", "- [ ] 1.1 One\n- [ ] 1.1 Two\n")
    assert set(world.states().values()) == {"duplicate"}
    world.ok("plan", "number")
    assert set(world.states().values()) == {"ready"}


def test_a_stale_task_stays_stale(unnumbered: World) -> None:
    """Numbering proves nothing: what was edited before is still to be done."""
    unnumbered.edit_plan("Write two", "Write two and three")
    unnumbered.ok("plan", "number")
    assert unnumbered.states() == {"1.3": "resolved", "1.2": "stale", "2.1": "resolved"}


def test_a_redo_comes_along(unnumbered: World) -> None:
    """A decision about a task is one about it under its new id too."""
    unnumbered.ok("redo", "s2.1", "-m", "nicer")
    unnumbered.ok("plan", "number")
    assert unnumbered.states()["2.1"] == "redo"
    assert "nicer" in unnumbered.ok("why", "2.1")


def test_a_task_without_its_receipt_is_not_taken_for_accepted(unnumbered: World) -> None:
    """A ticked box whose proof was damaged must not read as ticked by hand under its new id."""
    (receipt,) = unnumbered.repo.glob(".baton/receipts/demo/write-three-*.json")
    receipt.write_bytes(receipt.read_bytes()[:-9])
    unnumbered.git("update-ref", "-d", f"refs/baton/receipts/demo/{receipt.stem}")
    unnumbered.ok("plan", "number")
    assert unnumbered.states()["2.1"] == "redo"


def test_a_task_in_work_is_waited_for(unnumbered: World) -> None:
    """Its work would be published under a key that no task has."""
    with Lock(unnumbered.repo / ".git" / "baton" / "locks" / "tasks" / "demo" / "1.2.lock"):
        assert "task 1.2 is in work" in unnumbered.refused(1, "plan", "number")
    assert "2.1" not in unnumbered.plan()


@pytest.mark.parametrize(
    "point",
    [
        "repo.refs_transaction",
        "publish.receipt",
        "plan.tick",
        "plan.tick.rename",
        "renumber.old_receipt",
    ],
)
def test_a_kill_leaves_a_whole_set(unnumbered: World, point: str) -> None:
    """Wherever it died, every task is proven under the id that the plan gives it; numbering again ends it."""
    assert unnumbered.baton("plan", "number", env={"BATON_CRASH_AT": point}).code == -9
    assert set(unnumbered.states().values()) == {"resolved"}
    unnumbered.ok("plan", "number")
    before = _turns(unnumbered)
    unnumbered.run()
    assert _turns(unnumbered) == before
    assert unnumbered.states() == {"1.3": "resolved", "1.2": "resolved", "2.1": "resolved"}
