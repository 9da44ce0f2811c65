"""A plan is the user's: edited while it runs, reworded, renamed."""

import time
from pathlib import Path

import pytest

from tests.scenarios.space import Done, Space

PLAN = "## 1. A\n\n- [ ] 1.1 Slow\n\n## 2. B\n\n- [ ] 2.1 Deploy\n- [ ] 2.2 Ask\n"


def _edited_during_the_run(space: Space, *edits: tuple[str, str], code: int) -> Done:
    """Edit the plan while task 1.1 is in work."""
    space.start(PLAN)
    space.script("1.1", 'touch "$SPACE/begun"; while [ ! -e "$SPACE/go" ]; do sleep 0.05; done; touch 1.1.txt')
    process = space.spawn("run")
    _wait_for(space.root / "begun")
    for old, new in edits:
        space.edit_plan(old, new)
    (space.root / "go").touch()
    done = space.ended(process)
    assert done.code == code, done.text
    return done


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_task_held_or_kept_for_people_during_the_run_is_not_dispatched(space: Space) -> None:
    """The mark wins over everything, also while a run is going on."""
    _edited_during_the_run(space, ("[ ] 2.1", "[~] 2.1"), ("2.2 Ask", "2.2 Ask [MANUAL]"), code=1)
    assert space.agent_turns() == {"demo:1.1": 1}
    assert "[~] 2.1" in space.plan()
    assert space.states() == {"1.1": "resolved", "2.1": "held", "2.2": "manual"}


def test_a_task_taken_out_during_the_run_is_not_dispatched(space: Space) -> None:
    _edited_during_the_run(space, ("- [ ] 2.2 Ask\n", ""), code=0)
    assert space.agent_turns() == {"demo:1.1": 1, "demo:2.1": 1}


def test_a_task_reworded_during_the_run_is_done_once_as_it_reads_now(space: Space) -> None:
    _edited_during_the_run(space, ("Deploy", "Deploy twice"), code=0)
    assert space.agent_turns()["demo:2.1"] == 1
    prompt = (space.repo / ".baton" / "logs" / "demo" / "2.1" / "1" / "prompt-1.md").read_text()
    assert "Deploy twice" in prompt


def test_a_box_ticked_by_a_person_during_the_run_is_accepted(space: Space) -> None:
    _edited_during_the_run(space, ("[ ] 2.1", "[x] 2.1"), code=0)
    assert "demo:2.1" not in space.agent_turns()
    assert space.states()["2.1"] == "accepted"


def test_a_renamed_change_is_not_complete_and_says_what_it_was(space: Space) -> None:
    """A tick of ours never reads as one of a person."""
    space.start("- [ ] 1.1 One\n")
    space.run()
    (space.repo / "tasks" / "demo").rename(space.repo / "tasks" / "other")
    done = space.run(code=1)
    assert "demo:1.1" in done.out
    assert space.states() == {"1.1": "stale"}
    (space.repo / "tasks" / "other").rename(space.repo / "tasks" / "demo")
    assert "up to date" in space.run().out


@pytest.mark.parametrize("agent", ["touch more.txt", "true"])
def test_a_finished_task_without_an_id_that_is_reworded_is_done_again(space: Space, agent: str) -> None:
    """Also where the agent finds nothing to change: it was done before."""
    space.start("- [ ] Write the first file of all\n")
    space.run()
    space.edit_plan("first file of all", "first file of all, and another")
    assert set(space.states().values()) == {"stale"}
    space.script("s1.1", agent)
    space.run()
    assert sum(space.agent_turns().values()) == 2
    assert set(space.states().values()) == {"resolved"}
