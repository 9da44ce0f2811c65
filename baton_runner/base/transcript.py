"""What a program printed, kept for a reader: redacted, limited in size, private.

The one seam through which output of foreign programs reaches a file. Secrets are cut out before the first byte is
written, also where one was split over two writes; of an endless output the head and the tail are kept.
"""

import os
from collections.abc import Callable
from pathlib import Path

from baton_runner.base.files import ensure_folder, unwritable

__all__ = ["LIMIT", "Redact", "Transcript"]

Redact = Callable[[bytes], bytes]
"""Replaces secrets in bytes; a second pass over its own result changes nothing."""

LIMIT = 20 * 1024 * 1024
_TAIL = 1024 * 1024
_LONGEST_SECRET = 8 * 1024


class Transcript:
    """A log file in the making (mode 0600). Replaces or, with ``append``, continues what the file held.

    Raises BatonError, code ``unwritable``, where the file cannot be opened or written; a link is never followed.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT, redact: Redact | None = None, append: bool = False) -> None:
        ensure_folder(path.parent)
        self._path = path
        mode = os.O_APPEND if append else os.O_TRUNC
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | mode, 0o600)
            os.fchmod(self._file, 0o600)
        except OSError as error:
            raise unwritable(path, error) from error
        self._redact = redact
        self._held = bytearray()
        self._tail_size = min(_TAIL, limit // 2)
        self._head_left = limit - self._tail_size
        self._tail = bytearray()
        self._dropped = 0
        self._last = bytearray()
        self._closed = False

    @property
    def truncated(self) -> bool:
        """Whether the middle of the output was left out."""
        return self._dropped > 0

    def write(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        if self._redact is None:
            self._keep(data)
            return
        self._held += data
        if len(self._held) < 2 * _LONGEST_SECRET:  # so that no byte is searched more than a few times
            return
        clean = self._redact(bytes(self._held))
        border = max(len(clean) - _LONGEST_SECRET, 0)  # what follows may be the start of a secret
        self._held = bytearray(clean[border:])
        self._keep(clean[:border])

    def close(self) -> None:
        """Write what was held back; a second call changes nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self._keep(self._redact(bytes(self._held)) if self._redact else b"")
            if self._dropped:
                self._put(f"\n[... {self._dropped} bytes left out ...]\n".encode())
            self._put(bytes(self._tail))
        finally:
            os.close(self._file)

    def last(self, size: int = 16 * 1024) -> str:
        """The end of the output as text, at most ``size`` bytes of it; whole after :meth:`close`."""
        return bytes(self._last[-size:]).decode("utf-8", "replace")

    def _keep(self, data: bytes) -> None:
        self._last += data[-_TAIL:]
        if len(self._last) > 2 * _TAIL:
            del self._last[: len(self._last) - _TAIL]
        head, rest = data[: self._head_left], data[self._head_left :]
        if head:
            self._put(head)
            self._head_left -= len(head)
        if rest:
            self._tail += rest
            surplus = len(self._tail) - self._tail_size
            if surplus > 0:
                del self._tail[:surplus]
                self._dropped += surplus

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            raise unwritable(self._path, error) from error
