"""A recipe: the task's own commands in order, each must succeed."""

from collections.abc import Callable
from pathlib import Path

from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest
from baton_runner.agents.recipe import RecipeAgent
from baton_runner.base.processes import Cancel

Make = Callable[..., SessionRequest]


def test_the_commands_run_in_order(assignment: Make, worktree: Path, events: list[AgentEvent]) -> None:
    request = assignment(recipe=("echo a > f", "echo b >> f\necho c >> f", "echo $BATON_TASK_ID >> f; echo done"))
    result = RecipeAgent().start_session(request).run_turn("unused", 1)
    assert (result.outcome, result.message) == (Outcome.COMPLETED, "done")
    assert (worktree / "f").read_text() == "a\nb\nc\nadd-login:1.2\n"
    assert [event.payload["message"] for event in events if event.event.value == "tool_use"] == list(request.recipe)
    assert events[0].event.value == "session_started"


def test_the_first_failure_is_the_last_command(assignment: Make, worktree: Path) -> None:
    request = assignment(recipe=("echo one", "echo broken >&2; exit 4", "touch never"))
    result = RecipeAgent().start_session(request).run_turn("", 1)
    assert (result.outcome, result.code, result.exit_code) == (Outcome.FAILED, Failure.PROCESS_EXIT, 4)
    assert result.message == "exit code 4: broken"
    assert not (worktree / "never").exists()


def test_a_script_of_several_lines_ends_at_its_first_failing_line(assignment: Make, worktree: Path) -> None:
    request = assignment(recipe=("touch one\nfalse\ntouch never", "touch never"))
    result = RecipeAgent().start_session(request).run_turn("", 1)
    assert (result.outcome, result.exit_code) == (Outcome.FAILED, 1)
    assert (worktree / "one").exists()
    assert not (worktree / "never").exists()


def test_the_time_limit_is_for_all_commands(assignment: Make) -> None:
    request = assignment(recipe=("sleep 0.4", "sleep 1000"), turn_timeout=0.8)
    result = RecipeAgent().start_session(request).run_turn("", 1)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.seconds >= 0.8


def test_no_command_follows_a_cancel(
    assignment: Make, worktree: Path, cancel_once_there: Callable[[Path], Cancel]
) -> None:
    cancel = cancel_once_there(worktree / "running")
    commands = ("trap 'exit 0' TERM; touch running; while :; do read -t 1 </dev/zero; done", "touch never")
    result = RecipeAgent().start_session(assignment(recipe=commands, cancel=cancel)).run_turn("", 1)
    assert result.outcome is Outcome.CANCELLED
    assert not (worktree / "never").exists()


def test_it_costs_nothing_and_says_so(assignment: Make) -> None:
    """A ceiling in money holds for it: its cost is known."""
    agent = RecipeAgent()
    assert agent.metered
    assert agent.start_session(assignment(recipe=("true",))).run_turn("", 1).usage.cost_usd == 0


def test_no_commands_are_no_recipe(assignment: Make) -> None:
    result = RecipeAgent().start_session(assignment()).run_turn("", 1)
    assert result.outcome is Outcome.STARTUP_FAILED
    assert "no run: commands" in result.message
