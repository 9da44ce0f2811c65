"""Claude Code as an agent: scripted programs that behave as the real one does at its best and at its worst."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baton_runner.agents import claude_code
from baton_runner.agents.claude_code import ClaudeCode, allowed_rules
from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest, TurnResult
from baton_runner.agents.redaction import redactor
from baton_runner.agents.usage import NO_USAGE, Usage
from baton_runner.base.processes import Cancel, processes_marked

Make = Callable[..., SessionRequest]
Program = Callable[[str], str]

INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "claude_code_version": "2"}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 1,
    "result": "done",
    "session_id": "s-1",
    "usage": {"input_tokens": 100, "output_tokens": 40},
    "total_cost_usd": 0.5,
}
SAY = f"""
import json, os, signal, sys, time
INIT, RESULT = {INIT!r}, {RESULT!r}
def say(*values):
    for value in values:
        print(value if isinstance(value, str) else json.dumps(value), flush=True)
"""


def names(events: list[AgentEvent]) -> list[str]:
    return [event.event.value for event in events]


def run(command: str, request: SessionRequest, prompt: str = "go") -> TurnResult:
    return ClaudeCode(command).start_session(request).run_turn(prompt, 1)


def replaying(recording: Path, code: int = 0, errors: str = "") -> str:
    return f'cat >/dev/null; cat {shlex.quote(str(recording))}; echo {shlex.quote(errors)} >&2; (exit {code}); true "$@"; (exit {code}) #'


class TestArguments:
    def request(self, assignment: Make, **changed: Any) -> SessionRequest:
        return assignment(**changed)

    def test_a_first_turn(self, assignment: Make) -> None:
        """T124: print mode, a stream, the tools in one argument."""
        agent = ClaudeCode(
            model="opus",
            permission_mode="plan",
            allowed_tools=("Edit", "Bash(git:*)"),
            disallowed_tools=("WebFetch", "WebSearch"),
            append_system_prompt="it's short",
            extra_args=("--max-turns", "7"),
        )
        assert agent.arguments(assignment(), None) == [
            *("-p", "--output-format", "stream-json", "--verbose"),
            *("--permission-mode", "plan", "--model", "opus"),
            *("--allowedTools", "Edit,Bash(git:*)", "--disallowedTools", "WebFetch,WebSearch"),
            *("--append-system-prompt", "it's short", "--max-turns", "7"),
        ]

    def test_a_resumed_turn_and_a_model_of_the_assignment(self, assignment: Make) -> None:
        arguments = ClaudeCode(model="opus").arguments(assignment(model="haiku"), "s-9")
        assert arguments[arguments.index("--resume") + 1] == "s-9"
        assert arguments[arguments.index("--model") + 1] == "haiku"

    def test_by_default_it_may_commit_and_run_what_will_judge_it(self, assignment: Make) -> None:
        arguments = ClaudeCode().arguments(assignment(verification=("pytest -q", "make check")), None)
        rules = arguments[arguments.index("--allowedTools") + 1].split(",")
        assert {"Bash(git add:*)", "Bash(git commit:*)", "Bash(pytest -q)", "Bash(make check)"} <= set(rules)
        assert not any(rule in {"Bash", "Bash(git:*)", "Bash(git push:*)"} for rule in rules)
        assert arguments[arguments.index("--permission-mode") + 1] == "acceptEdits"

    @pytest.mark.parametrize("odd", ["echo a,b", "(cd x)", "a\nb", ") Bash(*"])
    def test_a_command_cannot_widen_the_rules(self, odd: str) -> None:
        assert allowed_rules((odd,)) == allowed_rules(())

    def test_arguments_reach_the_program_as_they_are(self, assignment: Make, program: Program, worktree: Path) -> None:
        """T125: no shell reads them."""
        script = "import json, sys\njson.dump([sys.argv[1:], sys.stdin.read()], open('got', 'w'))"
        agent = ClaudeCode(program(script), append_system_prompt="a'b $(touch PWN) `x`\n\"")
        request = assignment()
        agent.start_session(request).run_turn("-p 'prompt' $HOME", 1)
        arguments, prompt = json.loads((worktree / "got").read_text())
        assert arguments == agent.arguments(request, None)
        assert prompt == "-p 'prompt' $HOME"
        assert not (worktree / "PWN").exists()


class TestRecordedRuns:
    """The real program's output, played back by a process."""

    def test_success(self, assignment: Make, recordings: Path, events: list[AgentEvent]) -> None:
        request = assignment()
        result = run(replaying(recordings / "success.jsonl"), request)
        assert (result.outcome, result.code, result.message) == (Outcome.COMPLETED, None, "All done.")
        assert result.session_id == "3a947bdb-27fd-4561-a718-7bef977fbaac-1"
        assert result.resumable
        assert names(events)[0] == "session_started"
        assert names(events)[-1] == "turn_completed"
        assert sum((event.usage for event in events if event.usage), NO_USAGE) == result.usage
        assert result.usage.input_tokens == 360
        recorded = (recordings / "success.jsonl").read_text().splitlines()
        assert (request.log_folder / "agent.jsonl").read_text().splitlines()[1:] == recorded

    def test_refused_key(self, assignment: Make, recordings: Path) -> None:
        """T127: failed, with the text, though the subtype says success."""
        result = run(replaying(recordings / "auth401.jsonl", 1), assignment())
        assert (result.outcome, result.code) == (Outcome.FAILED, Failure.TURN_FAILED)
        assert result.message == "HTTP 401: Invalid API key · Fix external API key"

    @pytest.mark.parametrize("name", ["rate429", "overload529"])
    def test_refusing_provider(self, assignment: Make, recordings: Path, name: str) -> None:
        result = run(replaying(recordings / f"{name}.jsonl", 1), assignment())
        assert (result.outcome, result.code) == (Outcome.RATE_LIMITED, Failure.RATE_LIMITED)

    def test_denied_tool(self, assignment: Make, recordings: Path, events: list[AgentEvent]) -> None:
        result = run(replaying(recordings / "permission_denied.jsonl"), assignment())
        assert result.outcome is Outcome.COMPLETED
        assert result.denials == ("Bash: curl http://127.0.0.1:9/x",)
        assert "permission_denied" in names(events)

    def test_question(self, assignment: Make, recordings: Path) -> None:
        assert run(replaying(recordings / "ask_user.jsonl"), assignment()).questions == ("Which one?",)

    def test_turn_limit(self, assignment: Make, recordings: Path) -> None:
        result = run(replaying(recordings / "max_turns.jsonl", 1), assignment())
        assert (result.outcome, result.code) == (Outcome.FAILED, Failure.TURN_FAILED)
        assert result.resumable

    @pytest.mark.parametrize("name", ["badflag", "bypass_root"])
    def test_startup_failure(self, assignment: Make, recordings: Path, events: list[AgentEvent], name: str) -> None:
        said = (recordings / f"{name}.stderr").read_text().strip()
        result = run(f"echo {shlex.quote(said)} >&2; exit 1 #", assignment())
        assert (result.outcome, result.code) == (Outcome.STARTUP_FAILED, Failure.PROCESS_EXIT)
        assert result.message == f"exit code 1 without a result: {said}"
        assert names(events) == ["startup_failed"]


