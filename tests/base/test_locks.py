"""OS locks: one holder among processes and threads, labels that outlive the dead, nothing that outlives a clean end."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from baton_runner.base.errors import ActionNeeded, BatonError
from baton_runner.base.locks import Lock, Owner

HOLDER = """\
import sys
from pathlib import Path
from baton_runner.base.locks import Lock
lock = Lock(Path(sys.argv[1]), note="c:1.2")
lock.acquire(20)
print("held", flush=True)
sys.stdin.readline()
lock.release()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "task.lock"


@contextmanager
def _holder(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the lock until it is told to let go."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_lock_held_by_another_process_is_denied_and_names_its_owner(path: Path) -> None:
    lock = Lock(path)
    with _holder(path) as process:
        assert not lock.try_acquire()
        assert lock.is_taken()
        assert not lock.held
        owner = lock.owner()
        assert owner is not None
        assert (owner.pid, owner.note) == (process.pid, "c:1.2")
        assert abs(owner.started - time.time()) < 120
        assert str(owner) == f"process {process.pid} (c:1.2)"


def test_a_clean_release_wipes_the_label(path: Path) -> None:
    """A label without a lock therefore means a death."""
    with _holder(path) as process:
        process.communicate("go\n")
        assert process.returncode == 0
        lock = Lock(path)
        assert (lock.owner(), lock.is_taken()) == (None, False)
        assert lock.try_acquire()
        mine = lock.owner()
        assert isinstance(mine, Owner)
        assert (mine.pid, mine.note) == (os.getpid(), "")
        lock.release()
        assert path.read_bytes() == b""


def test_the_lock_of_a_killed_process_is_free_and_keeps_its_label(path: Path) -> None:
    """The next one can take it at once, and knows whose processes to look for."""
    lock = Lock(path)
    with _holder(path) as process:
        process.kill()
        process.wait()
        assert not lock.is_taken()
        left = lock.owner()
        assert left is not None
        assert (left.pid, left.note) == (process.pid, "c:1.2")
        assert lock.try_acquire()
        mine = lock.owner()
        assert mine is not None
        assert mine.pid == os.getpid()
        lock.release()


def test_waiting_ends_with_an_error_that_names_the_owner(path: Path) -> None:
    with _holder(path) as process, pytest.raises(ActionNeeded) as caught:
        Lock(path).acquire(0)
    assert caught.value.code == "lock_timeout"
    assert str(path) in str(caught.value)
    assert f"process {process.pid} (c:1.2)" in str(caught.value)


def test_waiting_ends_when_the_holder_lets_go(path: Path) -> None:
    with _holder(path) as process:
        timer = threading.Thread(target=process.communicate, args=("go\n",))
        timer.start()
        lock = Lock(path)
        lock.acquire(60)
        timer.join()
        assert lock.held
        lock.release()


def test_a_removed_lock_file_does_not_make_two_holders_of_what_comes_after(path: Path) -> None:
    """Two that start after the removal agree on the new file, also when it vanished while one of them opened it."""
    first = Lock(path)
    assert first.try_acquire()
    path.unlink()
    second, third = Lock(path), Lock(path)
    assert second.try_acquire()
    assert not third.try_acquire()
    for lock in (first, second):
        lock.release()


def test_a_file_removed_between_opening_and_locking_is_taken_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fcntl.flock

    def removing(descriptor: int, kind: int) -> None:
        monkeypatch.setattr(fcntl, "flock", whole)
        path.unlink()
        path.write_bytes(b"")
        whole(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", removing)
    lock = Lock(path)
    assert lock.try_acquire()
    assert not Lock(path).try_acquire()
    lock.release()


def test_threads_take_turns(path: Path) -> None:
    """The lock is between holders, not between processes alone."""
    inside, most = 0, 0
    turns = []

    def work(number: int) -> None:
        nonlocal inside, most
        for _ in range(10):
            with Lock(path, note=str(number)):
                inside += 1
                most = max(most, inside)
                turns.append(number)
                inside -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(turns)) == (1, 40)


def test_whoever_only_looks_never_keeps_another_from_taking_it(path: Path) -> None:
    """Promise 8's other side: ``status`` in a loop does not make a run defer its tasks."""
    lock = Lock(path)
    assert lock.try_acquire()
    lock.release()
    stop = threading.Event()

    def look() -> None:
        looking = Lock(path)
        while not stop.is_set():
            looking.is_taken()

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for thread in lookers:
        thread.start()
    taken = 0
    for _ in range(500):
        taken += lock.try_acquire()
        lock.release()
    stop.set()
    for thread in lookers:
        thread.join()
    assert taken == 500


def test_looking_makes_no_file(path: Path) -> None:
    assert not Lock(path).is_taken()
    assert not path.parent.exists()


def test_letting_go_twice_is_harmless_and_with_keeps_what_is_held(path: Path) -> None:
    lock = Lock(path)
    assert lock.try_acquire()
    with lock:
        assert lock.held
    lock.release()
    assert not lock.held


@pytest.mark.parametrize("content", [b"", b"no json", b"[]", b"5", b'{"pid": 1}', b"\xff"])
def test_a_label_that_is_none_names_nobody(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert Lock(path).owner() is None
    lock = Lock(path)
    assert lock.try_acquire()
    lock.release()


def test_a_lock_that_cannot_be_made_says_where_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "task.lock").mkdir()
    with pytest.raises(BatonError, match=r"task\.lock: cannot be written") as caught:
        Lock(tmp_path / "locks" / "task.lock").try_acquire()
    assert caught.value.code == "unwritable"


def test_a_full_disk_takes_the_label_and_not_the_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    lock = Lock(path)
    assert lock.try_acquire()
    assert not Lock(path).try_acquire()
    lock.release()
