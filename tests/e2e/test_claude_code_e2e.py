"""The real Claude Code against a scripted model: what the adapter relies on is what the program does."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.agents.claude_code import ClaudeCode
from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest
from baton_runner.base.processes import Cancel, processes_marked
from tests.e2e.scripted_model import Model, Refuse, Say, Use

Make = Callable[..., SessionRequest]


def names(events: list[AgentEvent]) -> list[str]:
    return [event.event.value for event in events]


def test_it_is_available(agent: ClaudeCode, assignment: Make) -> None:
    environ = assignment().environ
    assert agent.available(environ) is None
    assert (agent.version(environ) or "").count(".") == 2


def test_a_file_is_written_and_committed(
    agent: ClaudeCode, assignment: Make, model: Model, worktree: Path, history: Callable[[], list[str]]
) -> None:
    """Without a word of policy: editing and committing are allowed, and git finds an identity."""
    model.answers = [
        Use("Write", {"file_path": str(worktree / "hello.txt"), "content": "hello\n"}),
        Use("Bash", {"command": "git add -A && git commit -q -m 'add hello'", "description": "commit"}),
        Say("All done."),
    ]
    result = agent.start_session(assignment()).run_turn("-p Write hello.txt and commit. " + "x" * 300_000, 1)
    assert (result.outcome, result.message, result.denials) == (Outcome.COMPLETED, "All done.", ())
    assert (worktree / "hello.txt").read_text() == "hello\n"
    assert history() == ["The Agent: add hello", "T: start"]
    assert result.usage.input_tokens == 360
    assert result.usage.cost_usd
    assert "x" * 300_000 in str(model.asked[0]["messages"])


def test_what_it_prints_is_understood(
    agent: ClaudeCode, assignment: Make, model: Model, events: list[AgentEvent]
) -> None:
    model.answers = [Use("Bash", {"command": "git status", "description": "look"}), Say("Clean.")]
    agent.start_session(assignment()).run_turn("Look.", 1)
    assert names(events)[0] == "session_started"
    assert {"tool_use", "notification"} <= set(names(events))
    assert "malformed" not in names(events)
    assert names(events)[-1] == "turn_completed"


def test_the_second_turn_remembers_the_first(agent: ClaudeCode, assignment: Make, model: Model, worktree: Path) -> None:
    session = agent.start_session(assignment())
    model.answers = [Say("First answer.")]
    first = session.run_turn("The first prompt.", 1)
    model.answers = [Use("Write", {"file_path": str(worktree / "f"), "content": "2"}), Say("Second answer.")]
    second = session.run_turn("The second prompt.", 2)
    assert (first.outcome, second.outcome) == (Outcome.COMPLETED, Outcome.COMPLETED)
    assert second.agent_session_id == first.agent_session_id
    assert second.usage.input_tokens == 240
    conversation = str(model.asked[-1]["messages"])
    assert all(text in conversation for text in ("The first prompt.", "First answer.", "The second prompt."))


def test_a_lost_session_is_begun_anew(agent: ClaudeCode, assignment: Make, model: Model) -> None:
    request = assignment(resume_id="00000000-0000-4000-8000-000000000000", task_prompt="The task.")
    model.answers = [Say("Done anyway.")]
    result = agent.start_session(request).run_turn("Go on.", 3)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "Done anyway.")
    assert "The task." in str(model.asked[0]["messages"])
    assert result.session_id == f"{result.agent_session_id}-3"
    assert not result.agent_session_id.startswith("00000000")


def test_a_tool_that_is_not_allowed_is_denied_and_named(
    agent: ClaudeCode, assignment: Make, model: Model, events: list[AgentEvent]
) -> None:
    model.answers = [Use("Bash", {"command": "curl http://127.0.0.1:9/x", "description": "net"}), Say("I could not.")]
    result = agent.start_session(assignment()).run_turn("Fetch it.", 1)
    assert result.outcome is Outcome.COMPLETED
    assert result.denials == ("Bash: curl http://127.0.0.1:9/x",)
    assert "permission_denied" in names(events)


@pytest.mark.parametrize("command", ["touch proof.txt", "touch proof.txt && test -f proof.txt", 'touch "proof.txt"'])
def test_what_will_judge_the_work_may_be_run(
    agent: ClaudeCode, assignment: Make, model: Model, worktree: Path, command: str
) -> None:
    model.answers = [Use("Bash", {"command": command, "description": "check"}), Say("Green.")]
    result = agent.start_session(assignment(verification=(command,))).run_turn("Check it.", 1)
    assert result.denials == ()
    assert (worktree / "proof.txt").exists()


def test_a_refused_key_fails(agent: ClaudeCode, assignment: Make, model: Model) -> None:
    model.answers = [Refuse(401)]
    result = agent.start_session(assignment()).run_turn("Go.", 1)
    assert (result.outcome, result.code) == (Outcome.FAILED, Failure.TURN_FAILED)
    assert result.message.startswith("HTTP 401: ")


@pytest.mark.parametrize("status", [429, 529])
def test_a_refusing_provider_is_no_fault_of_the_task(
    agent: ClaudeCode, assignment: Make, model: Model, status: int
) -> None:
    model.answers = [Refuse(status)]
    result = agent.start_session(assignment()).run_turn("Go.", 1)
    assert (result.outcome, result.code) == (Outcome.RATE_LIMITED, Failure.RATE_LIMITED)


def test_a_wrong_option_is_a_startup_failure(agent: ClaudeCode, assignment: Make) -> None:
    wrong = ClaudeCode(command=agent.command, permission_mode="bogus")
    result = wrong.start_session(assignment()).run_turn("Go.", 1)
    assert (result.outcome, result.code) == (Outcome.STARTUP_FAILED, Failure.PROCESS_EXIT)
    assert "bogus" in result.message


def test_a_cancel_in_mid_turn_ends_everything(
    agent: ClaudeCode, assignment: Make, model: Model, worktree: Path
) -> None:
    """The program takes another turn after SIGTERM and may report success: cancelled it stays, and no tool lives on."""
    cancel = Cancel()
    request = assignment(cancel=cancel, verification=("touch running; sleep 4747",))
    model.answers = [Use("Bash", {"command": "touch running; sleep 4747", "description": "wait"}), Say("All fine.")]
    over = threading.Event()

    def cancel_when_running() -> None:
        while not (worktree / "running").exists() and not over.wait(0.02):
            pass
        cancel.set()

    watcher = threading.Thread(target=cancel_when_running)
    watcher.start()
    result = agent.start_session(request).run_turn("Wait.", 1)
    over.set()
    watcher.join()
    assert (worktree / "running").exists()
    assert (result.outcome, result.code) == (Outcome.CANCELLED, Failure.TURN_CANCELLED)
    assert processes_marked(request.marker) == ()


def test_a_time_limit_in_mid_turn_ends_everything(agent: ClaudeCode, assignment: Make, model: Model) -> None:
    """Also what a tool put into a session of its own."""
    trusting = ClaudeCode(command=agent.command, allowed_tools=("Bash",))
    request = assignment(turn_timeout=15.0)
    model.answers = [
        Use("Bash", {"command": "setsid sleep 4747 & sleep 4747", "description": "wait"}),
        Say("All fine."),
    ]
    result = trusting.start_session(request).run_turn("Wait.", 1)
    assert result.outcome is Outcome.TIMED_OUT
    assert processes_marked(request.marker) == ()
