"""The database file: one connection a thread, WAL, migrations, and a reopening when the file was replaced.

Losing the file loses history and nothing else: whoever finds it gone or damaged gets a fresh one, and the old bytes
are kept beside it for a person to look at.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from baton_runner.base.errors import BatonError
from baton_runner.base.files import ensure_folder
from baton_runner.base.locks import Lock

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Database"]

SCHEMA_VERSION = 1
_BUSY_SECONDS = 30.0
_TRIES = 100


class Database:
    """Short transactions on ``state.db``, from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()

    @contextlib.contextmanager
    def transaction(self) -> "Iterator[sqlite3.Connection]":
        """A write transaction (BEGIN IMMEDIATE): committed at the end, rolled back on any error.

        Raises BatonError (``database``) when the file cannot be used; a damaged one is set aside.
        """
        with self._told():
            connection = self._begun()
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> "Iterator[sqlite3.Connection]":
        """A connection for queries; readers never wait for a writer (promise 8). Raises as :meth:`transaction` does."""
        with self._told():
            yield self._connection()

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _begun(self) -> "sqlite3.Connection":
        """A connection in a write transaction on the file that is there now, also when it was replaced meanwhile."""
        import sqlite3

        for _ in range(_TRIES):
            connection = self._connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                if self._is_current():
                    raise
                continue
            if self._is_current():
                return connection
            connection.execute("ROLLBACK")
        raise _unusable(self.path, "it is replaced again and again")

    def _is_current(self) -> bool:
        """Whether this thread's connection is to the file that stands at the path."""
        open_file: tuple[int, int] | None = getattr(self._local, "file", None)
        return open_file is not None and open_file == _identity(self.path)

    def _connection(self) -> "sqlite3.Connection":
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and self._is_current():
            return connection
        self.close()
        for _ in range(_TRIES):
            before = _identity(self.path)
            self._local.connection = opened = self._opened()
            self._local.file = before
            if self._is_current():  # nobody replaced the file while it was opened, so this is the one that was opened
                opened.execute("PRAGMA synchronous=FULL")
                return opened
            self.close()
        raise _unusable(self.path, "it is replaced again and again")

    def _opened(self) -> "sqlite3.Connection":
        """A connection to a database of today's schema; whatever else is there is made so by one process at a time."""
        import sqlite3

        ensure_folder(self.path.parent)
        connection = self._connect()
        try:
            if _is_ready(connection, self.path):
                return connection
        except sqlite3.OperationalError:
            connection.close()
            raise
        except sqlite3.DatabaseError:
            pass  # it is looked at again under the lock, by whoever comes first
        except BaseException:
            connection.close()
            raise
        connection.close()
        with self._alone():
            return self._made()

    def _made(self) -> "sqlite3.Connection":
        import sqlite3

        connection = self._connect()
        try:
            _migrate(connection, self.path)
        except sqlite3.DatabaseError as error:
            connection.close()
            if not _is_damage(error):
                raise
            self._set_aside()
            connection = self._connect()
            _migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> "sqlite3.Connection":
        import sqlite3

        return sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the system's refusals into errors that say what to do; errors of a query's own making pass."""
        import sqlite3

        try:
            yield
        except sqlite3.OperationalError as error:
            raise _unusable(self.path, str(error)) from error
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            with self._alone():
                if self._is_current():
                    self.close()
                    self._set_aside()
            raise _unusable(self.path, f"{error}; it was set aside, the next use makes a fresh one") from error

    def _alone(self) -> Lock:
        return Lock(self.path.with_name(f"{self.path.name}.lock"), note="making the database")

    def _set_aside(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            file = self.path.with_name(self.path.name + suffix)
            with contextlib.suppress(FileNotFoundError):
                file.replace(file.with_name(f"damaged-{os.getpid()}-{file.name}"))


def _is_ready(connection: "sqlite3.Connection", path: Path) -> bool:
    """Whether the schema is today's and readers never wait; BatonError (``newer_database``) when it is tomorrow's."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise BatonError(
            f"was written by a newer baton (schema {version}, this one knows {SCHEMA_VERSION})",
            where=str(path),
            todo="upgrade baton, or move the file away: it holds history only",
            code="newer_database",
        )
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    return bool(version == SCHEMA_VERSION and journal == "wal")


def _migrate(connection: "sqlite3.Connection", path: Path) -> None:
    if _is_ready(connection, path):
        return
    connection.execute("PRAGMA journal_mode=WAL")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(version + 1, SCHEMA_VERSION + 1):
        script = resources.files(__package__).joinpath(f"migrations/{number:03}.sql").read_text("utf-8")
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version={number};\nCOMMIT;")


def _is_damage(error: "sqlite3.DatabaseError") -> bool:
    """Whether the file is at fault: not the system (OperationalError), nor a query (the other subclasses)."""
    import sqlite3

    return type(error) is sqlite3.DatabaseError


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def _unusable(path: Path, reason: str) -> BatonError:
    return BatonError(
        f"cannot be used ({reason})",
        where=str(path),
        todo="make room or the folder writable; the file holds history only and may be moved away",
        code="database",
    )
