"""Time, injected: wall time for records, monotonic time for limits. Tests bring their own clock and never sleep."""

import datetime as dt
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock", "rfc3339"]


class Clock(Protocol):
    """What the product may ask about time."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; only differences mean anything."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Seconds since some start, not moved by a change of the wall clock."""
        return time.monotonic()


def rfc3339(moment: dt.datetime) -> str:
    """A moment as records hold it: UTC, milliseconds, ``Z``."""
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
