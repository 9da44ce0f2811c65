"""``baton finish`` and ``baton clean``: work reaches the user's branch verified, and nothing unmerged is lost."""

import pytest

from baton_runner.base.locks import Lock
from tests.cli.conftest import World

RED_ON_1_1 = """\
---
agent: {kind: command, env: [SPACE], max_attempts: 1, max_turns: 1}
command: {run: sh "$SPACE/agent.sh"}
verify:
  commands: ["test ! -e forbidden.txt"]
---
"""


def _tip(world: World, branch: str) -> str:
    return world.git("rev-parse", branch).strip()


def _worktrees(world: World) -> int:
    return world.git("worktree", "list", "--porcelain").count("worktree ")


# -- finish


def test_a_finished_change_moves_the_branch_and_its_files_forward(finished: World) -> None:
    """Fast-forward: branch and checkout hold the work, the ticks stay the user's uncommitted change."""
    finished.ok("finish")
    assert _tip(finished, "main") == _tip(finished, "baton/demo")
    assert finished.read("1.1.txt") == "done\n"
    assert finished.git("status", "--porcelain").split() == ["M", "tasks/demo/tasks.md"]
    assert "main holds all of demo" in finished.ok("finish")


def test_an_open_task_keeps_a_change_from_being_finished(world: World) -> None:
    """What is open is named; ``--partial`` brings what is integrated."""
    world.run("demo:1.1")
    before = _tip(world, "main")
    said = world.refused(1, "finish")
    assert "2 tasks are not finished: 1.2, 2.1" in said
    assert _tip(world, "main") == before
    text = world.ok("finish", "--partial")
    assert "still open: 1.2, 2.1" in text
    assert _tip(world, "main") == _tip(world, "baton/demo")


def test_nothing_integrated_is_nothing_to_finish(world: World) -> None:
    """A change that was never run has nothing to bring, complete or not."""
    assert "nothing is integrated yet" in world.refused(5, "finish", "--partial")
    world.ok("tick", "1.1", "1.2", "2.1")
    assert "not every check is known to be green" in world.refused(1, "finish")
    world.run()
    said = world.refused(5, "finish")
    assert "every task was accepted by hand, so there is nothing of ours to merge" in said
    assert "baton run" not in said


def test_an_open_box_in_a_fence_keeps_a_change_from_being_complete(finished: World) -> None:
    """OpenSpec counts it, so a change with one is not done."""
    finished.write("tasks/demo/tasks.md", finished.plan() + "\n```\n- [ ] hidden\n```\n")
    assert "inside a fence or comment, line 11" in finished.refused(1, "finish")


def test_an_edit_since_the_run_is_noticed(finished: World) -> None:
    """A task that is stale now is not finished."""
    finished.edit_plan("Write one", "Write one, and better")
    assert "not finished: 1.1" in finished.refused(1, "finish")


def test_dirty_paths_are_named_and_nothing_is_touched(finished: World) -> None:
    """A file in the way of what would be written stops it before anything moved."""
    finished.write("1.1.txt", "mine\n")
    before = _tip(finished, "main")
    assert "1.1.txt" in finished.refused(1, "finish")
    assert (_tip(finished, "main"), finished.read("1.1.txt")) == (before, "mine\n")
    assert not (finished.repo / "1.2.txt").exists()


def test_a_branch_that_moved_on_gets_a_verified_merge(finished: World) -> None:
    """Commits of the user are kept: the merge is made beside, verified, and only then the branch moves to it."""
    finished.write("user.txt", "mine\n")
    finished.git("add", "user.txt")
    finished.git("commit", "--quiet", "-m", "user")
    finished.ok("finish")
    parents = finished.git("log", "-1", "--format=%P", "main").split()
    assert parents[1] == _tip(finished, "baton/demo")
    assert (finished.read("user.txt"), finished.read("1.1.txt")) == ("mine\n", "done\n")
    assert "Baton-Change: demo" in finished.git("log", "-1", "--format=%B", "main")


def test_a_merge_that_is_red_does_not_reach_the_branch(world: World) -> None:
    """Two green sides may be red together: that is seen before the user's branch moves."""
    world.write("WORKFLOW.md", RED_ON_1_1.replace("test ! -e forbidden.txt", "! test -e user.txt -a -e 1.1.txt"))
    world.commit()
    world.run()
    world.write("user.txt", "mine\n")
    world.git("add", "user.txt")
    world.git("commit", "--quiet", "-m", "user")
    before = _tip(world, "main")
    said = world.refused(1, "finish")
    assert "red when merged with the integration branch" in said
    assert _tip(world, "main") == before
    assert not (world.repo / "1.1.txt").exists()


def test_a_conflict_names_the_paths(finished: World) -> None:
    """Both sides wrote the same file: a person decides, nothing was touched."""
    finished.write("1.1.txt", "mine\n")
    finished.git("add", "1.1.txt")
    finished.git("commit", "--quiet", "-m", "user")
    before = _tip(finished, "main")
    assert "conflicts in 1.1.txt" in finished.refused(1, "finish")
    assert _tip(finished, "main") == before


def test_another_branch_can_be_named(finished: World) -> None:
    """``--into`` moves that branch; the checkout is not concerned."""
    finished.git("branch", "release")
    finished.ok("finish", "--into", "release")
    assert _tip(finished, "release") == _tip(finished, "baton/demo")
    assert not (finished.repo / "1.1.txt").exists()
    assert "does not exist" in finished.refused(4, "finish", "--into", "nowhere")


