"""doit's commands in a user's repository: ours are ours, and the user's own tasks stay as they were."""

import json
from pathlib import Path

import pytest

from tests.build.doit_space import DoitSpace

PLAN = "## 1. A\n- [ ] 1.1 First\n- [ ] 1.2 Second\n## 2. B\n- [ ] 2.1 Third\n"
MIXED = """\
from baton_runner.doit import task_baton

def task_hello():
    return {"actions": ["echo hi >> hello.txt"], "targets": ["hello.txt"], "clean": True}
"""


@pytest.fixture
def space(tmp_path: Path) -> DoitSpace:
    space = DoitSpace(tmp_path.resolve() / "space")
    space.start(PLAN)
    return space


def _status(space: DoitSpace) -> dict[str, str]:
    lines = [line.split() for line in space.doit("list", "--all", "--status").splitlines()]
    return {words[1]: words[0] for words in lines}


def test_two_lines_build_the_plan_and_a_second_run_does_nothing(space: DoitSpace) -> None:
    space.dodo()
    first = space.doit()
    assert "3 resolved" in first
    assert "3 up to date" in space.doit()
    assert space.agent_turns() == {"demo:1.1": 1, "demo:1.2": 1, "demo:2.1": 1}
    assert set(_status(space).values()) == {"U"}


def test_nothing_of_doits_is_left_in_the_checkout(space: DoitSpace) -> None:
    """Receipts are the record; a database beside them would be a second truth, and litter."""
    space.dodo()
    space.doit()
    assert space.git("status", "--porcelain").split() == ["M", "tasks/demo/tasks.md"]
    assert not list(space.repo.glob(".doit*"))


def test_a_task_runs_with_what_it_waits_for(space: DoitSpace) -> None:
    space.dodo()
    space.doit("run", "demo:1.2")
    assert space.agent_turns() == {"demo:1.2": 1}
    space.doit("-n", "1", "demo:2.1")
    assert space.agent_turns() == {"demo:1.1": 1, "demo:1.2": 1, "demo:2.1": 1}


def test_the_list_is_in_plan_order_and_writes_nothing(space: DoitSpace) -> None:
    space.dodo()
    names = list(_status(space))
    assert names == ["baton", "demo", "demo:1.1", "demo:1.2", "demo:gate-1", "demo:2.1", "demo:gate-2", "demo:closing"]
    assert not (space.repo / ".baton").exists()


def test_info_says_why(space: DoitSpace) -> None:
    space.dodo()
    assert "blocked: waits for 1.1, 1.2" in space.doit("info", "demo:2.1", code=1)
    space.doit("demo:1.1")
    assert "proven by its receipt" in space.doit("info", "demo:1.1")


def test_forget_and_clean_drop_the_proof_of_what_is_named_and_only_that(space: DoitSpace) -> None:
    space.dodo()
    space.script("1.2", "date +%N >> 1.2.txt")
    space.doit()
    for bare in (("forget",), ("clean",), ("clean", "-a"), ("forget", "-a")):
        space.doit(*bare)
    assert set(_status(space).values()) == {"U"}
    assert "would drop" in space.doit("clean", "-n", "demo:1.2")
    assert _status(space)["demo:1.2"] == "U"
    assert "forgetting demo:1.2" in space.doit("forget", "demo:1.2")
    assert (_status(space)["demo:1.2"], _status(space)["demo:1.1"]) == ("R", "U")
    space.doit()
    cleaned = space.doit("clean", "demo:1.2")
    assert "demo:1.2 - proof dropped" in cleaned
    assert "forgetting" not in cleaned
    assert _status(space)["demo:1.2"] == "R"
    assert space.agent_turns()["demo:1.1"] == 1


def test_always_does_again_what_is_named(space: DoitSpace) -> None:
    space.dodo()
    space.script("1.1", "date +%N >> 1.1.txt")
    space.doit("demo:1.1")
    space.doit("run", "-a", "demo:1.1")
    assert space.agent_turns() == {"demo:1.1": 2}


def test_a_users_own_tasks_stay_what_they_were(space: DoitSpace) -> None:
    """Bare run, clean and forget are about the user's tasks; a run of theirs starts nothing of ours."""
    space.dodo(MIXED)
    assert ".  hello" in space.doit()
    assert ".  hello" in space.doit("hello")
    space.doit("clean")
    assert not (space.repo / "hello.txt").exists()
    assert "forgetting hello" in space.doit("forget")
    assert not space.agent_turns()
    assert not (space.repo / ".baton").exists()
    space.doit("baton")
    assert len(space.agent_turns()) == 3


