"""Lines out of a stream of bytes that comes cut anywhere, in bounded memory.

A line that is longer than the limit is cut there and marked; the next one is whole again. Bytes are never decoded here,
so a character split over two chunks arrives whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["LINE_LIMIT", "Line", "LineCutter"]

LINE_LIMIT = 10 * 1024 * 1024
"""Bytes of a line that are kept."""


@dataclass(frozen=True)
class Line:
    """One line without its end; ``cut`` when it was longer than the limit and its rest was dropped."""

    data: bytes
    cut: bool = False


class LineCutter:
    """Takes chunks, gives lines."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._cut = False

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """The lines that this chunk completes."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._keep(piece)
            yield self._take()
        self._keep(rest)

    def finish(self) -> Iterator[Line]:
        """The last line, if it has no end."""
        if self._pending or self._cut:
            yield self._take()

    def _keep(self, piece: bytes) -> None:
        room = self._limit - len(self._pending)
        self._pending += piece[:room]
        self._cut = self._cut or len(piece) > room

    def _take(self) -> Line:
        line = Line(bytes(self._pending), self._cut)
        self._pending.clear()
        self._cut = False
        return line
