"""Two ``baton run`` and one ``doit`` at once: every task is done once, and all three end well."""

import subprocess
from pathlib import Path

import pytest

from tests.build.doit_space import DoitSpace
from tests.scenarios.space import Space

PLAN = "".join(
    f"## {section}. Part\n" + "".join(f"- [ ] {section}.{number} Write it\n" for number in range(1, 5))
    for section in (1, 2)
)


@pytest.fixture
def doit_space(tmp_path: Path) -> DoitSpace:
    return DoitSpace(tmp_path.resolve() / "space")


def test_every_task_is_done_once_whoever_runs(doit_space: DoitSpace) -> None:
    """What one of them has in work the others wait for, and go on behind it."""
    space = doit_space
    space.start(PLAN).write("dodo.py", "from baton_runner.doit import DOIT_CONFIG, task_baton\n")
    space.commit("dodo.py")
    runs = [space.spawn("run", "-n", "3"), space.spawn("run", "-n", "3"), space.start_doit("-n", "3")]
    ended = [space.ended(run) for run in runs]
    assert [done.code for done in ended] == [0, 0, 0], "\n".join(done.text for done in ended)
    assert max(space.agent_turns().values()) == 1
    assert len(space.agent_turns()) == 8
    assert max(space.merged_tasks().values()) == 1
    space.check_nothing_left()


def test_what_failed_in_one_run_is_not_paid_again_by_the_one_that_waited(space: Space) -> None:
    """The second run waits for the first, which fails; both say so, and the agent was asked by one of them."""
    space.start("- [ ] 1.1 Write it\n  Verify: `false`\n", _one_try())
    started, may_end = space.root / "started", space.root / "may-end"
    space.script("1.1", f"echo x >> 1.1.txt; touch {started}; while [ ! -e {may_end} ]; do sleep 0.05; done")
    first = space.spawn("run")
    _until(started, first)
    second = space.spawn("run", "--events", str(space.root / "second.ndjson"))
    _until(space.root / "second.ndjson", second, "waits")
    may_end.touch()
    ended = [space.ended(first), space.ended(second)]
    assert [done.code for done in ended] == [1, 1], "\n".join(done.text for done in ended)
    assert "failed in another run" in ended[1].text
    assert space.agent_turns() == {"demo:1.1": 1}


def _one_try() -> str:
    from tests.scenarios.space import POLICY

    return POLICY.replace("kind: command", "kind: command, max_turns: 1, max_attempts: 1")


def _until(file: Path, process: "subprocess.Popen[str]", text: str = "") -> None:
    """Wait until a file is there and holds a text; a process that ended without that is told of."""
    while not file.exists() or text not in file.read_text():
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        out, err = process.communicate()
        pytest.fail(f"it ended too early: {out}{err}")
