"""The history of work: a row for each attempt, and an event for whatever happened to a task."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baton_runner.store.database import Database

__all__ = ["AttemptRow", "EventRow", "Journal"]


@dataclass(frozen=True)
class AttemptRow:
    """One attempt as history knows it; ``state`` is running, resolved or the reason of its end."""

    change: str
    key: str
    attempt: int
    agent: str
    session: str | None
    state: str
    message: str
    turns: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    started: str
    ended: str | None


@dataclass(frozen=True)
class EventRow:
    """Something that happened: ``kind`` is a dotted word such as ``task.resolved``."""

    at: str
    change: str
    key: str
    kind: str
    data: Mapping[str, Any]


_ATTEMPT_COLUMNS = ", ".join(AttemptRow.__dataclass_fields__)


class Journal:
    """Writes and reads history."""

    def __init__(self, database: Database, run: str) -> None:
        self._database = database
        self.run = run

    def start(self, change: str, key: str, attempt: int, *, agent: str, at: str) -> None:
        """An attempt begins."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO attempts (change, key, attempt, run, agent, state, started)"
                " VALUES (?, ?, ?, ?, ?, 'running', ?)",
                (change, key, attempt, self.run, agent, at),
            )

    def end(self, row: AttemptRow) -> None:
        """An attempt ended; the row is written whole, also when the database was lost meanwhile."""
        values = [getattr(row, name) for name in AttemptRow.__dataclass_fields__]
        marks = ", ".join("?" * (len(values) + 1))
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO attempts ({_ATTEMPT_COLUMNS}, run) VALUES ({marks})",  # noqa: S608 - our names
                [*values, self.run],
            )

    def attempts(self, change: str, key: str | None = None) -> tuple[AttemptRow, ...]:
        """Attempts at a change or at one task, oldest first."""
        query = f"SELECT {_ATTEMPT_COLUMNS} FROM attempts WHERE change = ?"  # noqa: S608 - our names
        values = [change]
        if key is not None:
            query, values = f"{query} AND key = ?", [change, key]
        with self._database.reading() as connection:
            rows = connection.execute(f"{query} ORDER BY started, attempt", values).fetchall()
        return tuple(AttemptRow(*row) for row in rows)

    def event(self, change: str, key: str, kind: str, data: Mapping[str, Any], *, at: str) -> None:
        """Record that something happened."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO events (at, run, change, key, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
                (at, self.run, change, key, kind, json.dumps(data)),
            )

    def events(self, change: str, key: str | None = None, *, most: int = 200) -> tuple[EventRow, ...]:
        """The newest events of a change or a task, oldest first."""
        query, values = "SELECT at, change, key, kind, data FROM events WHERE change = ?", [change]
        if key is not None:
            query, values = f"{query} AND key = ?", [change, key]
        with self._database.reading() as connection:
            rows = connection.execute(f"{query} ORDER BY number DESC LIMIT {int(most)}", values).fetchall()
        return tuple(
            EventRow(at, change, key, kind, json.loads(data)) for at, change, key, kind, data in reversed(rows)
        )
