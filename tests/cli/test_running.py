"""``baton run``: its words reach the build, its ends become exit codes."""

import json
import signal
import xml.etree.ElementTree as ET

from tests.cli.conftest import World


def test_a_dry_run_says_what_would_run_and_touches_nothing(world: World) -> None:
    """Every task is named with its reason; no agent, no branch, no tick."""
    text = world.ok("run", "--dry-run")
    assert all(task in text for task in ("demo:1.1", "demo:1.2", "demo:2.1"))
    assert world.agent_turns() == {}
    assert world.git("branch", "--format=%(refname:short)").split() == ["main"]
    assert set(world.states().values()) == {"ready", "blocked"}


def test_a_selection_reaches_the_build(world: World) -> None:
    """Targets and ``-k`` choose tasks; what they wait for comes along, nothing else."""
    world.run("-k", "two", "-n", "1", "-q")
    assert world.agent_turns() == {"demo:1.2": 1}
    world.run("demo:1.*")
    assert world.states() == {"1.1": "resolved", "1.2": "resolved", "2.1": "ready"}


def test_nothing_matching_is_nothing_collected(world: World) -> None:
    """5 for no match, 4 for a change or a kind of agent that does not exist."""
    assert world.baton("run", "-k", "nowhere").code == 5
    assert world.baton("run", "dmo:1.1").code == 4
    assert world.baton("run", "--agent", "robot").code == 4


def test_a_failure_ends_with_1_and_stops_where_asked(world: World) -> None:
    """``-x`` starts nothing after the first failure."""
    world.script("1.1", "exit 3")
    world.script("1.2", "exit 3")
    world.run("-x", "-n", "1", code=1)
    assert set(world.agent_turns()) == {"demo:1.1"}
    world.run("--lf", "--maxfail", "1", "-n", "1", code=1)
    assert set(world.agent_turns()) == {"demo:1.1"}


def test_force_does_finished_work_again(finished: World) -> None:
    """Whatever the receipt says: the selected task alone is done again."""
    finished.script("1.1", "echo again > 1.1.txt")
    before = finished.agent_turns()
    finished.run("demo:1.1", "--force")
    assert finished.agent_turns() - before == {"demo:1.1": 1}


def test_held_tasks_wait_for_a_person_or_are_skipped(world: World) -> None:
    """1 as long as somebody must act; ``--skip-held`` lets later sections pass."""
    world.edit_plan("- [ ] 1.1", "- [~] 1.1")
    world.run(code=1)
    assert world.states()["2.1"] == "blocked"
    world.run("--skip-held")
    assert world.states()["1.1"] == "held"
    assert world.agent_turns()["demo:2.1"] == 1


def test_reports_are_written_where_asked(world: World) -> None:
    """A JUnit file for CI, events as NDJSON on standard output while people read standard error."""
    done = world.run("--junitxml", "report.xml", "--events", "-", "--durations", "1")
    kinds = [json.loads(line)["kind"] for line in done.out.splitlines()]
    assert (kinds[0], kinds[-1]) == ("run.started", "run.ended")
    assert "3 resolved" in done.err
    cases = ET.parse(world.repo / "report.xml").getroot().findall(".//testcase")  # noqa: S314 - we wrote it
    assert len([case for case in cases if case.find("failure") is None]) >= 3


def test_inside_an_assignment_nothing_is_scheduled(world: World) -> None:
    """An agent that calls ``baton run`` is told what to do instead."""
    done = world.baton("run", env={"BATON_TASK_ID": "demo:1.1"})
    assert done.code == 4
    assert "nothing is scheduled from inside it" in done.err


def test_an_interrupted_run_ends_with_2_and_goes_on_later(world: World) -> None:
    """Ctrl-C ends the agent in good order; the next run does what is left."""
    world.script("1.1", 'touch "$SPACE/started"; [ -e "$SPACE/go" ] || sleep 60; echo 1 > 1.1.txt')
    running = world.spawn("run", "demo:1.1")
    while not (world.root / "started").exists():
        assert running.poll() is None, running.communicate()
    running.send_signal(signal.SIGINT)
    done = world.ended(running)
    assert done.code == 2, done.text
    assert "Traceback" not in done.text
    (world.root / "go").touch()
    world.run()
    assert set(world.states().values()) == {"resolved"}


def test_an_interrupted_look_ends_with_2(world: World) -> None:
    """Ctrl-C while something is only shown: one word, no traceback."""
    wait = 'touch "$SPACE/started"; while [ ! -e "$SPACE/go" ]; do sleep 0.05; done; echo 1 > 1.1.txt'
    world.script("1.1", f"echo working; {wait}")
    running = world.spawn("run", "demo:1.1")
    while not (world.root / "started").exists():
        assert running.poll() is None, running.communicate()
    following = world.spawn("log", "1.1", "--follow")
    assert following.stdout is not None
    while "working" not in (line := following.stdout.readline()):
        assert line, following.communicate()
    following.send_signal(signal.SIGINT)
    done = world.ended(following)
    assert (done.code, done.err.strip()) == (2, "interrupted")
    (world.root / "go").touch()
    assert world.ended(running).code == 0