def test_a_users_task_may_wait_for_ours(space: DoitSpace) -> None:
    space.dodo(
        MIXED + 'def task_after():\n    return {"actions": ["test -e tasks"], "task_dep": ["demo:1.1", "hello"]}\n'
    )
    out = space.doit("after")
    assert ".  after" in out
    assert "1 resolved" in out
    assert space.agent_turns() == {"demo:1.1": 1}


def test_default_tasks_may_ask_for_a_plan(space: DoitSpace) -> None:
    space.dodo(MIXED + 'DOIT_CONFIG = {"default_tasks": ["demo:1.1"]}\n')
    space.doit()
    assert space.agent_turns() == {"demo:1.1": 1}


def test_a_reporter_that_the_user_chose_is_told_of_ours(space: DoitSpace) -> None:
    space.dodo()
    report = json.loads(space.doit("-r", "json", "demo:1.1"))
    assert {task["name"]: task["result"] for task in report["tasks"]}["demo:1.1"] == "success"


def test_failures_and_held_tasks_end_with_one(space: DoitSpace) -> None:
    space.edit_plan("1.2 Second", "1.2 Second\n  Verify: `echo so red; false`")
    space.dodo()
    out = space.doit(code=1)
    assert "so red" in out
    assert "1 failed, 1 resolved, 1 blocked" in out


def test_a_plan_that_cannot_be_read_is_one_line_and_leaves_the_users_tasks_alone(space: DoitSpace) -> None:
    space.edit_plan("1.2 Second", "1.2 Second (depends on: 9.9)")
    space.dodo(MIXED)
    assert "9.9" in space.doit("demo", code=3)
    space.doit("hello")
    assert "hello" in space.doit("list")


def test_inside_an_assignment_only_the_users_tasks_run(space: DoitSpace) -> None:
    space.dodo(MIXED)
    space.doit_environ |= {"BATON_TASK_ID": "demo:1.1"}
    assert "nothing is scheduled" in space.doit("demo", code=3)
    space.doit("hello")
    space.doit()
    assert not space.agent_turns()


def test_a_dodo_file_without_plans_is_doits_alone(space: DoitSpace) -> None:
    """Our commands stand in for doit's own in the whole environment; nobody may notice."""
    space.dodo(
        'def task_hello():\n    return {"actions": ["echo hi >> hello.txt"], "targets": ["hello.txt"], "clean": True}\n'
    )
    assert space.doit() == ".  hello\n"
    assert space.doit("list", "-s") == "R hello   \n"
    space.doit("forget", "hello")
    space.doit("clean", "hello")
    space.doit("info", "hello", code=1)


def test_doit_needs_no_dodo_file_where_pyproject_names_our_loader(space: DoitSpace) -> None:
    space.write("pyproject.toml", '[tool.doit]\nloader = "baton"\nnum_process = 2\n')
    space.commit()
    out = space.doit()
    assert "2 workers" in out
    assert "3 resolved" in out


def test_ours_are_neither_ignored_nor_blessed(space: DoitSpace) -> None:
    """A flag in a database that nobody reads would be a silent nothing; only a receipt makes a task up to date."""
    space.dodo(MIXED)
    assert "hold it there" in space.doit("ignore", "demo:1.1", code=3)
    assert "accept it" in space.doit("reset-dep", "demo:1.1", code=3)
    space.doit("ignore", "hello")
    assert "!! hello" in space.doit()
    space.doit("forget", "hello")
    (space.repo / "hello.txt").touch()
    space.doit("reset-dep")
    assert _status(space)["demo:1.1"] == "R"


def test_a_change_may_be_called_like_the_group_of_all(space: DoitSpace) -> None:
    space.start("- [ ] 1.1 Only this\n", change="baton")
    space.dodo()
    space.doit("baton")
    assert space.agent_turns() == {"baton:1.1": 1}


def test_a_users_task_called_like_a_plan_is_named_with_it(space: DoitSpace) -> None:
    """Both are named, and what to do; also by commands that only look."""
    space.dodo(MIXED.replace("hello", "demo"))
    for command in ("run", "list", "clean"):
        text = space.doit(command, code=3)
        assert "the dodo file has a task demo, and so has the plan tasks/demo/tasks.md; rename task_demo" in text
