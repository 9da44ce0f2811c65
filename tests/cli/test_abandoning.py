"""``baton abandon``: a change is given up, its work is not lost."""

import shutil

import pytest

from baton_runner.base.locks import Lock
from tests.cli.conftest import World


def _refs(world: World, prefix: str) -> dict[str, str]:
    listing = world.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(line.split(" ") for line in listing)


def test_the_merged_work_stays_under_a_ref(finished: World) -> None:
    """Branch, record and receipts go, boxes of ours are blank, the tip and all attempts stay reachable."""
    tip = finished.git("rev-parse", "baton/demo").strip()
    attempts = _refs(finished, "refs/baton/attempts")
    text = finished.ok("abandon", "demo")
    assert "3 tasks unticked" in text
    assert _refs(finished, "refs/baton/abandoned") == {f"refs/baton/abandoned/demo/{tip[:16]}": tip}
    assert _refs(finished, "refs/baton/attempts") == attempts
    for gone in ("refs/heads/baton", "refs/baton/receipts", "refs/baton/changes"):
        assert _refs(finished, gone) == {}
    assert set(finished.states().values()) == {"ready", "blocked"}


def test_a_given_up_change_can_be_started_anew(finished: World) -> None:
    """The next run starts from nothing, with attempt numbers never used before."""
    finished.ok("abandon", "demo")
    finished.run()
    assert set(finished.states().values()) == {"resolved"}
    assert finished.agent_turns() == {"demo:1.1": 2, "demo:1.2": 2, "demo:2.1": 2}
    assert "refs/baton/attempts/demo/1.1/2" in _refs(finished, "refs/baton/attempts")


def test_what_a_person_ticked_stays(world: World) -> None:
    """A box without a receipt is not ours to blank."""
    world.ok("tick", "1.1")
    world.run("demo:1.2")
    world.ok("abandon", "demo")
    assert world.states()["1.1"] == "accepted"
    assert world.states()["1.2"] == "ready"


def test_a_change_whose_folder_is_gone_can_be_abandoned(finished: World) -> None:
    """Refs and records of a deleted plan are no orphans for ever."""
    shutil.rmtree(finished.repo / "tasks")
    assert "abandoned demo" in finished.ok("abandon", "demo")
    assert _refs(finished, "refs/baton/receipts") == {}


def test_an_unknown_change_is_refused(finished: World) -> None:
    """A mistyped name gives nothing up."""
    assert "did you mean demo?" in finished.refused(4, "abandon", "dmo")


def test_a_change_in_work_is_not_given_up(finished: World) -> None:
    """Whoever works on a task of it is named."""
    with Lock(finished.repo / ".git" / "baton" / "locks" / "tasks" / "demo" / "2.1.lock"):
        assert "task 2.1 is in work" in finished.refused(1, "abandon", "demo")
    assert set(finished.states().values()) == {"resolved"}


def test_a_branch_that_is_checked_out_is_not_deleted(finished: World) -> None:
    """The checkout would be left without a branch."""
    finished.git("worktree", "add", "--quiet", str(finished.root / "look"), "baton/demo")
    assert "is checked out in" in finished.refused(1, "abandon", "demo")
    assert set(finished.states().values()) == {"resolved"}


@pytest.mark.parametrize("point", ["abandon.decision", "plan.tick", "abandon.refs", "abandon.records"])
def test_a_killed_abandon_is_ended_by_the_next(finished: World, point: str) -> None:
    """Wherever it died, calling it again gives the same end, and nothing was lost on the way."""
    tip = finished.git("rev-parse", "baton/demo").strip()
    assert finished.baton("abandon", "demo", env={"BATON_CRASH_AT": point}).code == -9
    finished.ok("abandon", "demo")
    assert _refs(finished, "refs/baton/abandoned") == {f"refs/baton/abandoned/demo/{tip[:16]}": tip}
    assert set(finished.states().values()) == {"ready", "blocked"}


def test_receipts_are_counted_where_their_files_are_gone(finished: World) -> None:
    """The refs are what counts: they are dropped, so they are told."""
    shutil.rmtree(finished.repo / ".baton")
    assert "abandoned demo: 3 receipts dropped" in finished.ok("abandon", "demo")
