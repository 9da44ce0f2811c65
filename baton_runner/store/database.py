"""The database file: one connection a thread, WAL, migrations, and a reopening when the file was replaced.

Losing the file loses history and nothing else: whoever finds it gone or damaged gets a fresh one, and the old bytes
are kept beside it for a person to look at.
"""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from baton_runner.base.errors import BatonError
from baton_runner.base.files import ensure_folder

__all__ = ["Database"]

SCHEMA_VERSION = 1
_BUSY_SECONDS = 30.0


class Database:
    """Short transactions on ``state.db``, from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction (BEGIN IMMEDIATE): committed at the end, rolled back on any error."""
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for queries; readers never wait for a writer (promise 8)."""
        yield self._connection()

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and self._local.file == _identity(self.path):
            return connection
        if connection is not None:
            connection.close()
        self._local.connection = connection = self._open()
        self._local.file = _identity(self.path)
        return connection

    def _open(self) -> sqlite3.Connection:
        ensure_folder(self.path.parent)
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _unusable(self.path, error) from error
            self._quarantine()
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise BatonError(
                f"was written by a newer baton (schema {version}, this one knows {SCHEMA_VERSION})",
                where=str(self.path),
                todo="upgrade baton, or move the file away: it holds history only",
                code="newer_database",
            )
        for number in range(version + 1, SCHEMA_VERSION + 1):
            script = resources.files(__package__).joinpath(f"migrations/{number:03}.sql").read_text("utf-8")
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version={number};\nCOMMIT;")

    def _quarantine(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            file = self.path.with_name(self.path.name + suffix)
            with contextlib.suppress(FileNotFoundError):
                file.replace(file.with_name(f"damaged-{os.getpid()}-{file.name}"))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def _unusable(path: Path, error: sqlite3.Error) -> BatonError:
    return BatonError(
        f"cannot be used ({error})",
        where=str(path),
        todo="make room or the folder writable; the file holds history only and may be moved away",
        code="database",
    )
