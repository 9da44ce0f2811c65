"""kill -9 at every named point of a story, then the same command again: nothing is lost, nothing is done twice.

The story passes nearly every kind of durable write: failures, their repair, an edit, a redo, a forgotten proof, a finish, a
cleaning. Each test kills one command of it at one point; that command is run again, the story goes on, and it must end as
it does without a kill. Points that no command of the story passes are named in ``ELSEWHERE``, with the test that kills there.
"""

import importlib
import pkgutil
import signal
from collections import Counter

import pytest

import baton_runner
from baton_runner.base import crash
from tests.scenarios.space import Space

PLAN = """\
## 1. First

- [ ] 1.1 Write one. Verify: `test -f 1.1.txt`
- [ ] 1.2 Write two. Verify: `test -f 1.2.txt`

## 2. Second

- [ ] 2.1 Write three. Verify: `test -f 2.1.txt`
"""

ELSEWHERE = {
    "abandon.decision": "tests/scenarios/021_killed_in_a_side_street.py",
    "abandon.records": "tests/scenarios/021_killed_in_a_side_street.py",
    "abandon.refs": "tests/scenarios/021_killed_in_a_side_street.py",
    "init.write": "tests/scenarios/021_killed_in_a_side_street.py",
    "renumber.old_receipt": "tests/scenarios/021_killed_in_a_side_street.py",
    "closing.remove": "tests/scenarios/021_killed_in_a_side_street.py",
    "recovery.set_aside": "tests/controller/test_recovery.py",
    "repo.refs_stale_lock": "tests/repo/test_refs.py",
    "pause.write": "a pause only saves requests: tests/controller/test_pauses.py",
}


def declared_points() -> list[str]:
    """Every crash point of the product."""
    for module in pkgutil.walk_packages(baton_runner.__path__, "baton_runner."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return sorted(point for point in crash.declared() if not point.startswith("test."))


class Story:
    """Commands in order, one of which is killed."""

    def __init__(self, space: Space, point: str) -> None:
        self.space = space
        self.point = point
        self.killed = 0

    def tell(self, *args: str, code: int = 0) -> None:
        """Run a command under the crash point until that has struck once; after a kill, run it again without."""
        env = {} if self.killed else {crash.VARIABLE: self.point}
        done = self.space.baton(*args, env=env)
        if done.code == -signal.SIGKILL:
            self.killed += 1
            done = self.space.baton(*args)
            assert done.code in {code, 5}, f"{args}: exit {done.code}\n{done.text}"  # 5: it had been done already
            return
        assert done.code == code, f"{args}: exit {done.code}\n{done.text}"


@pytest.mark.parametrize("point", [point for point in declared_points() if point not in ELSEWHERE])
def test_a_kill_at_a_named_point_costs_at_most_the_turn_in_flight(space: Space, point: str) -> None:
    """Promise 3, at every durable write."""
    space.start(PLAN)
    story = Story(space, point)
    space.script("1.2", "exit 1")
    story.tell("run", "-n", "2", code=1)
    space.script("1.2", "echo two > 1.2.txt")
    story.tell("run", "-n", "2", "--junitxml", str(space.root / "junit.xml"))
    space.script("1.1", "echo better > 1.1.txt")
    space.edit_plan("Write one.", "Write one better.")
    story.tell("redo", "1.2", "-m", "again please")
    story.tell("run", "-n", "2")
    story.tell("forget", "2.1")
    story.tell("run", "-n", "2")
    story.tell("redo", "2.1")
    story.tell("tick", "2.1")

    turns = space.agent_turns()
    least = Counter({"demo:1.1": 2, "demo:1.2": 4, "demo:2.1": 2})
    assert turns >= least
    assert turns.total() <= least.total() + 3 * story.killed, "two tasks in flight, and a fresh grant of attempts"
    assert set(space.states().values()) == {"resolved"}
    assert space.plan().count("[x]") == 3
    merged = space.merged_tasks()
    assert (merged["demo:1.1"], merged["demo:1.2"], merged["demo:2.1"]) == (2, 1, 1), "no change, no second merge"

    story.tell("finish")
    assert space.read("1.1.txt") == "better\n"
    story.tell("clean", "--yes", "--hours", "0")
    story.tell("run")
    assert "up to date" in space.run().out
    assert space.agent_turns() == turns
    space.check_nothing_left()
    assert story.killed == 1, f"the story never passes {point}"


def test_every_crash_point_is_passed_by_some_test() -> None:
    """A point that no longer exists leaves the list of those that are killed elsewhere."""
    assert set(ELSEWHERE) <= set(declared_points())
