"""Pauses: a provider that refuses is left alone until its reset, by everybody, and never for ever."""

import datetime as dt
from pathlib import Path

import pytest

from baton_runner.base.cancel import Cancel
from baton_runner.controller.pauses import Pauses

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


class _Clock:
    def __init__(self) -> None:
        self.moment = NOW

    def now(self) -> dt.datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()


class _Cancel(Cancel):
    """A request to stop whose waits move the clock instead of taking time."""

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self.clock = clock
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waited.append(timeout)
        self.clock.moment += dt.timedelta(seconds=timeout)
        return False


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [(None, 60), (NOW + dt.timedelta(minutes=5), 300), (NOW - dt.timedelta(hours=1), 1), (NOW + dt.timedelta(days=9), 21600)],
)  # fmt: skip
def test_a_pause_lasts_until_the_reset_within_bounds(tmp_path: Path, reset: dt.datetime | None, seconds: int) -> None:
    """Promise 9: a minute where none is known, at least a second, at most six hours."""
    pauses = Pauses(tmp_path, _Clock())
    assert pauses.begin("claude_code", reset) == NOW + dt.timedelta(seconds=seconds)
    assert pauses.until("claude_code") == NOW + dt.timedelta(seconds=seconds)


def test_another_process_sees_it_and_another_agent_is_not_held_up(tmp_path: Path) -> None:
    Pauses(tmp_path, _Clock()).begin("claude_code", None)
    other = Pauses(tmp_path, _Clock())
    assert other.until("claude_code") is not None
    assert other.until("command") is None


def test_waiting_ends_with_the_pause(tmp_path: Path) -> None:
    clock = _Clock()
    cancel = _Cancel(clock)
    pauses = Pauses(tmp_path, clock)
    pauses.begin("command", NOW + dt.timedelta(seconds=70))
    pauses.wait("command", cancel)
    assert cancel.waited == [30, 30, 10]
    assert pauses.until("command") is None


def test_a_request_to_stop_ends_the_waiting(tmp_path: Path) -> None:
    pauses = Pauses(tmp_path, _Clock())
    pauses.begin("command", None)
    cancel = Cancel()
    cancel.set()
    pauses.wait("command", cancel)
    assert pauses.until("command") is not None


@pytest.mark.parametrize("content", [b"", b"[]", b"5", b"{}", b'{"until": 5}', b'{"until": "soon"}', b'"x"'])
def test_a_damaged_pause_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "command.json").write_bytes(content)
    assert Pauses(tmp_path, _Clock()).until("command") is None


def test_a_time_without_a_zone_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "command.json").write_bytes(b'{"until": "2020-01-01T00:00:00"}')
    assert Pauses(tmp_path, _Clock()).until("command") is None
