"""kill -9 at random moments of a run of sixteen tasks, a dozen times, then a rerun: all done, nothing twice."""

import random
import signal
import subprocess
import time
from pathlib import Path

from tests.scenarios.space import Space

TASKS = 16
KILLS = 12


def _plan() -> str:
    halves = [range(1, 9), range(9, 17)]
    return "".join(
        f"\n## {part}. Part\n\n"
        + "".join(f"- [ ] {part}.{n} Write {n}. Verify: `test -s {part}.{n}.txt`\n" for n in half)
        for part, half in enumerate(halves, 1)
    )


def test_a_dozen_kills_cost_no_finished_task(space: Space) -> None:
    """Promise 3: what had a receipt when the process died is never worked on again; promise 5: no agent survives."""
    space.start(_plan())
    moments = random.Random(16)  # noqa: S311 - the same moments in every run
    finished: set[str] = set()
    for _ in range(KILLS):
        turns_before = space.agent_turns()
        process = space.spawn("run", "-n", "4")
        time_to_live = moments.uniform(0.2, 1.5)
        try:
            process.wait(timeout=time_to_live)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        turns = space.agent_turns()
        again = {name for name in finished if turns[f"demo:{name}"] != turns_before[f"demo:{name}"]}
        assert not again, "finished tasks were worked on again"
        finished |= _with_receipt(space.repo)
    space.run("-n", "4")
    assert set(space.states().values()) == {"resolved"}
    assert space.plan().count("[x]") == TASKS
    merged = space.merged_tasks()
    assert set(merged.values()) == {1}
    assert len(merged) == TASKS
    _wait_until_gone(space)
    space.run()
    space.check_nothing_left()


def _with_receipt(repo: Path) -> set[str]:
    return {path.stem for path in (repo / ".baton" / "receipts" / "demo").glob("*.json")}


def _wait_until_gone(space: Space) -> None:
    """No process of an agent or a check is left; the rerun swept what the dead had left."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if str(space.root / "agent.sh") not in listed:
            return
    raise AssertionError("an agent is still running")
