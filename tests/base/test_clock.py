"""Time as records hold it."""

import datetime as dt

from baton_runner.base.clock import SystemClock, rfc3339


def test_moments_are_written_in_utc_with_milliseconds() -> None:
    berlin = dt.timezone(dt.timedelta(hours=2))
    assert rfc3339(dt.datetime(2026, 3, 1, 14, 0, 0, 123999, tzinfo=berlin)) == "2026-03-01T12:00:00.123Z"
    assert rfc3339(dt.datetime(2026, 3, 1, tzinfo=dt.UTC)) == "2026-03-01T00:00:00.000Z"


def test_the_systems_clock_knows_its_zone_and_never_runs_backwards() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is dt.UTC
    assert abs(clock.now() - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)
    first, second = clock.monotonic(), clock.monotonic()
    assert second >= first
