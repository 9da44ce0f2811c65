"""Refs: the truth that survives and travels. Names are built here, moves are compare-and-swap, or they do not happen.

One transaction is atomic for the comparison; a kill in the middle of it may leave one ref moved and a ``.lock`` behind.
"""

import math
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.errors import BatonError
from baton_runner.base.files import ensure_folder, sync_folder, unwritable
from baton_runner.base.slug import slug
from baton_runner.repo.git import Git, GitError
from baton_runner.repo.repository import Repository

__all__ = [
    "PREFIX",
    "RefExists",
    "RefMoved",
    "RefUpdate",
    "Refs",
    "attempt_ref",
    "attempts_prefix",
    "change_ref",
    "integration_ref",
    "kept_ref",
    "receipt_ref",
    "receipts_prefix",
]

PREFIX = "refs/baton/"
_TRANSACTION = crash.declare("repo.refs_transaction")
_CREATED = crash.declare("repo.ref_create")
_LOCK_REMOVED = crash.declare("repo.refs_stale_lock")
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def change_ref(change: str) -> str:
    """The ref whose blob records where a change started and which branch it is integrated on."""
    return f"{PREFIX}changes/{slug(change)}"


def integration_ref(change: str) -> str:
    """The default integration branch of a change."""
    return f"refs/heads/baton/{slug(change)}"


def attempts_prefix(change: str, task: str = "") -> str:
    """What all attempt refs of a change, or of one of its tasks, start with."""
    return f"{PREFIX}attempts/{slug(change)}/" + (f"{slug(task)}/" if task else "")


def attempt_ref(change: str, task: str, attempt: int) -> str:
    """The create-only ref of one attempt; ``task`` is the id inside the change."""
    return f"{attempts_prefix(change, task)}{attempt}"


def receipts_prefix(change: str) -> str:
    """What all receipt refs of a change start with."""
    return f"{PREFIX}receipts/{slug(change)}/"


def receipt_ref(change: str, task: str) -> str:
    """The ref that holds a receipt as a blob."""
    return f"{receipts_prefix(change)}{slug(task)}"


def kept_ref(slot: str, oid: str) -> str:
    """The ref under which work found in a worktree is parked; the id makes it create-only by nature."""
    return f"{PREFIX}kept/{slug(slot)}/{oid[:16]}"


class RefExists(BatonError):
    """A create-only ref is there already."""

    code = "ref_exists"


class RefMoved(BatonError):
    """A ref is not where the caller saw it last."""

    code = "ref_moved"

    def __init__(self, name: str, expected: str | None, actual: str | None) -> None:
        super().__init__(
            f"is at {actual or 'nothing'}, expected {expected or 'nothing'}",
            where=name,
            todo="somebody moved it in between; look again and repeat",
        )
        self.name = name
        self.expected = expected
        self.actual = actual


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """Move ``name`` from ``old`` to ``new``; None means "does not exist", before or after."""

    name: str
    new: str | None
    old: str | None


