"""What an agent is to the rest of the product: a session in a worktree, taken turn by turn, each with one outcome.

``start_session`` costs nothing and cannot fail; every trouble is the outcome of a turn. A turn always ends (its limits
are in the request), another thread may cancel it at any moment, and when ``run_turn`` or ``stop`` returns, no process
of that turn is left.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from baton_runner.agents.events import AgentEvent
from baton_runner.agents.redaction import unchanged
from baton_runner.agents.usage import NO_USAGE, Usage
from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import Clock, SystemClock
from baton_runner.base.transcript import Redact

__all__ = ["Agent", "Failure", "Outcome", "Session", "SessionRequest", "TurnResult"]


class Outcome(Enum):
    """How a turn ended. Only COMPLETED says that the agent considers itself done; it proves nothing."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    CANCELLED = "cancelled"
    RATE_LIMITED = "rate_limited"
    """The provider refuses or is overloaded: the task is not at fault, and trying again costs no attempt."""
    INPUT_REQUIRED = "input_required"
    NOT_FOUND = "not_found"
    STARTUP_FAILED = "startup_failed"


class Failure(Enum):
    """The stable code of a failed turn (R-118, and the ones that the list lacks)."""

    AGENT_NOT_FOUND = "agent_not_found"
    INVALID_WORKSPACE_CWD = "invalid_workspace_cwd"
    STARTUP_FAILED = "startup_failed"
    TURN_TIMEOUT = "turn_timeout"
    TURN_STALLED = "turn_stalled"
    PROCESS_EXIT = "process_exit"
    TURN_FAILED = "turn_failed"
    TURN_CANCELLED = "turn_cancelled"
    TURN_INPUT_REQUIRED = "turn_input_required"
    RATE_LIMITED = "rate_limited"


@dataclass(frozen=True)
class TurnResult:
    """What a turn came to. ``code`` is None exactly when it completed.

    ``message`` is the agent's last word, or what went wrong. ``usage`` is this turn's alone. ``denials`` name the tools
    that the agent wanted and did not get, ``questions`` what it asked nobody. ``resumable`` says whether a later turn
    can go on in the same agent session, ``agent_session_id`` then names it. ``survivors`` are processes that the turn
    left running and that were ended.
    """

    outcome: Outcome
    code: Failure | None
    message: str
    session_id: str
    agent_session_id: str
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    denials: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    reset_at: dt.datetime | None = None
    resumable: bool = False
    exit_code: int | None = None
    survivors: tuple[int, ...] = ()


@dataclass(frozen=True)
class SessionRequest:
    """Everything an agent session needs to know.

    ``environ`` is the whole environment of the agent (see :mod:`baton_runner.agents.environment`) but for the
    ``BATON_`` variables, which are added. ``marker`` is a word that no other run has. Timeouts are in seconds;
    ``stall_timeout`` is the longest silence, None for any. ``resume_id`` names an agent session to go on with;
    ``task_prompt`` is sent before a turn's own prompt where that session turns out to be lost (default: the first
    prompt of this one). ``recipe`` are the task's own commands, ``verification`` those that will judge it.
    """

    worktree: Path
    change: str
    task_id: str
    attempt: int
    log_folder: Path
    environ: Mapping[str, str]
    marker: str
    turn_timeout: float
    stall_timeout: float | None = None
    packet: Path | None = None
    cancel: Cancel = field(default_factory=Cancel)
    on_event: Callable[[AgentEvent], None] = lambda _event: None
    redact: Redact = unchanged
    resume_id: str | None = None
    model: str | None = None
    task_prompt: str = ""
    recipe: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    clock: Clock = field(default_factory=SystemClock)

    @property
    def task_name(self) -> str:
        """``<change>:<task id>``, or the id alone where there is no change."""
        return f"{self.change}:{self.task_id}" if self.change else self.task_id


class Session(Protocol):
    """An agent at work in one worktree. Turns come one after the other, from one thread."""

    def run_turn(self, prompt: str, turn: int) -> TurnResult:
        """Send a prompt and wait for what comes of it; ``turn`` counts from 1 within the session."""
        ...

    def stop(self) -> None:
        """End the session and return when no process of it is left; from any thread, any number of times."""
        ...


class Agent(Protocol):
    """A kind of agent, configured by the policy.

    ``environment_names`` are variables of ours that it needs beyond the base list, ``*`` at the end for a prefix.
    ``metered`` says whether its turns report a cost.
    """

    @property
    def kind(self) -> str:
        """The word of ``agent.kind``."""
        ...

    @property
    def metered(self) -> bool:
        """Whether its turns report a cost in US dollars."""
        ...

    @property
    def environment_names(self) -> tuple[str, ...]:
        """Variables it needs beyond the base list."""
        ...

    def available(self, environ: Mapping[str, str]) -> str | None:
        """What keeps it from being started in this environment, as a sentence for the user; None when nothing does."""
        ...

    def start_session(self, request: SessionRequest) -> Session:
        """Open a session; nothing is started before its first turn."""
        ...
