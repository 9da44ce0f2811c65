"""Any command line as an agent: told its assignment, held to its limits, judged by its exit code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.agents.command import CommandAgent
from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest
from baton_runner.agents.redaction import redactor
from baton_runner.base.processes import Cancel, processes_marked

Make = Callable[..., SessionRequest]


def names(events: list[AgentEvent]) -> list[str]:
    return [event.event.value for event in events]


def log_of(request: SessionRequest) -> list[dict[str, object]]:
    return [json.loads(line) for line in (request.log_folder / "agent.jsonl").read_text().splitlines()]


def test_it_is_told_its_assignment(assignment: Make, worktree: Path) -> None:
    command = (
        'env | grep ^BATON_ | grep -v MARKER | sort > env; cat > stdin; cat "$BATON_PROMPT_FILE" > file; pwd > cwd'
    )
    request = assignment(packet=Path("/packets/3.json"))
    result = CommandAgent(command).start_session(request).run_turn("Do it.\nWell: ü", 1)
    assert result.outcome is Outcome.COMPLETED
    assert (worktree / "env").read_text().splitlines() == [
        "BATON_ATTEMPT=3",
        "BATON_CHANGE=add-login",
        "BATON_PACKET=/packets/3.json",
        f"BATON_PROMPT_FILE={request.log_folder / 'prompt-1.md'}",
        "BATON_TASK_ID=add-login:1.2",
        "BATON_TURN=1",
        f"BATON_WORKTREE={worktree}",
    ]
    assert (worktree / "stdin").read_text() == (worktree / "file").read_text() == "Do it.\nWell: ü"
    assert (worktree / "cwd").read_text().strip() == str(worktree.resolve())


def test_a_prompt_of_a_megabyte_arrives_whole(assignment: Make, worktree: Path) -> None:
    """Field report 29."""
    result = CommandAgent("wc -c").start_session(assignment()).run_turn("x" * 1_000_000, 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "1000000")


def test_a_later_turn_repeats_the_task(assignment: Make) -> None:
    """R-119: such an agent remembers nothing."""
    session = CommandAgent("cat").start_session(assignment())
    first = session.run_turn("the task", 1)
    second = session.run_turn("what is red", 2)
    assert first.message == "the task"
    assert second.message == "what is red"
    assert "the task" in (session.run_turn("once more", 3).message, first.message)


def test_the_prompt_of_a_later_turn_has_both(assignment: Make, worktree: Path) -> None:
    session = CommandAgent('cat > "got-$BATON_TURN"').start_session(assignment())
    session.run_turn("the task", 1)
    session.run_turn("what is red", 2)
    assert (worktree / "got-2").read_text() == "the task\n\nwhat is red"


def test_a_session_that_begins_late_knows_the_task(assignment: Make, worktree: Path) -> None:
    session = CommandAgent("cat > got").start_session(assignment(task_prompt="the task"))
    session.run_turn("what is red", 2)
    assert (worktree / "got").read_text() == "the task\n\nwhat is red"


def test_the_events_of_a_turn(assignment: Make, events: list[AgentEvent]) -> None:
    result = CommandAgent("echo working").start_session(assignment()).run_turn("go", 2)
    assert names(events) == ["session_started", "other_message", "turn_completed"]
    assert events[0].session_id == f"{result.agent_session_id}-1"
    assert events[1].session_id == result.session_id == f"{result.agent_session_id}-2"
    assert events[1].payload == {"message": "working"}
    assert events[1].agent_pid
    assert events[1].timestamp.tzinfo


def test_a_failing_exit_says_why(assignment: Make, events: list[AgentEvent]) -> None:
    """T128."""
    result = CommandAgent("echo out; echo 'no disk' >&2; exit 3").start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.code, result.exit_code) == (Outcome.FAILED, Failure.PROCESS_EXIT, 3)
    assert result.message == "exit code 3: no disk"
    assert names(events)[-1] == "turn_failed"


def test_a_missing_program_starts_nothing(assignment: Make, events: list[AgentEvent]) -> None:
    agent = CommandAgent("no-such-agent-here --fast")
    request = assignment()
    result = agent.start_session(request).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND)
    assert result.message == agent.available(request.environ)
    assert "no-such-agent-here: is not an installed program" in result.message
    assert names(events) == ["startup_failed"]


@pytest.mark.parametrize(
    "command",
    ["true", "cd . && true", "for i in 1; do :; done", "X=1 true", "$HOME/any", "(exit 0)", "exit 0", "~/tool x"],
)
def test_what_a_shell_can_run_is_available(assignment: Make, tmp_path: Path, command: str) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert CommandAgent(command).available(assignment().environ) is None


@pytest.mark.parametrize("command", ["'unclosed", "", "  ", "X=1", "~/absent"])
def test_what_no_shell_can_run_is_not(assignment: Make, command: str) -> None:
    assert CommandAgent(command).available(assignment().environ)


def test_a_worktree_that_is_gone_starts_nothing(assignment: Make, tmp_path: Path) -> None:
    """R-094."""
    request = assignment(worktree=tmp_path / "gone")
    result = CommandAgent("touch ran").start_session(request).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.STARTUP_FAILED, Failure.INVALID_WORKSPACE_CWD)
    assert not (tmp_path / "ran").exists()


def test_a_turn_that_takes_too_long_is_ended(assignment: Make) -> None:
    """T129: with everything it started."""
    request = assignment(turn_timeout=0.3)
    result = CommandAgent("setsid sleep 1000 & sleep 30").start_session(request).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.TIMED_OUT, Failure.TURN_TIMEOUT)
    assert result.message == "took longer than 0.3 s and was ended"
    assert processes_marked(request.marker) == ()


def test_a_silent_agent_is_stalled(assignment: Make) -> None:
    """Field report 22."""
    result = CommandAgent("sleep 1000").start_session(assignment(stall_timeout=0.3)).run_turn("go", 1)
    assert (result.outcome, result.code) == (Outcome.STALLED, Failure.TURN_STALLED)


def test_a_success_after_a_cancel_is_none(
    assignment: Make, worktree: Path, cancel_once_there: Callable[[Path], Cancel], events: list[AgentEvent]
) -> None:
    command = "trap 'echo all fine; exit 0' TERM; touch running; while :; do read -t 1 </dev/zero; done"
    request = assignment(cancel=cancel_once_there(worktree / "running"))
    result = CommandAgent(command).start_session(request).run_turn("go", 1)
    assert (result.outcome, result.code, result.exit_code) == (Outcome.CANCELLED, Failure.TURN_CANCELLED, 0)
    assert names(events)[-1] == "turn_cancelled"


def test_what_it_leaves_running_is_ended_and_named(assignment: Make) -> None:
    """Field report 26, after a normal end too."""
    request = assignment()
    result = CommandAgent("setsid sleep 999 & true").start_session(request).run_turn("go", 1)
    assert result.outcome is Outcome.COMPLETED
    assert result.survivors
    assert processes_marked(request.marker) == ()


def test_secrets_reach_no_log_no_event_and_no_result(
    assignment: Make, program: Callable[[str], str], events: list[AgentEvent]
) -> None:
    """Threat 6: printed to either stream, in one piece or split over writes."""
    script = """
