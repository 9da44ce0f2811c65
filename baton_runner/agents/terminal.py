"""A program that only talks to a terminal, as an agent: it is answered by patterns, and never otherwise.

The prompt stands in the file named by BATON_PROMPT_FILE; the command line names it, or a reply does (``$BATON_PROMPT_FILE``
in a reply is its path). A turn ends when an end pattern shows, when the program exits, or, where no end pattern is
configured, when it has been idle for a while. A question that no pattern answers is an outcome, not something to guess
(K-12). Each turn starts the program anew, and nothing of it is left afterwards.
"""

import os
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from baton_runner.agents.command import Heartbeat
from baton_runner.agents.events import EventName
from baton_runner.agents.protocol import Failure, Outcome, Session, SessionRequest, TurnResult
from baton_runner.agents.results import Report, completed, failed, judged, known_of, not_started, refusal
from baton_runner.agents.turns import Turns, log_text, missing_program
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import LINE_LIMIT, Ended, Line, Process, Reason
from baton_runner.base.pseudo_terminal import start_on_terminal
from baton_runner.base.transcript import Transcript

__all__ = ["TerminalAgent"]

_SLICE_SECONDS = 0.1
_KEPT_SCREEN = 64 * 1024
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b-\x1a\x7f]")
_QUESTION = re.compile(r"(\?|\[[yn]/[yn]\]|\([yn]/[yn]\)|press (enter|any key).*)[\s:>]*$", re.IGNORECASE)


@dataclass(frozen=True)
class TerminalAgent:
    """``agent.kind: terminal``. ``answers`` are pairs of a regular expression and what is typed when it shows."""

    command: str
    answers: tuple[tuple[str, str], ...] = ()
    end_patterns: tuple[str, ...] = ()
    idle_timeout: float = 30.0
    kind: str = "terminal"
    metered: bool = False
    environment_names: tuple[str, ...] = ()

    def available(self, environ: Mapping[str, str]) -> str | None:
        """What keeps the program from being started."""
        return missing_program(self.command, environ)

    def start_session(self, request: SessionRequest) -> Session:
        """A session whose every turn starts the program on a new terminal."""
        return TerminalSession(self, request)


