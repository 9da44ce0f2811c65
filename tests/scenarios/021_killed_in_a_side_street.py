"""kill -9 at the durable writes that the main story does not pass."""

import signal

from baton_runner.base import crash
from tests.scenarios.space import Done, Space

PLAN = "- [ ] 1.1 Write one. Verify: `test -f 1.1.txt`\n- [ ] Write two, without an id\n"


def _killed(space: Space, point: str, *args: str) -> Done:
    """Run a command that dies at a point, then again; the second time it must succeed or have nothing left to do."""
    done = space.baton(*args, env={crash.VARIABLE: point})
    assert done.code == -signal.SIGKILL, f"{args} never passes {point}: {done.text}"
    again = space.baton(*args)
    assert again.code in {0, 5}, again.text
    return again


def test_init_killed_between_its_files_is_simply_run_again(space: Space) -> None:
    """What is there already is left alone, what is missing is written."""
    space.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    space.commit()
    _killed(space, "init.write@2", "init")
    assert space.read("WORKFLOW.md").startswith("---\n")
    assert "task_baton" in space.read("dodo.py")


def test_abandoning_goes_on_where_it_was_killed(space: Space) -> None:
    """The decision is durable first, so that no half abandoned change looks finished."""
    for point in ("abandon.decision", "abandon.refs", "abandon.records"):
        space = Space(space.root / point)
        space.start(PLAN)
        space.run()
        _killed(space, point, "abandon", "demo")
        assert set(space.states().values()) == {"ready"}
        assert "[x]" not in space.plan()
        space.run()
        assert set(space.states().values()) == {"resolved"}


def test_numbering_takes_receipts_along_also_after_a_kill(space: Space) -> None:
    """The task that got an id keeps its proof under its new name."""
    space.start(PLAN)
    space.run()
    turns = space.agent_turns()
    _killed(space, "renumber.old_receipt", "plan", "number")
    assert "up to date" in space.run().out
    assert space.agent_turns() == turns
    assert "s1." not in "".join(space.states())


def test_a_completion_that_no_longer_holds_is_gone_for_good(space: Space) -> None:
    """A red closing check takes the completion back, and a kill in between leaves it to the next run."""
    space.start("- [ ] 1.1 Write one. Verify: `test ! -f broken`\n")
    space.run()
    assert (space.repo / ".baton" / "complete" / "demo.json").exists()
    space.git("checkout", "--quiet", "baton/demo")
    space.write("broken", "")
    space.git("add", "broken")
    space.git("commit", "--quiet", "-m", "break it")
    space.git("checkout", "--quiet", "main")
    done = space.baton("run", env={crash.VARIABLE: "closing.remove"})
    assert done.code == -signal.SIGKILL, done.text
    again = space.run(code=1)
    assert "test ! -f broken" in again.out
    assert not (space.repo / ".baton" / "complete" / "demo.json").exists()
    assert sum(space.agent_turns().values()) == 1, "a red closing check alone costs no agent"
