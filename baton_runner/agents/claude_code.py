"""Claude Code in print mode as an agent: one invocation per turn, the session resumed from the second turn on.

The prompt goes to standard input (as an argument it breaks above 128 KiB), every question of the program to nobody:
a tool that is not allowed is denied, reported, and the run goes on. When nothing else is set, the rules let it edit
files, commit, and run the commands that will verify its work.
"""

import re
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from baton_runner.agents.claude_stream import LOST_SESSION, ClaudeStream
from baton_runner.agents.events import EventName
from baton_runner.agents.protocol import Failure, Outcome, Session, SessionRequest, TurnResult
from baton_runner.agents.results import (
    Report,
    completed,
    failed,
    failure_of,
    known_of,
    not_started,
    refusal,
)
from baton_runner.agents.turns import Turns, missing_program
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import Ended, Line, Process, Reason, run_command, shell_argv
from baton_runner.base.transcript import Transcript

__all__ = ["ClaudeCode", "allowed_rules"]

RESULT_GRACE = 10.0
"""Seconds the program may stay after the result of its work: it is known to hang there (K-35)."""

_COMMIT_RULES = tuple(f"Bash(git {word}:*)" for word in ("add", "commit", "diff", "log", "mv", "rm", "show", "status"))
_UNQUOTABLE = frozenset("(),\n\\")
_NOT_FOUND = 127
_VERSION = re.compile(r"\d+(\.\d+)+\S*")
_VERSION_SECONDS = 60.0


@dataclass(frozen=True)
class ClaudeCode:
    """``agent.kind: claude_code``; the fields are those of the policy's section."""

    command: str = "claude"
    model: str | None = None
    permission_mode: str = "acceptEdits"
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    append_system_prompt: str | None = None
    extra_args: tuple[str, ...] = ()
    kind: str = "claude_code"
    metered: bool = True
    environment_names: tuple[str, ...] = (
        "ANTHROPIC_*",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
    )

    def available(self, environ: Mapping[str, str]) -> str | None:
        """What keeps the program from being started: it is missing, or does not answer."""
        missing = missing_program(self.command, environ)
        if missing or self.version(environ):
            return missing
        return f"{self.command}: does not answer to --version; install it anew or correct claude_code.command"

    def version(self, environ: Mapping[str, str]) -> str | None:
        """The version that the program reports, None where it reports none."""
        with tempfile.TemporaryDirectory() as folder:
            ended = run_command(
                f"{self.command} --version",
                cwd=Path(folder),
                environ=environ,
                log=Path(folder) / "log",
                timeout=_VERSION_SECONDS,
                marker=f"version-{uuid.uuid4().hex}",
            )
        found = _VERSION.search(ended.tail)
        return found.group() if found and ended.code == 0 else None

    def start_session(self, request: SessionRequest) -> Session:
        """A session that resumes ``request.resume_id`` where there is one."""
        return ClaudeSession(self, request)

    def arguments(self, request: SessionRequest, resume_id: str | None) -> list[str]:
        """The arguments of one invocation."""
        rules = self.allowed_tools or allowed_rules(request.verification)
        model = request.model or self.model
        return [
            *("-p", "--output-format", "stream-json", "--verbose"),
            *(("--permission-mode", self.permission_mode) if self.permission_mode else ()),
            *(("--resume", resume_id) if resume_id else ()),
            *(("--model", model) if model else ()),
            *(("--allowedTools", ",".join(rules)) if rules else ()),
            *(("--disallowedTools", ",".join(self.disallowed_tools)) if self.disallowed_tools else ()),
            *(("--append-system-prompt", self.append_system_prompt) if self.append_system_prompt else ()),
            *self.extra_args,
        ]


def allowed_rules(verification: tuple[str, ...]) -> tuple[str, ...]:
    """Permission rules that let an agent commit and run these commands.

    A command with a character that the rules' own syntax uses cannot be put into one: the agent will be denied it, and
    the harness runs it all the same.
    """
    plain = [command.strip() for command in verification if not _UNQUOTABLE.intersection(command)]
    return (*_COMMIT_RULES, *(f"Bash({command})" for command in plain if command))


