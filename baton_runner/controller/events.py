"""What happens during a run, as values: reporters show them, ``--events`` streams them, the journal keeps them."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from baton_runner.base.clock import Clock, rfc3339
from baton_runner.store.journal import Journal

__all__ = ["Event", "Events", "Listener"]


@dataclass(frozen=True)
class Event:
    """Something that happened to a change (``key`` empty) or to one of its tasks. ``kind`` is a dotted word."""

    at: str
    change: str
    key: str
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[Event], None]

_KEPT = ("task.", "attempt.", "change.", "base.", "closing.", "plan.")


class Events:
    """Hands each event to the journal and to every listener, one at a time."""

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._clock = clock
        self._journal = journal
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> None:
        """Tell this one too, from now on."""
        self._listeners.append(listener)

    def emit(self, change: str, key: str, kind: str, **data: Any) -> None:
        """Something happened."""
        event = Event(rfc3339(self._clock.now()), change, key, kind, data)
        if kind.startswith(_KEPT):
            self._journal.event(change, key, kind, data, at=event.at)
        with self._lock:
            for listener in self._listeners:
                listener(event)
