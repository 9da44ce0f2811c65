"""Slots: numbered places for worktrees outside the repository, each with a lock, a record and a checkout.

``<state root>/w/a<n>/`` is for agents, ``w/v<n>/`` for verification, and the two never change places: no agent has ever
touched a ``v`` slot. A slot holds ``tree/`` (the worktree), ``owner.json`` (what it is used for) and ``lock``.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.errors import DamagedRecord
from baton_runner.base.files import read_json, replace_file, write_atomic
from baton_runner.base.locks import Lock

__all__ = [
    "INITIALIZING",
    "Kind",
    "Purpose",
    "Record",
    "Slot",
    "State",
    "admin_folders",
    "lock_reason",
    "remove_folder",
    "slots_of",
]

INITIALIZING = "initializing"
"""The reason that git itself gives while a worktree is being added; it stays when git is killed there."""

_RECORD = crash.declare("repo.slot_record")


class Kind(StrEnum):
    """Who works in a worktree."""

    ATTEMPT = "attempt"
    VERIFY = "verify"


class State(StrEnum):
    """What a slot's record says; ``used`` with a free lock is an orphan."""

    USED = "used"
    KEPT = "kept"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a worktree is for. ``key`` is a task's id, or the name of a check; ``attempt`` is 0 where there is none."""

    kind: Kind
    change: str
    key: str
    attempt: int = 0

    def __str__(self) -> str:
        number = f" attempt {self.attempt}" if self.attempt else ""
        return f"{self.kind} {self.change}:{self.key}{number}"


@dataclass(frozen=True, slots=True)
class Record:
    """``owner.json``. ``head`` is the commit it was given or left at; ``since`` is UTC, RFC 3339."""

    state: State
    purpose: Purpose
    head: str
    since: str
    pid: int
    reason: str = ""

    def to_bytes(self) -> bytes:
        """As JSON."""
        return json.dumps(asdict(self), indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_json(cls, value: object, where: Path) -> "Record":
        """Parse; DamagedRecord when it is not one of ours."""
        try:
            assert isinstance(value, dict)  # noqa: S101 - narrows the type; turned into the error below
            purpose = Purpose(**{**value["purpose"], "kind": Kind(value["purpose"]["kind"])})
            return cls(**{**value, "state": State(value["state"]), "purpose": purpose})
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise DamagedRecord("is not a worktree record", where=str(where), todo="look at the worktree") from error


@dataclass(frozen=True, slots=True)
class Slot:
    """One place. Everything here is file work; whoever changes something holds the lock."""

    folder: Path
    common_dir: Path

    @property
    def name(self) -> str:
        """``a1``, ``v2``, ..."""
        return self.folder.name

    @property
    def kind(self) -> Kind:
        """Who may work here."""
        return Kind.VERIFY if self.name.startswith("v") else Kind.ATTEMPT

    @property
    def tree(self) -> Path:
        """The worktree."""
        return self.folder / "tree"

    @property
    def context(self) -> Path:
        """The folder beside the worktree with the uncommitted files of a change."""
        return self.folder / "context"

    def lock(self, note: str = "") -> Lock:
        """A new holder of this slot's lock."""
        return Lock(self.folder / "lock", note=note)

    def record(self) -> Record | None:
        """The record, None when the slot was never used; a damaged one reads as kept, so that nobody reuses it."""
        path = self.folder / "owner.json"
        try:
            value = read_json(path)
            return None if value is None else Record.from_json(value, path)
        except DamagedRecord as error:
            purpose = Purpose(self.kind, "unknown", "unknown")
            return Record(State.KEPT, purpose, "", "", 0, f"its record is damaged: {error.what}")

    def write(self, record: Record) -> None:
        """Replace the record: durably where a person is to find it, else only atomically.

        To lose a "used" or "free" record in a power cut costs nothing: whatever a slot holds is parked before reuse.
        """
        path = self.folder / "owner.json"
        if record.state is State.KEPT:
            write_atomic(path, record.to_bytes(), _RECORD)
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, record.to_bytes())

    def mark(self, record: Record, state: State, *, head: str, reason: str = "") -> None:
        """Write the record in another state."""
        self.write(replace(record, state=state, head=head, reason=reason))

    def git_dir(self) -> Path | None:
        """The worktree's own git directory if the checkout is sound, else None.

        Sound means what git itself would find from inside: ``tree`` is a real folder, ``tree/.git`` a real file that
        points into this repository's ``worktrees/``, and the entry there points back. A link anywhere is not sound.
        """
        pointer = self.tree / ".git"
        try:
            if self.tree.is_symlink() or pointer.is_symlink() or not pointer.is_file():
                return None
            admin = _pointed(pointer, prefix="gitdir: ")
            if admin.parent != self.common_dir / "worktrees" or lock_reason(admin) == INITIALIZING:
                return None
            back = _pointed(admin / "gitdir")
            common = _pointed(admin / "commondir")
        except (OSError, ValueError):
            return None
        same = back == pointer and common.resolve() == self.common_dir
        return admin if same and (admin / "HEAD").is_file() else None


def slots_of(root: Path, kind: Kind, common_dir: Path) -> Iterator[Slot]:
    """The slots of a kind, by number: those that exist, then new ones without end."""
    letter = "v" if kind is Kind.VERIFY else "a"
    number = 0
    while True:
        number += 1
        yield Slot(root / "w" / f"{letter}{number}", common_dir)


def admin_folders(slot: Slot) -> tuple[Path, ...]:
    """The entries below ``worktrees/`` that claim this slot's tree, whole or half made."""
    found = []
    for folder in (slot.common_dir / "worktrees").glob("*"):
        try:
            if _pointed(folder / "gitdir") == slot.tree / ".git":
                found.append(folder)
        except (OSError, ValueError):
            continue
    return tuple(found)


def lock_reason(admin: Path) -> str | None:
    """Why an entry is locked (``git worktree lock``, or an add that is not done yet), None when it is not."""
    try:
        return (admin / "locked").read_text("utf-8", "replace").strip()
    except FileNotFoundError:
        return None


def remove_folder(folder: Path) -> None:
    """Delete a folder of ours with all it holds, also where a tool left folders that cannot be written."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    if not folder.exists():
        return
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)  # noqa: PTH101 - one call per folder, no Path objects for a large tree
    shutil.rmtree(folder)


def _pointed(file: Path, prefix: str = "") -> Path:
    text = os.fsdecode(file.read_bytes()).strip()
    if not text.startswith(prefix) or text == prefix:
        raise ValueError(f"{file} does not point anywhere")
    return Path(os.path.normpath(file.parent / text.removeprefix(prefix)))