class TestSessions:
    def test_the_second_turn_resumes_and_usage_is_per_turn(
        self, assignment: Make, program: Program, worktree: Path, events: list[AgentEvent]
    ) -> None:
        """T117, T148; another id in a resumed init changes nothing."""
        script = (
            SAY
            + """
resumed = "--resume" in sys.argv
json.dump([sys.argv[1:], sys.stdin.read()], open(f"got-{os.environ['BATON_TURN']}", "w"))
say({**INIT, "session_id": "s-2" if resumed else "s-1"}, RESULT)
"""
        )
        session = ClaudeCode(program(script)).start_session(assignment())
        first, second = session.run_turn("task", 1), session.run_turn("more", 2)
        arguments, prompt = json.loads((worktree / "got-2").read_text())
        assert arguments[arguments.index("--resume") + 1] == "s-1"
        assert prompt == "more"
        assert (first.session_id, second.session_id) == ("s-1-1", "s-1-2")
        assert first.usage == second.usage == Usage(100, 40, 140, 0.5)
        assert names(events).count("session_started") == 1
        assert (worktree / "got-1").read_text().count("--resume") == 0

    LOST = (
        SAY
        + """
with open("calls", "a") as file:
    file.write(json.dumps([sys.argv[1:], sys.stdin.read()]) + "\\n")
if "--resume" in sys.argv:
    text = "No conversation found with session ID: x"
    if os.path.exists("silent"):
        print(text, file=sys.stderr)
    else:
        say({"type": "result", "is_error": True, "num_turns": 0, "session_id": "x", "errors": [text]})
    sys.exit(1)
say({**INIT, "session_id": "new"}, RESULT)
"""
    )

    @pytest.mark.parametrize("where", ["stdout", "stderr"])
    def test_a_lost_session_is_begun_anew_with_the_task(
        self, assignment: Make, program: Program, worktree: Path, events: list[AgentEvent], where: str
    ) -> None:
        if where == "stderr":
            (worktree / "silent").touch()
        session = ClaudeCode(program(self.LOST)).start_session(assignment(resume_id="old", task_prompt="the task"))
        result = session.run_turn("go on", 2)
        calls = [json.loads(line) for line in (worktree / "calls").read_text().splitlines()]
        assert [("--resume" in arguments, prompt) for arguments, prompt in calls] == [
            (True, "go on"),
            (False, "the task\n\ngo on"),
        ]
        assert (result.outcome, result.agent_session_id, result.session_id) == (Outcome.COMPLETED, "new", "new-2")
        assert names(events).count("session_started") == 1
        assert next(event.session_id for event in events if event.event.value == "session_started") == "new-1"

    def test_a_session_of_before_goes_on(self, assignment: Make, program: Program, events: list[AgentEvent]) -> None:
        script = SAY + "say({**INIT, 'session_id': 'other'}, {**RESULT, 'result': ' '.join(sys.argv)})"
        result = ClaudeCode(program(script)).start_session(assignment(resume_id="old")).run_turn("go on", 4)
        assert "--resume old" in result.message
        assert result.session_id == "old-4"
        assert "session_started" not in names(events)


