"""The database file: made once, replaced under live users, damaged, too new."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from baton_runner.base.errors import BatonError
from baton_runner.store import database as module
from baton_runner.store.database import SCHEMA_VERSION, Database

ADD = "INSERT INTO events (at, run, change, key, kind, data) VALUES ('t', 'r', 'c', 'k', ?, '{}')"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".baton" / "state.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path)
    yield database
    database.close()


def _add(database: Database, kind: str) -> None:
    with database.transaction() as connection:
        connection.execute(ADD, (kind,))


def _kinds(database: Database) -> list[str]:
    with database.reading() as connection:
        return [kind for (kind,) in connection.execute("SELECT kind FROM events ORDER BY number")]


def _damaged(path: Path) -> list[bytes]:
    return [file.read_bytes() for file in path.parent.glob("damaged-*-state.db")]


def test_a_fresh_database_has_todays_schema_and_lets_readers_through(database: Database) -> None:
    with database.reading() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_migration_is_taken_once_and_keeps_the_rows(
    path: Path, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A step from one schema to the next that fails when it is repeated."""
    _add(database, "old")
    database.close()
    folder = tmp_path / "package"
    (folder / "migrations").mkdir(parents=True)
    (folder / "migrations" / f"{SCHEMA_VERSION + 1:03}.sql").write_text("ALTER TABLE events ADD COLUMN extra TEXT;")
    monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr("baton_runner.store.database.resources.files", lambda _package: folder)
    for _ in range(2):
        newer = Database(path)
        with newer.reading() as connection:
            assert connection.execute("SELECT kind, extra FROM events").fetchall() == [("old", None)]
        newer.close()


def test_a_transaction_is_whole_or_absent(database: Database) -> None:
    _add(database, "first")

    def half() -> None:
        with database.transaction() as connection:
            connection.execute(ADD, ("second",))
            connection.execute("INSERT INTO events (at) VALUES ('t')")

    with pytest.raises(sqlite3.IntegrityError):
        half()
    assert _kinds(database) == ["first"]


def test_a_reader_does_not_wait_for_a_writer(path: Path, database: Database) -> None:
    """Promise 8, from another thread's connection and while a transaction is open."""
    _add(database, "first")
    found: list[list[str]] = []

    def read() -> None:
        other = Database(path)
        found.append(_kinds(other))
        other.close()

    with database.transaction() as connection:
        connection.execute(ADD, ("second",))
        thread = threading.Thread(target=read)
        thread.start()
        thread.join(20)
    assert found == [["first"]]


def test_two_users_go_on_in_the_new_file_when_it_is_deleted_under_them(path: Path, database: Database) -> None:
    """Promise 1's corner: whoever comes next is in the file that is on disk, and so is everybody else."""
    other = Database(path)
    _add(database, "lost")
    _add(other, "lost")
    for file in path.parent.glob("state.db*"):
        file.unlink()
    _add(other, "first")
    _add(database, "second")
    assert _kinds(database) == _kinds(other) == ["first", "second"]
    path.unlink()
    _add(database, "third")
    assert _kinds(other) == ["third"]
    other.close()


def test_a_file_deleted_between_opening_and_begin_is_noticed(
    path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is made again inside the transaction."""
    _add(database, "lost")
    whole = Database._connection

    def deleting(self: Database) -> sqlite3.Connection:
        connection = whole(self)
        monkeypatch.setattr(Database, "_connection", whole)
        path.unlink()
        return connection

    monkeypatch.setattr(Database, "_connection", deleting)
    _add(database, "kept")
    other = Database(path)
    assert _kinds(other) == ["kept"]
    other.close()


CREATOR = """\
import sys
from pathlib import Path
from baton_runner.store.database import Database
database = Database(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    with database.transaction() as connection:
        connection.execute("INSERT INTO events (at, run, change, key, kind, data) VALUES ('t','r','c','k','k','{}')")
database.close()
"""


def test_processes_that_make_the_file_at_the_same_moment_share_one(path: Path, database: Database) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CREATOR, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert len(_kinds(database)) == 80
    assert not _damaged(path)


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be taken for one" * 40, b"\0" * 8192])
def test_a_damaged_file_is_set_aside_whole_and_a_fresh_one_takes_its_place(
    path: Path, database: Database, content: bytes
) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    _add(database, "new")
    assert _kinds(database) == ["new"]
    assert _damaged(path) == [content]


def test_damage_found_in_the_middle_says_so_once_and_the_next_use_works(path: Path, database: Database) -> None:
    """A page in the middle of the file is overwritten: opening works, reading does not."""
    for number in range(200):
        _add(database, f"{number}" * 20)
    with database.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    with pytest.raises(BatonError, match=r"state\.db: cannot be used .*set aside") as caught:
        _kinds(database)
    assert caught.value.code == "database"
    _add(database, "new")
    assert _kinds(database) == ["new"]
    assert len(_damaged(path)) == 1


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path, database: Database) -> None:
    _add(database, "mine")
    with database.reading() as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    database.close()
    with pytest.raises(BatonError, match="newer baton") as caught:
        _add(database, "late")
    assert caught.value.code == "newer_database"
    assert not _damaged(path)


def test_a_file_that_cannot_be_opened_says_what_to_do(path: Path, database: Database) -> None:
    path.mkdir(parents=True)
    with pytest.raises(BatonError, match=r"state\.db: cannot be used .*; make room"):
        _add(database, "x")


def test_a_query_of_our_own_that_is_wrong_is_no_damage(path: Path, database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.execute("INSERT INTO events (at) VALUES ('t')")
    assert not _damaged(path)
