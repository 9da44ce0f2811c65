"""Any command line as an agent: it gets the prompt, works in the worktree, and its exit code says how it went.

The prompt stands in the file named by BATON_PROMPT_FILE and on standard input. BATON_CHANGE, BATON_TASK_ID
(``<change>:<id>``), BATON_ATTEMPT, BATON_TURN and BATON_WORKTREE name the assignment. Such an agent remembers nothing:
from the second turn on, its prompt is the task's followed by what is new.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from baton_runner.agents.events import EventName
from baton_runner.agents.protocol import Failure, Outcome, Session, SessionRequest, TurnResult
from baton_runner.agents.results import Report, clipped, failed, judged, not_started, refusal
from baton_runner.agents.turns import Turns, log_text, missing_program
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import Line, Process, shell_argv
from baton_runner.base.transcript import Transcript

__all__ = ["CommandAgent", "Heartbeat"]

_HEARTBEAT_SECONDS = 1.0


@dataclass(frozen=True)
class CommandAgent:
    """``agent.kind: command``. ``command`` is a shell command line."""

    command: str
    kind: str = "command"
    metered: bool = False
    environment_names: tuple[str, ...] = ()

    def available(self, environ: Mapping[str, str]) -> str | None:
        """What keeps the command from being run."""
        return missing_program(self.command, environ)

    def start_session(self, request: SessionRequest) -> Session:
        """A session whose every turn runs the command once."""
        return CommandSession(self.command, request)


class Heartbeat:
    """Passes on what a talkative program prints as events, at most one a second."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._next = float("-inf")
        self.last = ""

    def beat(self, line: Line) -> None:
        """Take a line; the last one that says something is kept."""
        text = line.data.decode("utf-8", "replace").strip()
        if text:
            self.last = text
        now = self._report.request.clock.monotonic()
        if now >= self._next:
            self._next = now + _HEARTBEAT_SECONDS
            self._report.send(EventName.OTHER_MESSAGE, message=clipped(text, 200))


class CommandSession:
    """One command per turn."""

    def __init__(self, command: str, request: SessionRequest) -> None:
        self._command = command
        self._turns = Turns(request)

    def run_turn(self, prompt: str, turn: int) -> TurnResult:
        """Run the command; exit code 0 completes the turn."""
        report = Report(self._turns.request, turn, uuid.uuid4().hex)
        refused = refusal(report, self._turns.cancel)
        if refused:
            return refused
        missing = missing_program(self._command, self._turns.request.environ)
        if missing:
            return failed(report, Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND, missing)
        report.send(EventName.SESSION_STARTED)
        heartbeat = Heartbeat(report)

        def on_line(line: Line, _process: Process, log: Transcript) -> None:
            log_text(log, line, turn)
            heartbeat.beat(line)

        try:
            whole = self._turns.whole_prompt(prompt)
            ended, errors = self._turns.run(shell_argv(self._command), whole, report, on_line)
        except BatonError as error:
            return not_started(report, error)
        return judged(report, ended, heartbeat.last, errors)

    def stop(self) -> None:
        """End the command that runs."""
        self._turns.stop()
