"""Durable decisions about a task, and the reason of its last failure: small files that survive a lost database."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

from baton_runner.base import crash, files
from baton_runner.base.digest import canonical
from baton_runner.base.errors import DamagedRecord

__all__ = ["Failure", "FailureKind", "Redo", "RedoKind", "TickMark"]

REDO = crash.declare("redo.write")
FAILURE = crash.declare("failure.write")

RedoKind = Literal["redo", "untick", "forget", "broken"]
FailureKind = Literal[
    "agent",
    "no_change",
    "red",
    "conflict",
    "setup",
    "hook",
    "budget",
    "stalled",
    "timed_out",
    "strayed",
    "input",
    "error",
]


@dataclass(frozen=True)
class _Record:
    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The record, None when there is no file; DamagedRecord when it is not one."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return cls(**json.loads(data))
        except (ValueError, TypeError) as error:
            raise DamagedRecord(f"is not a {cls.__name__} record ({error})", where=str(path)) from error

    def _write(self, path: Path, point: crash.CrashPoint) -> None:
        files.write_atomic(path, canonical(asdict(self)), point)


@dataclass(frozen=True)
class Redo(_Record):
    """A task is to be done again: why, and what a person wants the agent to know."""

    kind: RedoKind
    feedback: str
    at: str

    def write(self, path: Path) -> None:
        """Make the decision durable; only then may a box be unticked."""
        self._write(path, REDO)


@dataclass(frozen=True)
class Failure(_Record):
    """Why the last attempt ended without a receipt, and what was kept of it."""

    kind: FailureKind
    message: str
    attempt: int
    at: str
    command: str = ""
    output: str = ""
    log: str = ""
    worktree: str = ""

    def write(self, path: Path) -> None:
        """Remember it for the next run and for ``baton status``."""
        self._write(path, FAILURE)


@dataclass(frozen=True)
class TickMark(_Record):
    """The box was ticked for the receipt with this seal."""

    seal: str

    def write(self, path: Path) -> None:
        """Remember that we ticked; a lost mark is made again with the next run."""
        files.replace_file(path, canonical(asdict(self)))
