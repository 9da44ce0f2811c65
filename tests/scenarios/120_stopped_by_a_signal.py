"""Ctrl-C and SIGTERM are an orderly stop: the agent is ended, its work is kept, the next run goes on."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.build.doit_space import DoitSpace
from tests.scenarios.space import Space

PLAN = "- [ ] 1.1 Write it\n- [ ] 1.2 Write more (depends on: 1.1)\n"


@pytest.fixture
def doit_space(tmp_path: Path) -> DoitSpace:
    return DoitSpace(tmp_path.resolve() / "space")


def _slow_at_first(space: Space) -> Path:
    """An agent that works for ever in its first attempt; the file appears when it began, and holds its process id."""
    started = space.root / "started"
    space.script(
        "1.1",
        f"echo half > half.txt; if [ ! -e {started} ]; then echo $$ > {started}.new; mv {started}.new {started}; "
        "while :; do sleep 0.1; done; fi; echo x > 1.1.txt",
    )
    return started


def _until(file: Path, process: "subprocess.Popen[str]") -> int:
    while not file.exists():
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        out, err = process.communicate()
        pytest.fail(f"it ended too early: {out}{err}")
    return int(file.read_text())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_baton_run_stops_in_order(space: Space, number: signal.Signals) -> None:
    space.start(PLAN)
    started = _slow_at_first(space)
    run = space.spawn("run")
    agent = _until(started, run)
    run.send_signal(number)
    done = space.ended(run)
    assert done.code == 2, done.text
    assert "interrupted" in done.text
    assert not Path(f"/proc/{agent}").exists()
    assert "Traceback" not in done.text
    space.run()
    assert space.agent_turns()["demo:1.2"] == 1
    space.check_nothing_left()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_doit_stops_in_order_too(doit_space: DoitSpace, number: signal.Signals) -> None:
    space = doit_space
    space.start(PLAN)
    space.write("dodo.py", "from baton_runner.doit import DOIT_CONFIG, task_baton\n")
    space.commit("dodo.py")
    started = _slow_at_first(space)
    run = space.start_doit()
    agent = _until(started, run)
    run.send_signal(number)
    done = space.ended(run)
    assert done.code == 1, done.text
    assert not Path(f"/proc/{agent}").exists()
    assert "interrupted" in done.text
    assert "Traceback" not in done.text
    space.doit()
    assert space.agent_turns()["demo:1.2"] == 1