@dataclass(frozen=True)
class Refs:
    """The refs of a repository."""

    repository: Repository

    @property
    def _git(self) -> Git:
        return self.repository.git

    @property
    def _zero(self) -> str:
        return "0" * (64 if self.repository.object_format == "sha256" else 40)

    def read(self, *prefixes: str) -> dict[str, str]:
        """Name to id of every ref below the prefixes (a full name is its own prefix); one process."""
        listing = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *(p.rstrip("/") for p in prefixes))
        pairs = (line.partition(" ") for line in listing.decode("utf-8", "surrogateescape").splitlines())
        return {name: oid for oid, _, name in pairs}

    def get(self, name: str) -> str | None:
        """The id a ref holds, None when there is no such ref; no process where the ref is a plain file."""
        try:
            text = (self.repository.common_dir / name).read_text("ascii").strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return self._packed(name).get(name)
        except (OSError, ValueError):
            return self.read(name).get(name)
        return text if _OID.fullmatch(text) else self.read(name).get(name)

    def names(self, prefix: str) -> frozenset[str]:
        """The names of the refs below a prefix that ends in a slash; no process."""
        loose = self.repository.common_dir / prefix
        found = {f"{prefix}{path.relative_to(loose).as_posix()}" for path in loose.rglob("*") if path.is_file()}
        return frozenset(found | set(self._packed(prefix)))

    def attempts(self, change: str) -> dict[str, tuple[int, ...]]:
        """Task slug to the attempt numbers that refs record, sorted; one process."""
        prefix = attempts_prefix(change)
        found: dict[str, list[int]] = {}
        for name in self.read(prefix):
            task, _, number = name.removeprefix(prefix).partition("/")
            if number.isdigit():
                found.setdefault(task, []).append(int(number))
        return {task: tuple(sorted(numbers)) for task, numbers in found.items()}

    def create(self, name: str, oid: str) -> None:
        """Make a ref that must not exist, durably; RefExists when it does.

        One of ours by git's own protocol, without a process of it: a lock file that only one can make, synced, renamed
        to the ref.
        """
        if name.startswith(PREFIX):
            self._create(name, oid)
            return
        try:
            self.transaction([RefUpdate(name, oid, None)])
        except RefMoved as error:
            raise RefExists(f"exists already, at {error.actual}", where=name, todo="take another name") from error

    def _create(self, name: str, oid: str) -> None:
        place = self.repository.common_dir / name
        lock = place.with_name(f"{place.name}.lock")
        ensure_folder(lock.parent)
        try:
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError as error:
            raise RefExists("is being written by another process", where=name, todo="take the next number") from error
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(f"{oid}\n".encode())
                file.flush()
                os.fsync(file.fileno())
            present = self.get(name)
            if present is not None:
                raise RefExists(f"exists already, at {present}", where=name, todo="take the next number")
            crash.reach(_CREATED)
            lock.rename(place)
        except OSError as error:
            raise unwritable(place, error) from error
        finally:
            lock.unlink(missing_ok=True)
        sync_folder(place.parent)

    def transaction(self, updates: Sequence[RefUpdate]) -> None:
        """Move several refs or none, durably; RefMoved names the first that was not where it was expected.

        A symbolic ref planted in place of one of ours is replaced, never followed.
        """
        if not updates:
            return
        lines = ["start", *(line for update in updates for line in self._lines(update)), "prepare", "commit", ""]
        crash.reach(_TRANSACTION)
        args = ("-c", "core.fsync=all", "update-ref", "--stdin")
        output = self._git.try_run(*args, input="\n".join(lines).encode("utf-8", "surrogateescape"))
        if output.code == 0:
            return
        present = self.read(*(update.name for update in updates))
        for update in updates:
            if present.get(update.name) != update.old:
                raise RefMoved(update.name, update.old, present.get(update.name))
        raise GitError(args, self._git.cwd, output)

    def remove_stale_locks(self, prefixes: Iterable[str], *, older_than: float) -> tuple[str, ...]:
        """Remove ``.lock`` files that a killed process left on refs of ours, at least ``older_than`` seconds old.

        The caller holds the integration lock: nobody of ours is moving these refs now. Returns the refs freed.
        """
        freed: list[str] = []
        limit = time.time() - older_than
        for prefix in prefixes:
            for lock in _lock_files(self.repository.common_dir, prefix):
                if _made_at(lock) <= limit:
                    crash.reach(_LOCK_REMOVED)
                    lock.unlink(missing_ok=True)
                    freed.append(lock.relative_to(self.repository.common_dir).as_posix().removesuffix(".lock"))
        return tuple(sorted(freed))

    def is_locked(self, prefixes: Iterable[str]) -> bool:
        """Whether some git is moving refs of ours now, or died doing so."""
        return any(True for prefix in prefixes for _ in _lock_files(self.repository.common_dir, prefix))

    def _packed(self, start: str) -> dict[str, str]:
        """The packed refs whose names begin like this; a loose one of the same name wins over them."""
        try:
            data = (self.repository.common_dir / "packed-refs").read_bytes()
        except FileNotFoundError:
            return {}
        wanted, found, at = b" " + start.encode("utf-8", "surrogateescape"), {}, 0
        while (at := data.find(wanted, at)) >= 0:
            begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            oid, _, name = data[begin : end if end >= 0 else len(data)].partition(b" ")
            if begin + len(oid) == at:
                found[name.decode("utf-8", "surrogateescape")] = oid.decode()
            at += 1
        return found

    def _lines(self, update: RefUpdate) -> Iterable[str]:
        if update.new is None and update.old is None:
            yield f"verify {update.name} {self._zero}"
            return
        yield "option no-deref"
        if update.new is None:
            yield f"delete {update.name} {update.old}"
        else:
            yield f"update {update.name} {update.new} {update.old or self._zero}"


def _made_at(lock: Path) -> float:
    """When a lock was made; one that its git removed meanwhile is no stale one."""
    try:
        return lock.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def _lock_files(common_dir: Path, prefix: str) -> Iterable[Path]:
    place = common_dir / prefix
    single = place.with_name(f"{place.name}.lock")
    if single.is_file():
        yield single
    if place.is_dir():
        yield from place.rglob("*.lock")
