"""Rate limits: a provider that refuses is left alone until its reset, by every worker, and no attempt is used.

The pause is a file, so a second run and ``baton status`` see it too.
"""

import datetime as dt
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import Clock, rfc3339
from baton_runner.base.digest import canonical
from baton_runner.base.errors import DamagedRecord
from baton_runner.base.slug import slug

__all__ = ["MOST_PAUSES", "Pauses"]

WRITE = crash.declare("pause.write")
MOST_PAUSES = 5
"""So often a turn is tried again after a rate limit before its attempt fails."""
_UNKNOWN_RESET_SECONDS = 60.0
_LONGEST_SECONDS = 6 * 3600.0


class Pauses:
    """Until when each kind of agent is left alone."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def begin(self, kind: str, reset_at: dt.datetime | None) -> dt.datetime:
        """Pause a kind of agent until its reset (a minute where none is known, six hours at most)."""
        now = self._clock.now()
        seconds = (reset_at - now).total_seconds() if reset_at is not None else _UNKNOWN_RESET_SECONDS
        until = now + dt.timedelta(seconds=min(max(seconds, 1.0), _LONGEST_SECONDS))
        files.write_atomic(self._path(kind), canonical({"agent": kind, "until": rfc3339(until)}), WRITE)
        return until

    def until(self, kind: str) -> dt.datetime | None:
        """When the pause of a kind ends, None when there is none now."""
        try:
            record = files.read_json(self._path(kind))
            until = dt.datetime.fromisoformat(record["until"]).astimezone(dt.UTC) if record else None
        except (DamagedRecord, KeyError, TypeError, ValueError):
            return None  # a pause saves requests; a damaged one is none
        return until if until is not None and until > self._clock.now() else None

    def wait(self, kind: str, cancel: Cancel) -> None:
        """Wait until a kind of agent may be asked again, or the run is asked to stop."""
        while not cancel.is_set:
            until = self.until(kind)
            if until is None:
                return
            cancel.wait(min((until - self._clock.now()).total_seconds(), 30.0))

    def _path(self, kind: str) -> Path:
        return self._folder / f"{slug(kind)}.json"
