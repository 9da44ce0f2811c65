"""History: attempts and events come back as they were told."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baton_runner.store.database import Database
from baton_runner.store.journal import AttemptRow, EventRow, Journal

ROW = AttemptRow(
    "c", "1.1", 1, "command", "session", "resolved", "", 2, 100, 20, 0.5, "2026-03-01T12:00:00.000Z",
    "2026-03-01T12:01:00.000Z",
)  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    database = Database(tmp_path / "state.db")
    yield Journal(database, "run")
    database.close()


def test_an_attempt_runs_until_it_ended(journal: Journal) -> None:
    journal.start("c", "1.1", 1, agent="command", at=ROW.started)
    (running,) = journal.attempts("c", "1.1")
    assert (running.state, running.ended, running.agent) == ("running", None, "command")
    journal.end(ROW)
    assert journal.attempts("c", "1.1") == (ROW,)


def test_an_end_is_kept_whole_although_its_beginning_was_lost(journal: Journal) -> None:
    """The database may be deleted while an agent works."""
    journal.end(ROW)
    assert journal.attempts("c") == (ROW,)


def test_attempts_come_oldest_first_and_only_those_asked_for(journal: Journal) -> None:
    later = replace(ROW, attempt=2, started="2026-03-01T13:00:00.000Z", cost_usd=None, session=None)
    other = replace(ROW, key="1.2")
    for row in (later, other, replace(ROW, change="d"), ROW):
        journal.end(row)
    assert journal.attempts("c", "1.1") == (ROW, later)
    assert set(journal.attempts("c")) == {ROW, later, other}


def test_the_newest_events_come_in_the_order_they_happened(journal: Journal) -> None:
    for number in range(5):
        journal.event("c", "1.1", "turn.started", {"turn": number}, at="t")
    journal.event("c", "1.2", "task.resolved", {}, at="t")
    assert [event.data["turn"] for event in journal.events("c", "1.1", most=3)] == [2, 3, 4]
    assert journal.events("c", most=1) == (EventRow("t", "c", "1.2", "task.resolved", {}),)
    assert journal.events("other") == ()


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.none() | st.text() | st.integers() | st.lists(st.text())))
def test_whatever_an_event_tells_comes_back(journal: Journal, data: dict[str, object]) -> None:
    journal.event("c", "k", "kind", data, at="t")
    assert journal.events("c", "k", most=1)[0].data == data