class TerminalSession:
    """One program on one terminal per turn."""

    def __init__(self, agent: TerminalAgent, request: SessionRequest) -> None:
        self._agent = agent
        self._turns = Turns(request)

    def run_turn(self, prompt: str, turn: int) -> TurnResult:
        """Start the program, answer what is to be answered, and wait for the end of the turn."""
        request = self._turns.request
        report = Report(request, turn, uuid.uuid4().hex)
        refused = refusal(report, self._turns.cancel)
        if refused:
            return refused
        missing = missing_program(self._agent.command, request.environ)
        if missing:
            return failed(report, Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND, missing)
        report.send(EventName.SESSION_STARTED)
        with self._turns.opened(report) as log:
            environ = self._turns.environ(self._turns.whole_prompt(prompt), turn)
            try:
                process, terminal = start_on_terminal(
                    self._agent.command, cwd=request.worktree, environ=environ, marker=request.marker
                )
            except BatonError as error:
                return not_started(report, error)
            report.pid = process.pid
            screen = _Screen(log, report)
            try:
                reason = self._converse(process, terminal, environ, screen)
            finally:
                ended = process.end()
                os.close(terminal)
                screen.finish()
        if self._turns.cancel.is_set:
            reason = Reason.CANCELLED
        return self._judge(reason, ended, screen, report)

    def stop(self) -> None:
        """End the program that runs."""
        self._turns.stop()

    def _converse(
        self, process: Process, terminal: int, environ: Mapping[str, str], screen: "_Screen"
    ) -> Reason | None:
        """Talk until the turn is over; returns what ended it, None when an end pattern showed."""
        import pexpect
        import pexpect.fdpexpect

        ends = [re.compile(pattern.encode()) for pattern in self._agent.end_patterns]
        asked = [re.compile(pattern.encode()) for pattern, _ in self._agent.answers]
        replies = [
            reply.replace("$BATON_PROMPT_FILE", environ["BATON_PROMPT_FILE"]) for _, reply in self._agent.answers
        ]
        talk = pexpect.fdpexpect.fdspawn(terminal, timeout=_SLICE_SECONDS, searchwindowsize=_KEPT_SCREEN)
        talk.logfile_read = screen
        over = self._limits(screen)
        while True:
            seen = talk.expect([pexpect.EOF, pexpect.TIMEOUT, *ends, *asked])
            if seen == 0:
                process.wait(_SLICE_SECONDS)
                return Reason.EXITED
            if seen > 1 + len(ends):
                os.write(terminal, replies[seen - 2 - len(ends)].encode() + b"\r")
                screen.answered(asked[seen - 2 - len(ends)].pattern)
            elif seen > 1:
                return None
            elif len(talk.buffer) > _KEPT_SCREEN:
                talk.buffer = talk.buffer[-_KEPT_SCREEN:]
            reason = over()
            if reason:
                return reason
            if process.code is not None and seen == 1:  # dead, and a grandchild holds the terminal: not waited for
                return Reason.EXITED

    def _limits(self, screen: "_Screen") -> Callable[[], Reason | None]:
        request = self._turns.request
        now = request.clock.monotonic
        deadline = now() + request.turn_timeout
        silence = request.stall_timeout if self._agent.end_patterns else self._agent.idle_timeout

        def over() -> Reason | None:
            if self._turns.cancel.is_set:
                return Reason.CANCELLED
            if now() >= deadline:
                return Reason.TIMED_OUT
            return Reason.STALLED if silence is not None and now() >= screen.heard + silence else None

        return over

    def _judge(self, reason: Reason | None, ended: Ended, screen: "_Screen", report: Report) -> TurnResult:
        known = known_of(ended)
        if reason is None:
            return completed(report, screen.last, **known)
        if reason is Reason.STALLED and _QUESTION.search(screen.last):
            question = screen.last
            message = f"waits for an answer: {question}"
            known["questions"] = (question,)
            return failed(report, Outcome.INPUT_REQUIRED, Failure.TURN_INPUT_REQUIRED, message, **known)
        if reason is Reason.STALLED and not self._agent.end_patterns:
            return completed(report, screen.last, **known)
        return judged(report, replace(ended, reason=reason), screen.last, "")


class _Screen:
    """What the terminal shows, as pexpect's log file: lines without control sequences, logged and reported."""

    def __init__(self, log: Transcript, report: Report) -> None:
        self._log = log
        self._report = report
        self._heartbeat = Heartbeat(report)
        self._pending = b""
        self.heard = report.request.clock.monotonic()

    @property
    def last(self) -> str:
        """The last line that says something."""
        return self._clean(self._pending).data.decode("utf-8", "replace").strip() or self._heartbeat.last

    def write(self, data: bytes) -> None:
        """Take what was shown."""
        self.heard = self._report.request.clock.monotonic()
        *lines, rest = (self._pending + data).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            self._keep(line)
        self._pending = rest[:LINE_LIMIT]

    def flush(self) -> None:
        """Nothing is held back that could be flushed."""

    def answered(self, pattern: bytes) -> None:
        """Report that a question was answered; the reply itself may be a secret."""
        self.heard = self._report.request.clock.monotonic()
        self._report.send(EventName.NOTIFICATION, message=f"answered {pattern.decode()}")

    def finish(self) -> None:
        """Take the last line, which has no end."""
        if self._pending:
            self._keep(self._pending)
            self._pending = b""

    def _keep(self, line: bytes) -> None:
        clean = self._clean(line)
        log_text(self._log, clean, self._report.turn)
        self._heartbeat.beat(clean)

    def _clean(self, line: bytes) -> Line:
        return Line(self._report.request.redact(_ESCAPES.sub(b"", line)))
