"""Processes found by a mark in their environment: the ones that left their group, their session and their parent.

Every process we start carries ``BATON_MARKER``; children inherit it whatever else they change. Linux reads
``/proc/*/environ`` (about 10 microseconds a process); elsewhere psutil is asked, which sees less: best effort.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = [
    "MARKER",
    "adopting",
    "become_subreaper",
    "end_marked",
    "marked",
    "processes_marked",
    "reap_adopted",
    "wait_for",
    "waited_for",
]

MARKER = "BATON_MARKER"
"""The environment variable: the marks of all that enclose a process, outermost first, separated by blanks."""

_ROUNDS = 200
_POLL_SECONDS = 0.01
_PR_SET_CHILD_SUBREAPER = 36
_lock = threading.Lock()
_awaited: set[int] = set()
_sessions: set[int] = set()
_ended: set[int] = set()
_adopting = threading.Event()


def marked(environ: Mapping[str, str], marker: str) -> dict[str, str]:
    """The environment with the mark added to those we ourselves run under, so that a nested run stays findable."""
    if not marker or any(character.isspace() or character == "\0" for character in marker):
        raise ValueError(f"a marker is one word: {marker!r}")
    outer = os.environ.get(MARKER, "").split()
    return {**environ, MARKER: " ".join([*outer, marker])}


def processes_marked(marker: str) -> tuple[int, ...]:
    """The living processes that carry the mark, this one left out. A process that is dead but not reaped has none."""
    return _from_proc(marker) if sys.platform == "linux" else _from_psutil(marker)


def end_marked(marker: str, grace: float = 0) -> tuple[int, ...]:
    """End every process that carries the mark: SIGTERM, after ``grace`` seconds SIGKILL; returns the ones found.

    A mark stands for one run: whatever carries it is ended. Looks again until none is left, because a process may have
    forked meanwhile; gives up after two seconds of that.
    """
    found = processes_marked(marker)
    if not found:
        reap_adopted()
        return ()
    ended = set(found)
    if grace > 0:
        _signal(found, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while (left := processes_marked(marker)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        ended.update(left)
    for _ in range(_ROUNDS):
        left = processes_marked(marker)
        if not left:
            break
        ended.update(left)
        _signal(left, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)
    if _adopting.is_set():
        with _lock:
            _ended.update(ended)
    reap_adopted()
    return tuple(sorted(ended))


def become_subreaper() -> bool:
    """Become the parent of orphans among our descendants (Linux), so that none slips away to init; say whether.

    Their exits are taken by :func:`reap_adopted`, which :func:`end_marked` calls.
    """
    if sys.platform != "linux":
        return False
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        return False
    _adopting.set()
    return True


def wait_for(pid: int) -> None:
    """Say that the caller takes the exit of this child, the leader of a session, itself."""
    with _lock:
        _awaited.add(pid)
        _sessions.add(pid)


def waited_for(pid: int) -> None:
    """Say that the caller took the exit it announced."""
    with _lock:
        _awaited.discard(pid)


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """While this lasts, orphans among our descendants become our children (Linux), and at its end those are ended.

    So a process that left its parent, its session and its environment behind goes with the run all the same.
    """
    before = set(_children())
    become_subreaper()
    try:
        yield
    finally:
        for _ in range(_ROUNDS):
            left = [pid for pid in _children() if pid not in before]
            if not left:
                break
            _signal(tuple(left), signal.SIGKILL)
            for pid in left:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def reap_adopted() -> None:
    """Take the exits of orphans that became our children: ended by mark, or dead members of a session we started.

    Never of a child that some caller waits for (:func:`wait_for`), nor of one started without this module.
    """
    if not _adopting.is_set():
        return
    with _lock:
        _ended.difference_update(_awaited)
        for pid in (*_ended, *_dead_in_our_sessions()):
            with contextlib.suppress(ChildProcessError):  # not our child: its own parent takes it
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue  # still dying
            _ended.discard(pid)


def _dead_in_our_sessions() -> tuple[int, ...]:
    """Dead children that are in a session of ours without being its leader (Linux)."""
    return tuple(pid for pid in _children() if pid not in _awaited and _is_adopted(pid))


def _children() -> tuple[int, ...]:
    """The children of this process, dead ones not reaped included; none where the system does not say (not Linux)."""
    found: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            found += map(int, file.read_bytes().split())
    return tuple(found)


def _is_adopted(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[0] == b"Z" and int(fields[3]) in _sessions and int(fields[3]) != pid


def _from_proc(marker: str) -> tuple[int, ...]:
    label, word, own = f"{MARKER}=".encode(), os.fsencode(marker), str(os.getpid())
    return tuple(
        int(name)
        for name in os.listdir("/proc")  # noqa: PTH208 - names alone, this runs after every command
        if name.isdigit() and name != own and _carries(_environ(name), label, word)
    )


def _environ(pid: str) -> bytes:
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # gone, or another user's
        return b""
    try:
        chunks = []
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _carries(environ: bytes, label: bytes, word: bytes) -> bool:
    if word not in environ:
        return False
    return any(entry.startswith(label) and word in entry[len(label) :].split() for entry in environ.split(b"\0"))


def _from_psutil(marker: str) -> tuple[int, ...]:
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and marker in process.environ().get(MARKER, "").split():
                found.append(process.pid)
    return tuple(found)


def _signal(pids: tuple[int, ...], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
