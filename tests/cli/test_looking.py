"""``baton status``, ``why`` and ``diff``: what is seen while things run, and after they failed."""

import json
import shutil
from typing import Any

from baton_runner.base.locks import Lock
from tests.cli.conftest import World

RED = """\
---
agent: {kind: command, env: [SPACE], max_attempts: 1, max_turns: 1}
command: {run: sh "$SPACE/agent.sh"}
verify:
  commands: ["! grep -qs wrong 1.1.txt"]
---
"""


def _failed(world: World) -> World:
    """Task 1.1 has failed: its check was red."""
    world.write("WORKFLOW.md", RED)
    world.commit()
    world.script("1.1", "echo wrong > 1.1.txt")
    world.run(code=1)
    return world


def _status(world: World) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(world.ok("status", "--json"))
    return value


# -- status


def test_status_says_why_something_failed_and_where_to_look(world: World) -> None:
    """The red command, its output and the kept worktree are named, for people and programs."""
    _failed(world)
    text = world.ok("status")
    assert "✗ 1.1  Write one" in text
    assert "is red on the merged tree" in text
    assert "Kept worktrees" in text
    assert text.count("is red on the merged tree") == 1
    (change,) = _status(world)["changes"]
    (failed,) = change["failed"]
    assert (failed["id"], failed["state"], failed["command"]) == ("1.1", "failed", "! grep -qs wrong 1.1.txt")
    assert failed["worktree"].endswith("/tree")
    assert failed["log"]
    assert change["states"] == {"resolved": 1, "blocked": 1, "failed": 1}
    (kept,) = _status(world)["kept"]
    assert (kept["task"], kept["attempt"], kept["path"]) == ("demo:1.1", 1, failed["worktree"])


def test_status_answers_while_a_run_holds_everything(world: World) -> None:
    """A task that an agent works on is shown with its attempt and owner, and nobody waits."""
    wait = 'touch "$SPACE/started"; while [ ! -e "$SPACE/go" ]; do sleep 0.05; done; echo 1 > 1.1.txt'
    world.script("1.1", wait)
    running = world.spawn("run", "demo:1.1")
    while not (world.root / "started").exists():
        assert running.poll() is None, running.communicate()
    integration = Lock(world.repo / ".git" / "baton" / "locks" / "integration" / "demo.lock", note="merging")
    with integration:
        seen = _status(world)
        text = world.ok("status")
    (task,) = seen["changes"][0]["running"]
    assert (task["id"], task["attempt"]) == ("1.1", 1)
    assert f"process {running.pid}" in task["owner"]
    assert {"integration/demo", "tasks/demo/1.1"} <= {lock["name"] for lock in seen["locks"]}
    assert "▶ 1.1  Write one  attempt 1" in text
    assert "merging" in text
    (world.root / "go").touch()
    done = world.ended(running)
    assert done.code == 0, done.text
    assert _status(world)["locks"] == []


def test_status_shows_pauses(world: World) -> None:
    """A rate limit that is not over yet is shown until it is."""
    world.write(".baton/pauses/claude_code.json", '{"agent": "claude_code", "until": "2999-01-01T00:00:00.000Z"}')
    world.write(".baton/pauses/command.json", '{"agent": "command", "until": "1999-01-01T00:00:00.000Z"}')
    assert _status(world)["paused"] == {"claude_code": "2999-01-01T00:00:00.000Z"}
    assert "claude_code until 2999-01-01T00:00:00.000Z (rate limit)" in world.ok("status")


def test_a_finished_change_is_complete(finished: World) -> None:
    """Complete means: every task proven, and every check green on the head."""
    assert "demo  3 resolved  complete" in finished.ok("status")
    finished.edit_plan("Write one", "Write one anew")
    assert "complete" not in finished.ok("status")


def test_a_broken_plan_does_not_hide_the_others(world: World) -> None:
    """Each change stands for itself."""
    world.write("tasks/broken/tasks.md", "no box\n")
    text = world.ok("status")
    assert "broken  error: tasks/broken/tasks.md" in text
    assert "demo  " in text


def test_nothing_to_tell_is_said(empty: World) -> None:
    """No change is no error for status."""
    assert empty.ok("status") == "no open change\n"


# -- why


def test_an_edit_is_named_with_old_and_new(finished: World) -> None:
    """The definition differs: its place in the plan, both digests, and the words that were edited."""
    finished.edit_plan("Write one", "Write one, twice")
    text = finished.ok("why", "1.1")
    assert "stale: its text was edited" in text
    assert "changed  definition  tasks/demo/tasks.md:3" in text
    assert "edited in the plan: text from 'Write one' to 'Write one, twice'" in text
    assert text.count(" -> ") == 1