import os, sys
secret = "s3cr3t" + "-t0ken"
for stream in (1, 2):
    os.write(stream, secret[:5].encode()); os.write(stream, secret[5:].encode() + b"\\n")
sys.exit(secret)
"""
    request = assignment(redact=redactor(["s3cr3t-t0ken"]))
    result = CommandAgent(program(script)).start_session(request).run_turn("go", 1)
    assert result.message == "exit code 1: [secret]\n[secret]"
    assert "s3cr3t" not in repr(events)
    for file in request.log_folder.iterdir():
        assert b"s3cr3t" not in file.read_bytes(), file.name
        assert file.stat().st_mode & 0o077 == 0


def test_the_log_has_the_output_of_all_turns(assignment: Make) -> None:
    request = assignment()
    session = CommandAgent('echo "says $BATON_TURN"').start_session(request)
    for turn in (1, 2):
        session.run_turn("go", turn)
    assert [(entry["type"], entry["turn"], entry.get("text")) for entry in log_of(request)] == [
        ("baton", 1, None),
        ("output", 1, "says 1"),
        ("baton", 2, None),
        ("output", 2, "says 2"),
    ]


def test_a_flood_is_events_once_a_second(assignment: Make, events: list[AgentEvent]) -> None:
    """R-119: heartbeats, not a copy of the output; nothing is lost from the log."""
    request = assignment()
    result = CommandAgent("seq 1 20000").start_session(request).run_turn("go", 1)
    assert result.message == "20000"
    assert len(events) < 40
    assert len(log_of(request)) == 20001


def test_a_line_of_fifty_megabytes_is_survived(assignment: Make, program: Callable[[str], str]) -> None:
    script = "import sys\nfor _ in range(50): sys.stdout.write('x' * 1000000)\nprint(); print('end')"
    result = CommandAgent(program(script)).start_session(assignment()).run_turn("go", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "end")
