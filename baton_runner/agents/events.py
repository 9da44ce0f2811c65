"""What an agent reports while it works: one event model for all adapters (R-112 of the service's specification).

Events are for people and for accounting. No decision depends on them but stall detection; the outcome of a turn is its
:class:`~baton_runner.agents.protocol.TurnResult`.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from baton_runner.agents.usage import Usage

__all__ = ["AgentEvent", "EventName"]


class EventName(Enum):
    """What happened. ``OTHER_MESSAGE`` is the heartbeat of an agent that says nothing we understand."""

    SESSION_STARTED = "session_started"
    STARTUP_FAILED = "startup_failed"
    TURN_COMPLETED = "turn_completed"
    TURN_FAILED = "turn_failed"
    TURN_CANCELLED = "turn_cancelled"
    TURN_INPUT_REQUIRED = "turn_input_required"
    PERMISSION_DENIED = "permission_denied"
    TOOL_USE = "tool_use"
    NOTIFICATION = "notification"
    OTHER_MESSAGE = "other_message"
    MALFORMED = "malformed"


@dataclass(frozen=True)
class AgentEvent:
    """One report. ``timestamp`` is UTC; ``session_id`` reads ``<agent session>-<turn>``.

    ``usage``, when present, is what became known to be spent since the last report: summing it over the events of a
    session never counts anything twice. ``rate_limits`` is the provider's own payload (R-146). ``payload`` is small
    and free of secrets: a ``message`` for people, a ``tool``, an ``error``.
    """

    event: EventName
    timestamp: dt.datetime
    session_id: str
    turn: int
    agent_pid: int | None = None
    usage: Usage | None = None
    rate_limits: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
