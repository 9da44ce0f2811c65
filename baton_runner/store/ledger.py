"""Money and tokens: reserved before a turn, settled after it, in one transaction each.

A ceiling is never exceeded by what is reserved and spent together, however many workers ask at once; a ceiling of 0
means 0. A reservation of a process that died stays counted as spent: what it cost is not known, and too little is
the safe error.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from baton_runner.store.database import Database

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Ceilings", "Ledger", "Refusal", "Reservation", "Spent"]


@dataclass(frozen=True)
class Ceilings:
    """What may be spent; None is no ceiling, 0 is nothing at all."""

    run_usd: float | None = None
    task_usd: float | None = None
    run_tokens: int | None = None

    @property
    def usd(self) -> bool:
        """Whether money is limited at all."""
        return self.run_usd is not None or self.task_usd is not None


@dataclass(frozen=True)
class Reservation:
    """The right to spend up to ``usd`` dollars (None: no ceiling) in one turn."""

    number: int
    usd: float | None


@dataclass(frozen=True)
class Refusal:
    """A ceiling that leaves nothing: which one, its value, and what was spent of it."""

    ceiling: Literal["budget.run_usd", "budget.task_usd", "budget.run_tokens"]
    value: float
    spent: float


@dataclass(frozen=True)
class Spent:
    """Sums in USD and tokens."""

    usd: float
    tokens: int


class Ledger:
    """Reservations and sums of one run."""

    def __init__(self, database: Database, run: str, ceilings: Ceilings, *, workers: int = 1) -> None:
        self._database = database
        self._run = run
        self._ceilings = ceilings
        self._workers = max(1, workers)

    def reserve(self, change: str, key: str) -> Reservation | Refusal:
        """Set money aside for a turn: a worker's share of what is left of the run, at most what is left of the task."""
        with self._database.transaction() as connection:
            run, task = self._sums(connection, "run = ?", self._run), self._task(connection, change, key)
            ceilings = self._ceilings
            if ceilings.run_tokens is not None and run.tokens >= ceilings.run_tokens:
                return Refusal("budget.run_tokens", ceilings.run_tokens, run.tokens)
            shares = []
            if ceilings.run_usd is not None:
                if run.usd >= ceilings.run_usd:
                    return Refusal("budget.run_usd", ceilings.run_usd, run.usd)
                shares.append((ceilings.run_usd - run.usd) / self._workers)
            if ceilings.task_usd is not None:
                if task.usd >= ceilings.task_usd:
                    return Refusal("budget.task_usd", ceilings.task_usd, task.usd)
                shares.append(ceilings.task_usd - task.usd)
            usd = min(shares) if shares else None
            cursor = connection.execute(
                "INSERT INTO spend (run, change, key, reserved_usd) VALUES (?, ?, ?, ?)",
                (self._run, change, key, usd or 0.0),
            )
            return Reservation(cursor.lastrowid or 0, usd)

    def settle(self, reservation: Reservation, *, usd: float, tokens: int) -> None:
        """Replace a reservation by what the turn really took."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE spend SET reserved_usd = 0, reserved_tokens = 0, spent_usd = ?, spent_tokens = ?, settled = 1"
                " WHERE number = ? AND run = ?",
                (usd, tokens, reservation.number, self._run),
            )

    def spent(self) -> Spent:
        """What this run has spent and reserved so far."""
        with self._database.reading() as connection:
            return self._sums(connection, "run = ?", self._run)

    def _task(self, connection: "sqlite3.Connection", change: str, key: str) -> Spent:
        return self._sums(connection, "run = ? AND change = ? AND key = ?", self._run, change, key)

    def _sums(self, connection: "sqlite3.Connection", where: str, *values: str) -> Spent:
        money = "COALESCE(SUM(reserved_usd + spent_usd), 0)"
        tokens = "COALESCE(SUM(reserved_tokens + spent_tokens), 0)"
        query = f"SELECT {money}, {tokens} FROM spend WHERE {where}"  # noqa: S608 - all parts are ours
        return Spent(*connection.execute(query, values).fetchone())
