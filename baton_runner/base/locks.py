"""OS locks that die with their process, and say who holds them.

A lock is ``flock`` on a file that is never deleted; the holder writes its process id, start time and a note into it and
wipes them when it lets go, so that others can name the owner, and the next one sees that an owner died holding it.
Safe between processes and between threads. (``filelock`` costs 100 ms to import and cannot label its file.)
"""

import contextlib
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from baton_runner.base.errors import ActionNeeded
from baton_runner.base.files import ensure_folder, unwritable

__all__ = ["Lock", "Owner"]

_POLL_SECONDS = 0.01
_LOOKERS = 1000
_LOOK_SECONDS = 0.001
"""A lock that is only being looked at is tried again, so often and this far apart; a look lasts microseconds."""


@dataclass(frozen=True)
class Owner:
    """Who wrote its name into a lock and did not wipe it: it holds the lock, or died holding it."""

    pid: int
    started: float
    note: str

    def __str__(self) -> str:
        text = f"process {self.pid}"
        return f"{text} ({self.note})" if self.note else text


class Lock:
    """An exclusive lock on a file. One object is one holder; use it once at a time."""

    def __init__(self, path: Path, *, note: str = "") -> None:
        self.path = path
        self.note = note
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        ensure_folder(self.path.parent)
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritable(self.path, error) from error
        if not _locked(descriptor):
            os.close(descriptor)
            return False
        if not _is_file_at(descriptor, self.path):  # somebody removed the file while we opened it
            os.close(descriptor)
            return self.try_acquire()
        owner = json.dumps(asdict(Owner(os.getpid(), time.time(), self.note))).encode()
        with contextlib.suppress(OSError):  # the lock holds without its label, on a full disk too
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, owner, 0)
        self._descriptor = descriptor
        return True

    def acquire(self, timeout: float) -> None:
        """Take the lock, waiting up to ``timeout`` seconds; ActionNeeded names the owner when it stays taken."""
        deadline = time.monotonic() + timeout
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                raise ActionNeeded(
                    f"is held by {self.owner() or 'another process'} for more than {timeout:.0f} s",
                    where=str(self.path),
                    todo="wait for it or end that process, then run again",
                    code="lock_timeout",
                )
            time.sleep(_POLL_SECONDS)

    def release(self) -> None:
        """Give the lock back; a lock that is not held stays as it is."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)

    def owner(self) -> Owner | None:
        """The label in the lock, None when there is none: free and let go in good order."""
        try:
            return Owner(**json.loads(self.path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def is_taken(self) -> bool:
        """Whether some holder has it now, without taking it for longer than a moment."""
        if self.held:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not _flocked(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        if not self.held:
            self.acquire(timeout=600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _locked(descriptor: int) -> bool:
    """Take the exclusive lock unless a holder has it; somebody who only looks is gone in a moment and holds nothing."""
    for _ in range(_LOOKERS):
        if _flocked(descriptor, fcntl.LOCK_EX):
            return True
        if not _flocked(descriptor, fcntl.LOCK_SH):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(_LOOK_SECONDS)
    return False


def _flocked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_file_at(descriptor: int, path: Path) -> bool:
    try:
        at_path = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (mine.st_dev, mine.st_ino) == (at_path.st_dev, at_path.st_ino)
