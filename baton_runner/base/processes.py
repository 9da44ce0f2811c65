"""Programs of others, run so that every wait ends and nothing of them outlives us.

Each program gets a session of its own, a mark in its environment, no terminal, and a reader that never waits for a
grandchild that holds the output open. At the end the whole tree is ended: the process group first, then every process
that carries the mark. Safe from several threads; nothing runs between fork and exec.
"""

import contextlib
import math
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from baton_runner.base.cancel import Cancel
from baton_runner.base.line_cutter import LINE_LIMIT, Line, LineCutter
from baton_runner.base.marked import (
    MARKER,
    become_subreaper,
    end_marked,
    marked,
    processes_marked,
    reap_adopted,
    wait_for,
    waited_for,
)
from baton_runner.base.spawn import shell_argv, spawn
from baton_runner.base.transcript import LIMIT, Redact, Transcript

__all__ = [
    "GRACE",
    "LINE_LIMIT",
    "MARKER",
    "Cancel",
    "Ended",
    "Line",
    "Process",
    "Reason",
    "become_subreaper",
    "end_marked",
    "processes_marked",
    "reap_adopted",
    "run_command",
    "shell_argv",
    "start",
]

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""

_LEFTOVER_GRACE = 0.2
_CHUNK = 1 << 16
_LONGEST_POLL = 3600.0
_MOST_IN_PIPES = 1 << 20  # what a dead program can have left unread; a grandchild may go on writing for ever


class Reason(Enum):
    """Why a program is no longer running."""

    EXITED = "exited"
    TIMED_OUT = "timed out"
    STALLED = "stalled"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Ended:
    """How a program ended. ``code`` is negative for a signal, None when the system could not tell."""

    code: int | None
    reason: Reason
    seconds: float
    tail: str
    truncated: bool
    survivors: tuple[int, ...]


@dataclass
class _Limits:
    """What may end a run before its time, on the monotonic clock."""

    deadline: float
    stall: float | None = None
    cancel: Cancel | None = None
    nearer: float = math.inf

    def next(self, heard: float) -> float:
        """When the next limit binds if nothing is heard any more."""
        return min(self.deadline, self.nearer, heard + self.stall if self.stall is not None else math.inf)

    def bound(self, now: float, heard: float) -> Reason | None:
        """The limit that binds now, if any."""
        if self.cancel and self.cancel.is_set:
            return Reason.CANCELLED
        if now >= min(self.deadline, self.nearer):
            return Reason.TIMED_OUT
        return Reason.STALLED if now >= self.next(heard) else None


def run_command(
    command: str,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    log: Path,
    timeout: float,
    marker: str,
    cancel: Cancel | None = None,
    limit: int = LIMIT,
    redact: Redact | None = None,
) -> Ended:
    """Run a shell command line to its end, its output (both streams) in ``log``, and end what it left running.

    ``timeout`` is in seconds. Raises BatonError when the shell cannot be started there.
    """
    argv = shell_argv(command)
    output = Transcript(log, limit=limit, redact=redact)
    try:
        process = Process(
            spawn(argv, cwd, marked(environ, marker), stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT), marker
        )
        try:
            for chunk in process.chunks(timeout=timeout, cancel=cancel):
                output.write(chunk)
        finally:
            ended = process.end()
    finally:
        output.close()
    return Ended(ended.code, ended.reason, ended.seconds, output.last(), output.truncated, ended.survivors)


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    marker: str,
    errors: Transcript,
    stdin: bytes = b"",
) -> "Process":
    """Start a program whose standard output is read line by line; standard error goes to ``errors``.

    Standard input is a file with the given bytes (any size), at its end afterwards. The caller must :meth:`~Process.end`
    it. Raises BatonError, code ``program_not_found``, ``no_folder`` or ``cannot_start``.
    """
    with tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        child = spawn(argv, cwd, marked(environ, marker), stdin=source.fileno(), stderr=subprocess.PIPE)
    return Process(child, marker, errors)


