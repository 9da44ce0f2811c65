"""``baton log``: outputs of an attempt, readable, also while they come."""

import json
import os

import pytest

from baton_runner.base.locks import Lock
from baton_runner.cli.logs import readable
from tests.cli.conftest import World


def test_the_last_attempt_is_shown(world: World) -> None:
    """Without a number the newest attempt is meant; with one, that one; an unknown one names those there are."""
    world.script("1.1", "echo attempt-$BATON_ATTEMPT says hello; echo x > 1.1.txt")
    world.run("demo:1.1")
    world.script("1.1", "echo attempt-$BATON_ATTEMPT says more; echo y > 1.1.txt")
    world.ok("redo", "1.1")
    world.run("demo:1.1")
    assert "attempt-2 says more" in world.ok("log", "1.1")
    first = world.ok("log", "1.1", "--attempt", "1")
    assert "attempt-1 says hello" in first
    assert "attempt-2" not in first
    assert "has no log of attempt 7; choose one of 1, 2" in world.refused(5, "log", "1.1", "--attempt", "7")


def test_a_task_that_was_never_tried_has_no_log(world: World) -> None:
    """Nothing collected, said in words."""
    assert "no attempt at task 1.1 left a log" in world.refused(5, "log", "1.1")


def _attempt(world: World) -> str:
    path = world.write(".baton/logs/demo/1.1/1/verify-1.log", "first line\nsecond")
    return str(path)


def test_follow_ends_with_the_work(world: World) -> None:
    """While somebody works on the task new lines are shown as they come; then the rest, and the command ends."""
    path = _attempt(world)
    lock = Lock(world.repo / ".git" / "baton" / "locks" / "tasks" / "demo" / "1.1.lock", note="run")
    with lock:
        following = world.spawn("log", "1.1", "--follow")
        assert following.stdout is not None
        while "first line" not in (line := following.stdout.readline()):
            assert line, "it ended while the task was in work"
        with open(path, "a") as file:  # noqa: PTH123
            file.write(" goes on\nthird\n")
        assert following.stdout.readline() == "second goes on\n"
        assert following.stdout.readline() == "third\n"
        with open(path, "a") as file:  # noqa: PTH123
            file.write("no end")
    done = world.ended(following)
    assert (done.code, done.out) == (0, "no end\n")


def test_without_a_worker_follow_is_the_same_as_showing(world: World) -> None:
    """Nothing is waited for when nobody works on the task."""
    _attempt(world)
    assert world.ok("log", "1.1", "-f") == world.ok("log", "1.1")


def test_files_come_in_the_order_in_which_they_were_written(world: World) -> None:
    """Set-up, agent, verification; what the agent was told stands in files of its own and is left out."""
    for number, name in enumerate(("setup.log", "agent.jsonl", "verify-1.log", "prompt-1.md")):
        path = world.write(f".baton/logs/demo/1.1/1/{name}", f"text of {name}\n")
        os.utime(path, (number, number))
    text = world.ok("log", "1.1")
    assert [word for word in text.split() if word in {"setup.log", "agent.jsonl", "verify-1.log"}][::2] == [
        "setup.log", "agent.jsonl", "verify-1.log",
    ]  # fmt: skip
    assert "prompt-1" not in text


def test_an_agent_cannot_move_the_cursor(world: World) -> None:
    """Escape sequences of an agent do not reach the terminal."""
    world.write(".baton/logs/demo/1.1/1/agent.jsonl", json.dumps({"type": "output", "text": "a\x1b[2Jb"}) + "\n")
    assert "\nab\n" in world.ok("log", "1.1")


def _message(kind: str, *content: object) -> str:
    return json.dumps({"type": kind, "message": {"content": list(content)}})


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        (json.dumps({"type": "output", "turn": 1, "text": "hello"}), ["hello"]),
        (json.dumps({"type": "baton", "event": "turn", "turn": 2, "time": "T"}), ["- turn 2, T"]),
        (_message("assistant", {"type": "text", "text": "I look\nat it"}), ["I look\nat it"]),
        (_message("assistant", {"type": "tool_use", "name": "Bash", "input": {"a": 1}}), ['> Bash {"a": 1}']),
        (_message("user", {"type": "tool_result", "content": "out\nput"}), ["< out put"]),
        (_message("user", {"type": "tool_result", "content": [{"type": "text", "text": "t"}]}), ["< t"]),
        (json.dumps({"type": "user", "message": {"content": "plain"}}), ["plain"]),
        (json.dumps({"type": "result", "subtype": "success", "result": "done"}), ["= success: done"]),
        (json.dumps({"type": "system", "subtype": "init"}), []),
        ("no json", ["no json"]),
        ("[1, 2]", ["[1, 2]"]),
        (json.dumps({"type": "new"}), ['{"type": "new"}']),
        (_message("assistant", 3, {"type": "odd"}), []),
    ],
)
def test_records_become_lines_for_people(record: str, lines: list[str]) -> None:
    """Each kind of record of each adapter reads as text; an unknown one is shown, none is an error."""
    assert list(readable(record)) == lines


def test_long_tool_calls_are_cut() -> None:
    """A tool's input may be a whole file; a line shows its beginning."""
    (line,) = readable(_message("assistant", {"type": "tool_use", "name": "Write", "input": "x" * 9000}))
    assert len(line) < 200
    assert line.endswith("…")
