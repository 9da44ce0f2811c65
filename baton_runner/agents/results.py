"""What a turn came to: events sent on the way, and the one result at its end, in words the user can act on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baton_runner.agents.events import AgentEvent, EventName
from baton_runner.agents.protocol import Failure, Outcome, SessionRequest, TurnResult
from baton_runner.agents.usage import Usage
from baton_runner.base.cancel import Cancel
from baton_runner.base.errors import BatonError
from baton_runner.base.processes import Ended, Reason

__all__ = ["Report", "clipped", "completed", "failed", "failure_of", "judged", "known_of", "not_started", "refusal"]

_MESSAGE = 2000

_ENDS = {
    Reason.TIMED_OUT: (Outcome.TIMED_OUT, Failure.TURN_TIMEOUT),
    Reason.STALLED: (Outcome.STALLED, Failure.TURN_STALLED),
    Reason.CANCELLED: (Outcome.CANCELLED, Failure.TURN_CANCELLED),
}


@dataclass
class Report:
    """Sends the events of one turn; ``agent_session_id`` and ``pid`` are filled in when they become known."""

    request: SessionRequest
    turn: int
    agent_session_id: str
    pid: int | None = None

    @property
    def session_id(self) -> str:
        """``<agent session>-<turn>`` (R-113)."""
        return f"{self.agent_session_id}-{self.turn}"

    def send(
        self,
        event: EventName,
        *,
        usage: Usage | None = None,
        rate_limits: Mapping[str, Any] | None = None,
        **payload: Any,
    ) -> None:
        """Pass an event on; the first one of an agent session bears the number 1 (R-113)."""
        first = event is EventName.SESSION_STARTED
        self.request.on_event(
            AgentEvent(
                event=event,
                timestamp=self.request.clock.now(),
                session_id=f"{self.agent_session_id}-1" if first else self.session_id,
                turn=self.turn,
                agent_pid=self.pid,
                usage=usage,
                rate_limits=rate_limits,
                payload=payload,
            )
        )


def refusal(report: Report, stopped: Cancel) -> TurnResult | None:
    """Why no turn can begin at all: the session was stopped, or there is no worktree (R-094)."""
    if stopped.is_set:
        return failed(report, Outcome.CANCELLED, Failure.TURN_CANCELLED, "the session was stopped")
    worktree = report.request.worktree
    if not worktree.is_dir():
        message = f"{worktree}: is no folder to work in"
        return failed(report, Outcome.STARTUP_FAILED, Failure.INVALID_WORKSPACE_CWD, message)
    return None


def failed(report: Report, outcome: Outcome, code: Failure, message: str, **known: Any) -> TurnResult:
    """The result of a turn that did not complete, reported as an event too."""
    events = {
        Outcome.CANCELLED: EventName.TURN_CANCELLED,
        Outcome.INPUT_REQUIRED: EventName.TURN_INPUT_REQUIRED,
        Outcome.NOT_FOUND: EventName.STARTUP_FAILED,
        Outcome.STARTUP_FAILED: EventName.STARTUP_FAILED,
    }
    message = clipped(message)
    report.send(events.get(outcome, EventName.TURN_FAILED), error=code.value, message=message)
    return TurnResult(outcome, code, message, report.session_id, report.agent_session_id, **known)


def completed(report: Report, message: str, **known: Any) -> TurnResult:
    """The result of a turn whose agent considers itself done, reported as an event too."""
    message = clipped(message)
    report.send(EventName.TURN_COMPLETED, message=message)
    return TurnResult(Outcome.COMPLETED, None, message, report.session_id, report.agent_session_id, **known)


def not_started(report: Report, error: BatonError) -> TurnResult:
    """The result of a turn whose program could not be started."""
    if error.code == "program_not_found":
        return failed(report, Outcome.NOT_FOUND, Failure.AGENT_NOT_FOUND, str(error))
    return failed(report, Outcome.STARTUP_FAILED, Failure.STARTUP_FAILED, str(error))


def failure_of(ended: Ended, request: SessionRequest) -> tuple[Outcome, Failure, str] | None:
    """What a limit made of a turn, None when the program ended by itself."""
    if ended.reason is Reason.EXITED:
        return None
    outcome, code = _ENDS[ended.reason]
    messages = {
        Reason.TIMED_OUT: f"took longer than {request.turn_timeout:g} s and was ended",
        Reason.STALLED: f"said nothing for {request.stall_timeout or 0:g} s and was ended",
        Reason.CANCELLED: "was cancelled",
    }
    return outcome, code, messages[ended.reason]


def known_of(ended: Ended) -> dict[str, Any]:
    """What a program's end tells a result, whatever the outcome."""
    return {"seconds": ended.seconds, "exit_code": ended.code, "survivors": ended.survivors}


def judged(report: Report, ended: Ended, last_line: str, errors: str) -> TurnResult:
    """The result of a program that has nothing but its exit code to say."""
    known = known_of(ended)
    limit = failure_of(ended, report.request)
    if limit:
        return failed(report, *limit, **known)
    if ended.code != 0:
        said = errors or last_line
        message = f"exit code {ended.code}: {said}" if said else f"exit code {ended.code}"
        return failed(report, Outcome.FAILED, Failure.PROCESS_EXIT, message, **known)
    return completed(report, last_line, **known)


def clipped(text: str, size: int = _MESSAGE) -> str:
    """The beginning of a text, with a mark where more follows."""
    text = text.strip()
    return text if len(text) <= size else f"{text[:size].rstrip()} [...]"