class TestBadManners:
    @pytest.fixture(autouse=True)
    def short_grace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(claude_code, "RESULT_GRACE", 0.3)

    def test_hanging_after_the_result_is_a_success(self, assignment: Make, program: Program) -> None:
        """K-35: the result counts, the program is ended."""
        request = assignment(turn_timeout=600)
        result = run(program(SAY + "say(INIT, RESULT); time.sleep(1000)"), request)
        assert (result.outcome, result.message) == (Outcome.COMPLETED, "done")
        assert processes_marked(request.marker) == ()

    def test_a_result_without_work_gives_no_grace(self, assignment: Make, program: Program) -> None:
        """K-37: the work comes later than the grace."""
        script = SAY + "say(INIT, {**RESULT, 'num_turns': 0, 'result': ''}); time.sleep(0.9); say(RESULT)"
        assert run(program(script), assignment()).message == "done"

    def test_work_after_a_result_takes_its_time(self, assignment: Make, program: Program) -> None:
        script = (
            SAY
            + """
say(INIT, {**RESULT, "result": "first"}, {"type": "assistant", "message": {"id": "m", "content": []}})
time.sleep(0.9)
say({**RESULT, "result": "second"})
"""
        )
        assert run(program(script), assignment()).message == "second"

    def test_nothing_but_results_without_work_is_no_success(self, assignment: Make, program: Program) -> None:
        result = run(program(SAY + "say(INIT, {**RESULT, 'num_turns': 0, 'result': ''})"), assignment())
        assert (result.outcome, result.code) == (Outcome.FAILED, Failure.PROCESS_EXIT)

    @pytest.mark.parametrize("code", [0, 3])
    def test_an_exit_without_a_result(self, assignment: Make, program: Program, code: int) -> None:
        """T128, R-111: whatever the exit code says."""
        script = SAY + f"say(INIT); print('out of memory', file=sys.stderr); sys.exit({code})"
        result = run(program(script), assignment())
        assert (result.outcome, result.code) == (Outcome.FAILED, Failure.PROCESS_EXIT)
        assert result.message == f"exit code {code} without a result: out of memory"

    def test_silence_is_a_stall(self, assignment: Make, program: Program) -> None:
        result = run(program(SAY + "say(INIT); time.sleep(1000)"), assignment(stall_timeout=0.5))
        assert result.outcome is Outcome.STALLED

    def test_too_long_a_turn_keeps_its_usage(self, assignment: Make, program: Program) -> None:
        """K-18: killed before its result, its tokens are not lost."""
        script = (
            SAY
            + """
say(INIT, {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}, "content": []}})
while True:
    print(file=sys.stderr, flush=True); time.sleep(0.05)
"""
        )
        result = run(program(script), assignment(turn_timeout=1.0, stall_timeout=30))
        assert result.outcome is Outcome.TIMED_OUT
        assert result.usage == Usage(9, 1, 10)

    def test_a_success_after_the_cancel_is_none(
        self, assignment: Make, program: Program, worktree: Path, cancel_once_there: Callable[[Path], Cancel]
    ) -> None:
        """SIGTERM makes the real program take another turn and print a successful result."""
        script = (
            SAY
            + """
def late(*_):
    say(RESULT); sys.exit(0)
signal.signal(signal.SIGTERM, late)
say(INIT); open("running", "w").close(); time.sleep(1000)
"""
        )
        request = assignment(cancel=cancel_once_there(worktree / "running"))
        result = run(program(script), request)
        assert (result.outcome, result.code) == (Outcome.CANCELLED, Failure.TURN_CANCELLED)
        assert result.usage == Usage(100, 40, 140, 0.5)
        assert processes_marked(request.marker) == ()

    @pytest.mark.parametrize("limit", ["turn_timeout", "stall_timeout"])
    def test_a_success_after_the_time_limit_is_none(self, assignment: Make, program: Program, limit: str) -> None:
        script = (
            SAY
            + """
def late(*_):
    say(RESULT); sys.exit(0)
signal.signal(signal.SIGTERM, late)
say(INIT); time.sleep(1000)
"""
        )
        result = run(program(script), assignment(**{limit: 1.0}))
        assert result.outcome.value == {"turn_timeout": "timed_out", "stall_timeout": "stalled"}[limit]
        assert result.usage == Usage(100, 40, 140, 0.5)

    def test_noise_on_standard_error_is_never_malformed(
        self, assignment: Make, program: Program, events: list[AgentEvent]
    ) -> None:
        """T137, K-10."""
        run(program(SAY + "print('{not json', file=sys.stderr); say(INIT, RESULT)"), assignment())
        assert "malformed" not in names(events)

    def test_a_flood_in_one_line_loses_only_that_line(
        self, assignment: Make, program: Program, events: list[AgentEvent]
    ) -> None:
        """Field report 28: 50 MB."""
        script = SAY + "say(INIT)\nfor _ in range(50): sys.stdout.write('x' * 1000000)\nprint(); say(RESULT)"
        result = run(program(script), assignment())
        assert result.outcome is Outcome.COMPLETED
        assert names(events).count("malformed") == 1

    def test_a_line_of_ten_megabytes_is_understood(self, assignment: Make, program: Program) -> None:
        """T136."""
        script = SAY + "say(INIT, {**RESULT, 'result': 'done', 'padding': 'x' * 9_900_000})"
        assert run(program(script), assignment()).outcome is Outcome.COMPLETED

    def test_bytes_that_come_one_by_one(self, assignment: Make, program: Program) -> None:
        script = (
            SAY
            + """
for byte in (json.dumps(INIT) + "\\n" + json.dumps({**RESULT, "result": "→ ü €"}, ensure_ascii=False)).encode():
    os.write(1, bytes([byte]))
"""
        )
        assert run(program(script), assignment()).message == "→ ü €"

    def test_a_missing_program(self, assignment: Make, events: list[AgentEvent]) -> None:
        result = run("no-such-claude", assignment())
        assert (result.outcome, result.code) == (Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND)
        assert names(events) == ["startup_failed"]

    def test_secrets_stay_out(self, assignment: Make, program: Program, events: list[AgentEvent]) -> None:
        script = (
            SAY
            + """
secret = 's3cr3t/"' + "t0ken"
say(INIT, {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "key " + secret}]}})
print(secret, file=sys.stderr)
say({**RESULT, "result": secret})
"""
        )
        request = assignment(redact=redactor(['s3cr3t/"t0ken']))
        result = run(program(script), request)
        assert result.message == "[secret]"
        assert "t0ken" not in repr(events)
        for name in ("agent.jsonl", "agent.stderr"):
            assert "t0ken" not in (request.log_folder / name).read_text()


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("print('2.1.197 (Claude Code)')", "2.1.197"),
        ("print('hello')", None),
        ("print('1.2'); raise SystemExit(1)", None),
    ],
)
def test_a_program_is_available_when_it_tells_its_version(
    assignment: Make, program: Program, script: str, version: str | None
) -> None:
    agent = ClaudeCode(program(script))
    assert agent.version(assignment().environ) == version
    problem = agent.available(assignment().environ)
    assert (problem is None) == (version is not None)
    assert problem is None or "does not answer to --version" in problem


def test_it_reports_its_cost() -> None:
    assert ClaudeCode().metered


def test_a_rate_limit_payload_is_passed_on(assignment: Make, program: Program, events: list[AgentEvent]) -> None:
    """R-146, T133."""
    info = {"status": "rejected", "resetsAt": 1_800_000_000}
    script = (
        SAY + f"say(INIT, {{'type': 'rate_limit_event', 'rate_limit_info': {info!r}}}, {{**RESULT, 'is_error': True}})"
    )
    result = run(program(script), assignment())
    assert result.outcome is Outcome.RATE_LIMITED
    assert result.reset_at is not None
    assert result.reset_at.timestamp() == 1_800_000_000
    assert [event.rate_limits for event in events if event.rate_limits] == [info]
