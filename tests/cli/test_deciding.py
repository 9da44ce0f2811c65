"""``baton tick``, ``untick``, ``redo``, ``forget``: decisions are on disk before anything else moves."""

import pytest

from baton_runner.base.locks import Lock
from tests.cli.conftest import World

RECEIPT_REF = "refs/baton/receipts/demo/1.1"


def _box(world: World, task: str) -> str:
    (line,) = [line for line in world.plan().splitlines() if f" {task} " in line]
    return line[3]


def _refs(world: World) -> list[str]:
    return world.git("for-each-ref", "--format=%(refname)", "refs/baton/receipts").split()


def test_redo_blanks_the_box_and_keeps_the_proof(finished: World) -> None:
    """The task is to be done again, with the remark; what depends on it stays resolved meanwhile."""
    text = finished.ok("redo", "1.1", "-m", "use tabs")
    assert "demo:1.1  redo" in text
    assert finished.states() == {"1.1": "redo", "1.2": "resolved", "2.1": "resolved"}
    assert _box(finished, "1.1") == " "
    assert RECEIPT_REF in _refs(finished)
    assert "use tabs" in finished.ok("why", "1.1")


def test_a_redone_task_is_worked_on_by_the_next_run_alone(finished: World) -> None:
    """One task is done again, the agent is told the remark, and then the decision is answered."""
    finished.script("1.1", 'cp "$BATON_PROMPT_FILE" "$SPACE/prompt"; echo again > 1.1.txt')
    finished.ok("redo", "1.1", "-m", "use tabs, please")
    before = finished.agent_turns()
    finished.run()
    assert finished.agent_turns() - before == {"demo:1.1": 1}
    assert "use tabs, please" in (finished.root / "prompt").read_text()
    assert set(finished.states().values()) == {"resolved"}


def test_several_tasks_are_decided_at_once(finished: World) -> None:
    """Every id of the command line is meant."""
    finished.ok("redo", "1.1", "demo:2.1")
    assert finished.states() == {"1.1": "redo", "1.2": "resolved", "2.1": "redo"}


def test_untick_of_a_proven_task_is_a_redo(finished: World) -> None:
    """A tick that stands for a receipt is taken back by a decision, or the next run would tick it again."""
    finished.ok("untick", "1.1")
    assert finished.states()["1.1"] == "redo"
    finished.ok("tick", "1.1")
    assert finished.states()["1.1"] == "resolved"
    assert _box(finished, "1.1") == "x"


def test_untick_of_an_accepted_task_only_blanks_the_box(world: World) -> None:
    """What a person ticked, a person unticks: no decision remains."""
    assert "demo:1.1  accepted" in world.ok("tick", "1.1")
    assert "demo:1.1  ready" in world.ok("untick", "1.1")
    assert not list((world.repo / ".baton").rglob("redo/*/*"))
    assert "is not ticked" in world.refused(5, "untick", "1.1")


def test_forget_drops_the_proof(finished: World) -> None:
    """Receipt, ref, outcome and tick mark go; the task is to be done again, whatever a recovery finds."""
    text = finished.ok("forget", "1.1")
    assert "demo:1.1  redo" in text
    assert RECEIPT_REF not in _refs(finished)
    for kind in ("receipts", "outcomes", "ticks"):
        assert not (finished.repo / ".baton" / kind / "demo" / "1.1.json").exists()
    finished.run()  # the agent finds nothing to change: the work is in the branch, and green
    assert set(finished.states().values()) == {"resolved"}
    assert finished.agent_turns()["demo:1.1"] == 2


def test_forget_needs_a_proof(world: World) -> None:
    """A task that was never proven has nothing to forget."""
    assert "task 1.1 has no receipt" in world.refused(5, "forget", "1.1")


def test_a_forgotten_task_may_be_ticked_by_hand(finished: World) -> None:
    """Tick takes the decision back; without a receipt the task is accepted, not proven."""
    finished.ok("forget", "1.1")
    assert "demo:1.1  accepted" in finished.ok("tick", "1.1")
    assert finished.states()["1.1"] == "accepted"


def test_a_tick_is_refused_where_a_receipt_does_not_fit(finished: World) -> None:
    """A stale task would stay stale under a tick: the way out is named, and nothing is written."""
    finished.edit_plan("Write one", "Write one, longer")
    before = finished.plan()
    said = finished.refused(1, "tick", "1.1")
    assert "baton forget demo:1.1" in said
    assert finished.plan() == before