def test_what_a_gate_waits_for_is_named_by_its_event(finished: World) -> None:
    """A later task builds on a section: the task that was resolved again is the event that changed its gate."""
    finished.script("1.1", "echo 2 > 1.1.txt")
    finished.ok("redo", "1.1")
    finished.run("demo:1.1")
    text = finished.ok("why", "2.1")
    assert "stale: what it builds on changed" in text
    assert "changed  gate of section 1  tasks/demo/tasks.md:1" in text
    assert "1.1 was resolved again at " in text
    assert "(attempt 2)" in text


def test_an_added_task_is_an_event_too(finished: World) -> None:
    """A task that joined an earlier section changes its gate."""
    finished.edit_plan("- [x] 1.2 Write two\n", "- [x] 1.2 Write two\n- [ ] 1.3 Write more\n")
    text = finished.ok("why", "2.1")
    assert "changed  gate of section 1" in text
    assert "not finished there now: 1.3" in text


def test_an_explicit_blocker_is_compared_by_itself(world: World) -> None:
    """A dependency note makes an input of its own; removing it is the event."""
    world.write("tasks/demo/tasks.md", "- [ ] 1.1 One\n- [ ] 1.2 Two (depends on 1.1)\n")
    world.run()
    assert "same     blocker 1.1  .baton/outcomes/demo/1.1.json" in world.ok("why", "1.2")
    world.edit_plan(" (depends on 1.1)", "")
    text = world.ok("why", "1.2")
    assert "changed  blocker 1.1" in text
    assert "the plan does not name it as a blocker any more" in text


def test_an_edited_prompt_is_an_input_where_the_policy_says_so(finished: World) -> None:
    """``rerun.on`` makes the prompt one of the inputs that are compared."""
    policy = finished.read("WORKFLOW.md")
    finished.write("WORKFLOW.md", policy + "Do {{ task.title }}.\n")
    assert "prompt" not in finished.ok("why", "1.1")
    finished.write(
        "WORKFLOW.md", policy.replace("verify:", "rerun: {on: [task, prompt]}\nverify:") + "Do {{ task.title }}.\n"
    )
    text = finished.ok("why", "1.1")
    assert "stale: the prompt changed" in text
    assert "changed  prompt  WORKFLOW.md" in text


def test_a_failure_is_told_with_its_output(world: World) -> None:
    """A failed task says which attempt ended how, and where the output and the worktree are."""
    _failed(world)
    text = world.ok("why", "1.1")
    assert "attempt 1 ended at " in text
    assert "its output is in " in text
    assert "its worktree is kept: " in text
    assert "waits for: 1.1" in world.ok("why", "2.1")


def test_a_lost_branch_is_told(finished: World) -> None:
    """A receipt whose commit is in no branch of ours is not integrated."""
    finished.git("update-ref", "-d", "refs/heads/baton/demo")
    text = finished.ok("why", "1.1")
    assert "not integrated" in text
    assert "is not part of baton/demo" in text


# -- diff


def test_diff_shows_the_proven_change_of_one_task(finished: World) -> None:
    """Only what this task changed, whatever was merged around it."""
    text = finished.ok("diff", "1.2")
    assert "+++ b/1.2.txt" in text
    assert "1.1.txt" not in text
    assert "1.2.txt | 1 +" in finished.ok("diff", "1.2", "--stat")


def test_diff_of_a_failed_task_is_what_its_worktree_holds(world: World) -> None:
    """The kept attempt is shown, with what a person added since; later, when it is gone, its last commit."""
    _failed(world)
    (kept,) = [each["path"] for each in _status(world)["kept"]]
    with open(f"{kept}/more.txt", "w") as file:  # noqa: PTH123
        file.write("by hand\n")
    text = world.ok("diff", "1.1")
    assert "+wrong" in text
    assert "+by hand" in text
    assert "kept in" in text
    shutil.rmtree(world.root / "state")
    text = world.ok("diff", "1.1")
    assert "+wrong" in text
    assert "attempt 1, not proven" in text


def test_diff_of_an_untried_task_says_so(world: World) -> None:
    """Nothing was tried: there is nothing to show."""
    assert "no attempt at task 1.1 left a change" in world.refused(5, "diff", "1.1")