def test_a_change_from_a_detached_head_asks_for_a_branch(world: World) -> None:
    """Without a base branch it is not guessed."""
    world.git("checkout", "--quiet", "--detach")
    world.run()
    assert "--into" in world.refused(1, "finish")
    world.ok("finish", "--into", "main")


# -- clean


def test_clean_shows_before_it_touches(finished: World) -> None:
    """Without ``--yes`` nothing is removed."""
    assert finished.ok("clean") == "nothing to remove\n"
    finished.ok("redo", "1.1")
    finished.script("1.1", "echo 2 > 1.1.txt")
    finished.run()
    assert finished.ok("clean") == "nothing to remove\n"  # younger than workspace.gc_hours
    before = _worktrees(finished)
    text = finished.ok("clean", "--hours", "0")
    assert "nothing was touched" in text
    assert "baton clean --yes --hours 0 removes " in text
    assert "baton clean --yes --refs --hours 0 removes " in finished.ok("clean", "--hours", "0", "--refs")
    assert _worktrees(finished) == before > 1
    finished.ok("clean", "--hours", "0", "--yes")
    assert _worktrees(finished) == 1
    finished.git("fsck", "--strict", "--no-dangling")


def test_a_failed_worktree_goes_only_after_its_work_is_parked(world: World) -> None:
    """Uncommitted work of an agent survives the removal of its worktree."""
    world.write("WORKFLOW.md", RED_ON_1_1)
    world.commit()
    world.script("1.1", "echo precious > forbidden.txt")
    world.run("demo:1.1", code=1)
    (kept,) = world.root.glob("state/baton/*/w/a*/tree")
    (kept / "later.txt").write_text("added by hand\n")
    assert "kept since" in world.ok("clean", "--hours", "0")
    text = world.ok("clean", "--hours", "0", "--yes")
    assert not kept.exists()
    (ref,) = [word for word in text.split() if word.startswith("refs/baton/kept/")]
    assert world.git("show", f"{ref}:later.txt") == "added by hand\n"
    assert world.git("show", f"{ref}:forbidden.txt") == "precious\n"


def test_what_is_in_use_or_must_stay_stays(world: World) -> None:
    """A worktree whose lock is held is not offered; one with a repository of its own is kept, and the exit code says so."""
    world.run("demo:1.1")
    (slot,) = world.root.glob("state/baton/*/w/a*")
    world.git("init", "--quiet", str(slot / "tree" / "nested"))
    (slot / "tree" / "nested" / "file").write_text("work\n")
    with Lock(slot / "lock"):
        assert str(slot) not in world.ok("clean", "--hours", "0")
    done = world.call("clean", "--hours", "0", "--yes")
    assert done.code == 1
    assert "holds a repository of its own" in done.out
    assert (slot / "tree" / "nested" / "file").exists()


def test_a_landed_branch_of_a_closed_change_goes(finished: World) -> None:
    """After a full life of a change nothing of ours is among the user's branches; before, the branch stays."""
    assert finished.ok("clean") == "nothing to remove\n"
    finished.ok("finish")
    assert finished.ok("clean") == "nothing to remove\n"  # the change is open: it may be run again
    finished.git("mv", "tasks/demo", "tasks/archive-demo")
    (finished.repo / "tasks" / "archive-demo").rename(finished.repo / "tasks" / ".done")
    assert "branch baton/demo" in finished.ok("clean")
    finished.ok("clean", "--yes")
    assert finished.git("branch", "--format=%(refname:short)").split() == ["main"]


def test_a_branch_that_has_not_landed_stays(finished: World) -> None:
    """Work that is in no branch of the user is kept, also when its plan is gone."""
    (finished.repo / "tasks" / "demo").rename(finished.repo / "tasks" / ".done")
    assert finished.ok("clean") == "nothing to remove\n"


def test_abandoned_work_goes_only_by_refs(finished: World) -> None:
    """``--refs`` alone lets go of it, and not of a change that was taken up again."""
    finished.ok("abandon", "demo")
    assert finished.ok("clean") == "nothing to remove\n"
    assert "refs/baton/attempts/demo/1.1/1" in finished.ok("clean", "--refs")
    finished.ok("clean", "--refs", "--yes")
    assert finished.git("for-each-ref", "refs/baton/attempts", "refs/baton/abandoned") == ""
    assert finished.ok("clean", "--refs") == "nothing to remove\n"


def test_a_change_taken_up_again_keeps_its_attempts(finished: World) -> None:
    """After a new run the change is no abandoned one."""
    finished.ok("abandon", "demo")
    finished.run()
    assert "refs/baton/attempts" not in finished.ok("clean", "--refs")


def test_old_greens_go_and_those_of_heads_stay(finished: World) -> None:
    """Known greens of trees that nobody asks for are dropped beyond the last twenty."""
    folder = finished.repo / ".baton" / "checks"
    head = finished.git("rev-parse", "baton/demo^{tree}").strip()
    assert (folder / head).is_dir()
    for number in range(30):
        (folder / f"{number:040}").mkdir()
    finished.ok("clean", "--yes")
    assert (folder / head).is_dir()
    assert len(list(folder.glob("0000*"))) <= 20


@pytest.mark.parametrize("hours", ["-1", "x"])
def test_an_odd_age_is_a_usage_error(world: World, hours: str) -> None:
    """Hours are a number of at least 0."""
    assert "--hours" in world.refused(4, "clean", "--hours", hours)
