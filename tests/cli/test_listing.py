"""``baton list``: the interface of its JSON, and what a person sees."""

import json
from typing import Any

from baton_runner.base.locks import Lock
from tests.cli.conftest import World

PLAN = """\
## 1. First

- [x] 1.1 Done by hand
- [ ] 1.2 Build `it` <!-- run: make it -->
  - [x] half
  - [ ] rest
  - Verify: `make check`

## Second

- [ ] 2.1 Later (depends on 1.2)
- [~] 2.2 Held
- [ ] 2.3 Sign it (manual)
- [ ] 3.1 Twice
- [ ] 3.1 Twice again
"""


def _listed(world: World, *args: str, code: int = 0) -> list[dict[str, Any]]:
    done = world.call("list", "--all", "--json", *args)
    assert done.code == code, done.text
    value: dict[str, Any] = json.loads(done.out)
    assert set(value) == {"changes"}
    changes: list[dict[str, Any]] = value["changes"]
    return changes


def test_the_json_is_an_interface(world: World) -> None:
    """Names, shapes and state words of ``list --all --json`` are promised to programs."""
    world.write("tasks/demo/tasks.md", PLAN)
    (change,) = _listed(world)
    assert (change["id"], change["path"]) == ("demo", "tasks/demo/tasks.md")
    assert change["counts"] == {"total": 9, "done": 2, "held": 1, "open": 6}
    first, second = change["sections"]
    assert (first["number"], second["number"], second["title"]) == ("1", None, "Second")
    assert first["tasks"][1] == {
        "id": "1.2",
        "title": "Build `it`",
        "line": 4,
        "state": "ready",
        "steps": [{"text": "half", "line": 5, "state": "resolved"}, {"text": "rest", "line": 6, "state": "ready"}],
        "blockers": [],
        "run": ["make it"],
        "verify": ["make check", "true"],
    }
    assert second["tasks"][0]["blockers"] == ["1.2"]
    assert [task["state"] for section in (first, second) for task in section["tasks"]] == [
        "accepted", "ready", "blocked", "held", "manual", "duplicate", "duplicate",
    ]  # fmt: skip


def test_finished_tasks_are_counted_and_shown_when_asked(finished: World) -> None:
    """Without ``--all`` a person sees what is left to do."""
    short = finished.ok("list")
    assert "1.1" not in short
    assert "2 finished" in short
    assert "✓  1.1  resolved  Write one" in finished.ok("list", "--all")


def test_verification_can_be_read_before_it_runs(world: World) -> None:
    """``--verify`` shows what will run for each task, so that a person can approve it."""
    world.write("tasks/demo/tasks.md", PLAN)
    text = world.ok("list", "--verify")
    assert "run     make it" in text
    assert "verify  make check" in text


def test_a_task_without_a_command_is_said(world: World) -> None:
    """``--verify`` says where nothing would prove a task."""
    world.write("WORKFLOW.md", "---\nverify: {required: false}\n---\n")
    assert world.ok("list", "--verify").count("no verification command") == 3


def test_a_broken_plan_does_not_hide_the_others(world: World) -> None:
    """Every change is listed; one that cannot be built says why, and the exit code is that of a usage error."""
    world.write("tasks/broken/tasks.md", "- [ ] 1.1 One (depends on 9.9)\n")
    done = world.call("list")
    assert done.code == 4
    assert "tasks/broken/tasks.md:1: " in done.out
    assert "1.1" in done.out.rpartition("demo")[2]
    broken, demo = _listed(world, code=4)
    assert "9.9" in broken["error"]
    assert (broken["sections"], "error" in demo) == ([], False)


def test_changes_can_be_chosen(world: World) -> None:
    """Named changes are listed alone, in the order in which they are named."""
    world.write("tasks/other/tasks.md", "- [ ] 1.1 Other\n")
    assert [change["id"] for change in _listed(world)] == ["demo", "other"]
    assert [change["id"] for change in _listed(world, "other")] == ["other"]


def test_a_title_cannot_move_the_cursor(world: World) -> None:
    """Titles are shown without control characters."""
    world.write("tasks/demo/tasks.md", "- [ ] 1.1 Wipe \x1b[2J\x1b]0;owned\x07it\n")
    text = world.ok("list")
    assert "Wipe it" in text
    assert "\x1b" not in text


def test_a_reader_never_waits(world: World) -> None:
    """While somebody holds a task and the integration lock, the list answers and says who has the task."""
    locks = world.repo / ".git" / "baton" / "locks"
    task = Lock(locks / "tasks" / "demo" / "1.1.lock", note="demo:1.1")
    integration = Lock(locks / "integration" / "demo.lock")
    with task, integration:
        (change,) = _listed(world)
        assert change["sections"][0]["tasks"][0]["state"] == "running"
    (change,) = _listed(world)
    assert change["sections"][0]["tasks"][0]["state"] == "ready"


def test_looking_writes_nothing(world: World) -> None:
    """A list leaves no trace in a repository that was never worked on."""
    world.ok("list")
    world.ok("status")
    world.ok("why", "1.1")
    assert not (world.repo / ".baton").exists()
    assert world.git("status", "--porcelain") == ""


def test_colour_is_for_terminals(world: World) -> None:
    """Output that is no terminal has no escape sequences, without ``NO_COLOR`` too."""
    environ = {name: value for name, value in world.environ.items() if name != "NO_COLOR"}
    world.environ = environ
    assert "\x1b" not in world.ok("list")
