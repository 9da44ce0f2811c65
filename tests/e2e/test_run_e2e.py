"""``baton run`` with the real Claude Code as its agent: what a user meets, from the plan to the merge."""

import signal
import time
from pathlib import Path

import pytest

from tests.e2e.scripted_model import Model, Refuse, Say, Use
from tests.scenarios.space import Space

PLAN = "- [ ] 1.1 Write hello.txt. Verify: `grep -q hello hello.txt`\n"


@pytest.fixture
def space(tmp_path: Path, claude: Path, model: Model) -> Space:
    """A user's repository whose policy names the real program."""
    made = Space(tmp_path / "space")
    made.environ |= {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "dummy-key-of-the-test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return made.start(PLAN, policy=f"---\nagent: {{kind: claude_code}}\nclaude_code: {{command: {claude}}}\n---\n")


def _work(text: str) -> list[Use | Say]:
    """What the default tools allow: a file is written where the agent is; the harness commits it."""
    return [Use("Write", {"file_path": "hello.txt", "content": f"{text}\n"}), Say("Done.")]


def test_a_task_is_written_verified_merged_and_paid_for(space: Space, model: Model) -> None:
    """One turn; the receipt knows tokens and cost."""
    model.answers = [Use("Bash", {"command": "git status", "description": "look"}), *_work("hello")]
    done = space.run()
    assert space.git("show", "baton/demo:hello.txt") == "hello\n"
    assert "$" in done.out
    assert "Write hello.txt" in str(model.asked[0]["messages"])


def test_a_red_check_goes_back_to_the_same_session(space: Space, model: Model) -> None:
    """The second turn resumes the conversation and is told what was red."""
    model.answers = [*_work("wrong"), *_work("hello")]
    done = space.run()
    assert "2 turns" in done.out
    conversation = str(model.asked[-1]["messages"])
    assert "grep -q hello hello.txt" in conversation
    assert "Write hello.txt" in conversation


def test_a_refused_key_fails_with_the_reason(space: Space, model: Model) -> None:
    model.answers = [Refuse(401)]
    done = space.run(code=1)
    assert "401" in done.out or "authentication" in done.out.lower()
    assert space.merged_tasks() == {}


def test_killed_in_mid_turn_the_next_run_begins_again(space: Space, model: Model) -> None:
    """The turn in flight is lost, its processes end, the task is done by the rerun."""
    model.answers = [Use("Bash", {"command": "git log --all; sleep 60", "description": "wait"})]
    process = space.spawn("run")
    deadline = time.monotonic() + 60
    while not model.asked:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    model.answers = [*_work("hello")]
    space.run()
    assert space.git("show", "baton/demo:hello.txt") == "hello\n"
    space.check_nothing_left()