class ClaudeSession:
    """One conversation. A conversation that is lost is begun anew with the task's prompt before the turn's."""

    def __init__(self, agent: ClaudeCode, request: SessionRequest) -> None:
        self._agent = agent
        self._turns = Turns(request)
        self._conversation = request.resume_id
        self._unnamed = str(uuid.uuid4())

    def run_turn(self, prompt: str, turn: int) -> TurnResult:
        """One invocation, or two when the conversation to resume is lost."""
        request = self._turns.request
        report = Report(request, turn, self._conversation or self._unnamed)
        refused = refusal(report, self._turns.cancel)
        if refused:
            return refused
        missing = missing_program(self._agent.command, request.environ)
        if missing:
            return failed(report, Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND, missing)
        whole = self._turns.whole_prompt(prompt)
        try:
            if self._conversation:
                result = self._invoke(prompt, report, self._conversation)
                if result:
                    return result
                self._conversation = None
                report = replace(report, agent_session_id=self._unnamed, pid=None)
            return self._invoke(whole, report, None) or _lost(report)
        except BatonError as error:
            return not_started(report, error)

    def stop(self) -> None:
        """End the invocation that runs; its output counts for nothing."""
        self._turns.stop()

    def _invoke(self, prompt: str, report: Report, resume_id: str | None) -> TurnResult | None:
        """The result of an invocation; None when it could not find the conversation to resume."""
        stream = ClaudeStream()
        arguments = self._agent.arguments(self._turns.request, resume_id)
        done_in_time = False

        def on_line(line: Line, process: Process, log: Transcript) -> None:
            nonlocal done_in_time
            log.write(line.data + b"\n")
            for note in stream.feed(line.data, cut=line.cut):
                if note.event is EventName.SESSION_STARTED:
                    known = self._conversation is not None
                    self._conversation = self._conversation or stream.agent_session_id or None
                    report.agent_session_id = self._conversation or self._unnamed
                    if known:
                        continue  # the same session goes on
                report.send(note.event, usage=note.usage, rate_limits=note.rate_limits, **note.payload)
            if process.reason is Reason.EXITED:  # asked to end, the program takes another turn and calls it a success
                done_in_time = stream.settled
            process.finish_within(RESULT_GRACE if stream.settled else self._turns.request.turn_timeout)

        argv = shell_argv(f'{self._agent.command} "$@"', *arguments)
        ended, errors = self._turns.run(argv, prompt, report, on_line)
        lost = stream.session_lost or (LOST_SESSION in errors and not stream.spoke)
        if resume_id and lost and ended.reason is Reason.EXITED:
            return None
        limit = failure_of(ended, report.request)
        if done_in_time and ended.reason is not Reason.CANCELLED:
            limit = None  # it only failed to leave
        return self._judge(stream, limit, ended, errors, report)

    def _judge(
        self,
        stream: ClaudeStream,
        limit: tuple[Outcome, Failure, str] | None,
        ended: Ended,
        errors: str,
        report: Report,
    ) -> TurnResult:
        known: dict[str, Any] = {
            **known_of(ended),
            "usage": stream.usage,
            "denials": stream.denials,
            "questions": stream.questions,
            "resumable": self._conversation is not None,
        }
        if limit:
            return failed(report, *limit, **known)
        if stream.result is None or not _says_something(stream):
            return _without_result(stream, ended, errors, report, known)
        if stream.rate_limited:
            known["reset_at"] = stream.reset_at
            return failed(report, Outcome.RATE_LIMITED, Failure.RATE_LIMITED, stream.message, **known)
        if stream.result.get("is_error"):
            status = stream.result.get("api_error_status")
            message = f"HTTP {status}: {stream.message}" if status else stream.message
            return failed(report, Outcome.FAILED, Failure.TURN_FAILED, message, **known)
        return completed(report, stream.message, **known)


def _says_something(stream: ClaudeStream) -> bool:
    """Whether the result is one of work, or at least of a turn with words of its own."""
    result = stream.result or {}
    return bool(result.get("is_error")) or result.get("num_turns") != 0 or bool(stream.last_text)


def _without_result(
    stream: ClaudeStream, ended: Ended, errors: str, report: Report, known: dict[str, Any]
) -> TurnResult:
    """The result of an invocation that ended without one (R-111)."""
    if ended.code == _NOT_FOUND and not stream.spoke:
        return failed(
            report, Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND, errors or "the program was not found", **known
        )
    said = errors or stream.message
    message = f"exit code {ended.code} without a result" + (f": {said}" if said else "")
    outcome = Outcome.FAILED if stream.spoke or ended.code == 0 else Outcome.STARTUP_FAILED
    return failed(report, outcome, Failure.PROCESS_EXIT, message, **known)


def _lost(report: Report) -> TurnResult:
    return failed(report, Outcome.FAILED, Failure.TURN_FAILED, "the agent lost its session while it was starting one")
