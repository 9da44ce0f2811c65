"""Which change and which task a word means, and what is said when it means none."""

from pathlib import Path

from tests.cli.conftest import World


def test_an_unknown_task_is_answered_with_the_nearest(world: World) -> None:
    """A mistyped id is a usage error that says what was probably meant."""
    assert "has no task 2.2; did you mean" in world.refused(4, "why", "2.2")


def test_an_id_like_no_other_is_answered_with_those_there_are(world: World) -> None:
    """Where nothing is near, the ids of the plan are named."""
    said = world.refused(4, "why", "zzz")
    assert "tasks/demo/tasks.md: has no task zzz" in said
    assert "1.1, 1.2, 2.1" in said


def test_an_unknown_change_is_answered_with_the_nearest(world: World) -> None:
    """A mistyped change is a usage error that says what was probably meant."""
    assert "there is no change dmo; did you mean demo?" in world.refused(4, "why", "dmo:1.1")


def test_no_change_at_all_is_nothing_collected(empty: World) -> None:
    """Where no plan is found, it is said where one is looked for."""
    for args in (["list"], ["why", "1.1"], ["finish"], ["plan", "number"]):
        assert "no change was found" in empty.refused(5, *args)


def test_no_repository_says_what_to_do(world: World, tmp_path: Path) -> None:
    """Outside of a repository every command says so."""
    done = world.baton("list", cwd=tmp_path)
    assert done.code == 4
    assert done.err == f"error: {tmp_path}: is not in a git repository; run git init, or go to a repository\n"


def test_a_folder_that_is_not_there_is_named(world: World, tmp_path: Path) -> None:
    """``-C`` with a wrong path names it."""
    done = world.baton("-C", "nowhere", "list", cwd=tmp_path)
    assert done.code == 4
    assert "nowhere" in done.err


def test_a_broken_policy_is_named_with_its_line(world: World) -> None:
    """A wrong value in WORKFLOW.md stops every command that needs the policy, in one line."""
    world.write("WORKFLOW.md", "---\nagent:\n  max_attempts: none\n---\n")
    said = world.refused(4, "list")
    assert "WORKFLOW.md:3" in said
    assert "max_attempts" in said


def _second(world: World, plan: str) -> None:
    world.write("tasks/other/tasks.md", plan)


def test_two_changes_ask_for_a_name(world: World) -> None:
    """Where two changes are open, a command for one names both."""
    _second(world, "- [ ] 1.1 Other\n")
    assert "there are 2 changes; name one of demo, other" in world.refused(4, "finish")


def test_an_id_of_one_change_alone_needs_no_name(world: World) -> None:
    """An id that only one of two changes has means that one; a broken plan beside it does not matter."""
    _second(world, "- [ ] 9.9 Other\n")
    assert "other:9.9" in world.ok("why", "9.9")
    world.write("tasks/broken/tasks.md", "no box\n")
    assert "other:9.9" in world.ok("why", "9.9")


def test_an_id_of_both_changes_asks_which(world: World) -> None:
    """An id that two changes have is not guessed."""
    _second(world, "- [ ] 1.1 Other\n")
    assert "say demo:1.1 or other:1.1" in world.refused(4, "why", "1.1")
    assert "Other" in world.ok("why", "other:1.1")


def test_an_id_of_no_change_names_the_changes(world: World) -> None:
    """With several changes, an unknown id says how to name a task."""
    _second(world, "- [ ] 1.1 Other\n")
    assert "no change has a task 7.7; name it <change>:<id>; the changes are demo, other" in world.refused(
        4, "why", "7.7"
    )
