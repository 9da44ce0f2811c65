"""Loose objects without a git process: a blob or commit is one small file, named by the hash of its content.

The format is git's own (a header ``<kind> <size>``, NUL, the content; compressed). Writing is durable: fsync, rename,
fsync of the folder. Reading answers None for what is packed; the caller then asks git.
"""

import hashlib
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from baton_runner.base import crash
from baton_runner.base.files import write_atomic

__all__ = ["Kind", "LooseObjects"]

_WRITE = crash.declare("repo.loose_object")
_READ_ONLY = 0o444

Kind = Literal["blob", "commit"]


@dataclass(frozen=True, slots=True)
class LooseObjects:
    """The loose part of an object database with one hash function (``sha1`` or ``sha256``)."""

    folder: Path
    object_format: str
    durable: set[str] = field(default_factory=set, compare=False, repr=False)
    """Ids that this process has put on disk; only ever grows, so threads may share it."""

    def path(self, oid: str) -> Path:
        """Where an object lies when it is loose."""
        return self.folder / oid[:2] / oid[2:]

    def write(self, kind: Kind, content: bytes) -> str:
        """Store an object durably; return its id."""
        data = b"%s %d\0%s" % (kind.encode(), len(content), content)
        oid = hashlib.new(self.object_format, data, usedforsecurity=False).hexdigest()
        path = self.path(oid)
        if not path.exists():
            write_atomic(path, zlib.compress(data, 1), _WRITE, mode=_READ_ONLY)
            self.durable.add(oid)
        return oid

    def read(self, oid: str) -> tuple[str, bytes] | None:
        """Kind and content, None when there is no whole loose object of that id."""
        try:
            data = zlib.decompress(self.path(oid).read_bytes())
        except (OSError, zlib.error):
            return None
        header, _, content = data.partition(b"\0")
        return header.partition(b" ")[0].decode("ascii", "replace"), content