@pytest.mark.parametrize("command", ["forget", "tick"])
def test_a_task_in_work_is_left_alone(finished: World, command: str) -> None:
    """Whoever works on a task is named."""
    with Lock(finished.repo / ".git" / "baton" / "locks" / "tasks" / "demo" / "1.1.lock", note="a run"):
        assert "is in work by process" in finished.refused(1, command, "1.1")
    assert RECEIPT_REF in _refs(finished)


def test_a_decision_made_during_the_work_is_not_answered_by_it(world: World) -> None:
    """``redo`` while a task runs asks for another time after it."""
    script = 'if [ "$BATON_ATTEMPT" = 1 ]; then touch "$SPACE/started"; while [ ! -e "$SPACE/go" ]; do sleep 0.05; done; fi; '
    world.script("1.1", script + 'echo "$BATON_ATTEMPT" > 1.1.txt')
    running = world.spawn("run", "demo:1.1")
    while not (world.root / "started").exists():
        assert running.poll() is None, running.communicate()
    world.ok("redo", "1.1", "-m", "once more")
    (world.root / "go").touch()
    world.ended(running)
    world.run()
    assert world.agent_turns()["demo:1.1"] == 2
    assert world.states()["1.1"] == "resolved"


@pytest.mark.parametrize("point", ["redo.write", "decision.proof_dropped", "repo.refs_transaction", "plan.tick"])
def test_forget_killed_anywhere_never_looks_finished(finished: World, point: str) -> None:
    """A kill before the decision changes nothing; after it the task is to be done again, and a run does that."""
    finished.script("1.1", "echo anew > 1.1.txt")
    killed = finished.baton("forget", "1.1", env={"BATON_CRASH_AT": point})
    assert killed.code == -9, killed.text
    state = finished.states()["1.1"]
    assert state == ("resolved" if point == "redo.write" else "redo")
    finished.run()
    assert finished.agent_turns()["demo:1.1"] == (1 if state == "resolved" else 2)
    assert set(finished.states().values()) == {"resolved"}


@pytest.mark.parametrize(
    "words",
    ["tick 1.1", "untick 1.1", "redo 1.1", "forget 1.1", "abandon demo", "finish", "plan number", "clean --refs --yes"],
)
def test_an_agent_decides_nothing(finished: World, words: str) -> None:
    """Inside an assignment the records and branches of the user are out of reach of our commands."""
    finished.ok("redo", "1.2")
    finished.write(".baton/abandoned/gone.json", '{"change": "gone"}')
    finished.git("update-ref", "refs/baton/attempts/gone/1.1/1", "HEAD")
    before = finished.git("for-each-ref"), finished.plan(), finished.states()
    done = finished.call(*words.split(), BATON_TASK_ID="demo:1.1")
    assert done.code == 4, done.text
    assert "demo:1.1" in done.err
    assert (finished.git("for-each-ref"), finished.plan(), finished.states()) == before


@pytest.mark.parametrize("command", ["tick", "untick", "redo", "forget"])
@pytest.mark.parametrize("wrong", ["nope", "9.9"])
def test_a_name_that_is_wrong_decides_nothing(finished: World, command: str, wrong: str) -> None:
    """All or nothing: the tasks named before it stay as they are."""
    before = finished.plan(), finished.states(), _refs(finished)
    finished.refused(4, command, "1.1", wrong)
    assert (finished.plan(), finished.states(), _refs(finished)) == before


@pytest.mark.parametrize(("command", "code"), [("untick", 5), ("forget", 5), ("tick", 1)])
def test_a_task_that_refuses_keeps_the_others_as_they_are(world: World, command: str, code: int) -> None:
    """What the second task refuses, the first one does not get either."""
    world.run("demo:1.1")
    before = world.plan(), world.states(), _refs(world)
    with Lock(world.repo / ".git" / "baton" / "locks" / "tasks" / "demo" / "2.1.lock"):
        world.refused(code, command, "1.1", "2.1")
    assert (world.plan(), world.states(), _refs(world)) == before


def test_a_task_named_twice_is_decided_once(finished: World) -> None:
    """The id and the full name mean the same task."""
    assert finished.ok("forget", "1.1", "demo:1.1").count("demo:1.1") == 1