class Process:
    """A running program of ours, read and ended by one thread; other threads stop it by its Cancel."""

    def __init__(self, child: subprocess.Popen[bytes], marker: str, errors: Transcript | None = None) -> None:
        self.pid = child.pid
        self.reason = Reason.EXITED
        self._child = child
        self._marker = marker
        self._errors = errors
        self._started = time.monotonic()
        self._limits = _Limits(math.inf)
        self._code: int | None = None
        self._ended: Ended | None = None
        self._exited = threading.Event()
        self._alarm, self._bell = os.pipe()
        self._bell_lock = threading.RLock()
        os.set_blocking(self._bell, False)
        wait_for(child.pid)
        self._waiter = threading.Thread(target=self._await_exit, name=f"exit of {child.pid}", daemon=True)
        self._waiter.start()

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._code

    def lines(self, *, timeout: float, stall: float | None = None, cancel: Cancel | None = None) -> Iterator[Line]:
        """The lines of standard output until the program ends; ``reason`` then says what made it end.

        ``timeout`` is for the whole run, ``stall`` for silence on both streams, both in seconds. When a limit binds, the
        group gets SIGTERM and what it still prints within the grace is read: the caller decides what a late line is
        worth. Bytes are cut at line ends only, so a character split over two writes arrives whole.
        """
        cutter = LineCutter()
        for chunk in self.chunks(timeout=timeout, stall=stall, cancel=cancel):
            yield from cutter.feed(chunk)
        yield from cutter.finish()

    def chunks(self, *, timeout: float, stall: float | None = None, cancel: Cancel | None = None) -> Iterator[bytes]:
        """Standard output as it comes; see :meth:`lines`."""
        leave = cancel.subscribe(self._ring) if cancel else lambda: None
        try:
            self._limits = _Limits(self._started + timeout, stall, cancel)
            yield from self._read()
        finally:
            leave()

    def wait(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for the exit, without reading; say whether it came."""
        return self._exited.wait(timeout)

    def finish_within(self, seconds: float) -> None:
        """From now on, the program may run this long; then it is asked to end (reason TIMED_OUT)."""
        self._limits.nearer = time.monotonic() + seconds

    def end(self, grace: float = GRACE) -> Ended:
        """End the program and all it started, and return only when they are gone; again: the same answer.

        SIGTERM to the group, after ``grace`` seconds SIGKILL, then every process that carries the mark.
        """
        if self._ended is None:
            survivors = self._end_tree(grace)
            seconds = time.monotonic() - self._started
            self._ended = Ended(self._code, self.reason, seconds, "", truncated=False, survivors=survivors)
            self._release()
        return self._ended

    def _read(self) -> Iterator[bytes]:
        output = self._child.stdout.fileno() if self._child.stdout else -1
        streams = {stream.fileno() for stream in (self._child.stdout, self._child.stderr) if stream}
        heard = time.monotonic()
        left_after_exit = _MOST_IN_PIPES
        while left_after_exit > 0:
            exited = self._exited.is_set()
            bound = None if exited else self._limits.bound(time.monotonic(), heard)
            if bound and self.reason is not Reason.EXITED:
                return  # the grace is over
            if bound:
                self._ask_to_end(bound)
                continue
            ready = _readable([*streams, self._alarm], 0 if exited else self._limits.next(heard) - time.monotonic())
            if self._alarm in ready:
                os.read(self._alarm, 1024)
            for stream in streams & ready:
                data = os.read(stream, _CHUNK)
                heard = time.monotonic()
                left_after_exit -= len(data) if exited else 0
                if not data:
                    streams.discard(stream)
                elif stream == output:
                    yield data
                elif self._errors:
                    self._errors.write(data)
            if exited and not streams & ready:  # dead, and what it wrote has been read: nobody else is waited for
                return

    def _ask_to_end(self, reason: Reason) -> None:
        self.reason = reason
        self._signal_group(signal.SIGTERM)
        self._limits = _Limits(time.monotonic() + GRACE)

    def _await_exit(self) -> None:
        """Learn the exit without reaping it (Linux), so that the number of the group cannot be given away."""
        self._code = _exit_code(self._child)
        self._exited.set()
        self._ring()

    def _end_tree(self, grace: float) -> tuple[int, ...]:
        if not self._exited.is_set() and self.reason is Reason.EXITED:  # else it was asked already
            self._signal_group(signal.SIGTERM)
            self._exited.wait(grace)
        survivors = end_marked(self._marker, _LEFTOVER_GRACE) if self._exited.is_set() else ()
        self._signal_group(signal.SIGKILL)
        if not self._exited.is_set():
            self._exited.wait(GRACE)
            survivors = end_marked(self._marker)
        return tuple(pid for pid in survivors if pid != self.pid)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for a group of dead ones
            os.killpg(self.pid, number)

    def _release(self) -> None:
        for stream in (self._child.stdout, self._child.stderr):
            if stream:
                stream.close()
        if not self._exited.is_set():
            return  # stuck in the kernel: its waiter keeps what it needs
        self._waiter.join()
        self._child.wait()
        waited_for(self.pid)
        with self._bell_lock:
            os.close(self._bell)
            os.close(self._alarm)
            self._bell = -1

    def _ring(self) -> None:
        with self._bell_lock, contextlib.suppress(OSError):  # full: it rings already; closed: nobody listens any more
            os.write(self._bell, b".")


def _readable(descriptors: list[int], wait: float) -> set[int]:
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(min(max(wait, 0), _LONGEST_POLL) * 1000)}


def _exit_code(child: subprocess.Popen[bytes]) -> int | None:
    try:
        if hasattr(os, "waitid"):
            found = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            if found is None:
                return None
            return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        _, status = os.waitpid(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode
    except ChildProcessError:  # somebody took our child's exit: unknown is not success
        child.returncode = -1
        return None
