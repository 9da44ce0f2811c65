"""Blobs, trees, commits and merges, computed without a checkout on the repository's own objects.

Attributes and merge drivers, in the tree or planted in the configuration, take no part in a merge: there is no work
tree to read them from. What is written here is durable at once; what git or an agent wrote is made so by
:meth:`Objects.make_durable` before a ref points at it.
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from baton_runner.base.errors import DamagedRecord
from baton_runner.base.files import sync_folder
from baton_runner.repo.git import Git, GitError
from baton_runner.repo.loose import LooseObjects
from baton_runner.repo.own_git import OwnGit
from baton_runner.repo.repository import Repository

__all__ = ["Change", "Commit", "Conflict", "Merged", "Objects", "Signing"]

_CONFLICT = 1


class Signing(StrEnum):
    """Whether a commit of ours is signed."""

    NONE = "none"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge without conflict: the tree it gives."""

    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A merge that needs a hand: the paths in conflict and what git says about them."""

    paths: tuple[str, ...]
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One path that differs between two trees; mode ``000000`` and an id of zeros mean absent."""

    path: str
    old_mode: str
    old_blob: str
    new_mode: str
    new_blob: str


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit says; ``date`` is the committer's, in git's raw form (seconds since 1970, offset)."""

    tree: str
    parents: tuple[str, ...]
    date: str
    message: str


@dataclass(frozen=True)
class Objects:
    """The object database of a repository."""

    repository: Repository

    @cached_property
    def own_git(self) -> OwnGit:
        """Our bare repository over the same objects."""
        return OwnGit(self.repository)

    @property
    def git(self) -> Git:
        """Git on the objects, with no work tree, for whatever is not a method here."""
        return self.own_git.bare()

    @cached_property
    def loose(self) -> LooseObjects:
        """The loose objects."""
        return LooseObjects(self.repository.objects_dir, self.repository.object_format)

    @property
    def zero(self) -> str:
        """The id that means "none" in this repository's hash."""
        return "0" * (64 if self.repository.object_format == "sha256" else 40)

    def merge(self, ours: str, theirs: str) -> Merged | Conflict:
        """Merge two commits in memory, the trees it makes durable; GitError when they have nothing in common."""
        args = ("-c", "core.fsync=all", "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
        git = self.git
        output = git.try_run(*args)
        tree, *rest = os.fsdecode(output.stdout).split("\0")
        if output.code == 0:
            return Merged(tree)
        if output.code != _CONFLICT:
            raise GitError(args, git.cwd, output)
        end_of_paths = rest.index("")
        return Conflict(tuple(rest[:end_of_paths]), tuple(_messages(rest[end_of_paths + 1 :])))

    def commit(
        self,
        tree: str,
        parents: Sequence[str],
        message: str,
        *,
        signing: Signing = Signing.NONE,
        date: str = "",
    ) -> str:
        """Write a commit by the harness's identity, now or at a ``date`` in git's raw form; return its id.

        With a date the same commit has the same id each time (it is not used for a signed one).
        """
        if signing is Signing.USER:
            args = [part for parent in parents for part in ("-p", parent)]
            return self.git.run("commit-tree", "-S", tree, *args, "-F", "-", input=message.encode()).decode().strip()
        who = self.repository.identity
        now = f"{int(time.time())} {time.strftime('%z')}"
        stamp = f"{who.name} <{who.email}> {date or now}"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {stamp}", f"committer {stamp}"]
        text = "\n".join([*lines, "", message.rstrip("\n"), ""])
        return self.loose.write("commit", text.encode("utf-8", "surrogateescape"))

    def read_commit(self, oid: str) -> Commit:
        """A commit's tree, parents and message; GitError when there is none of that id."""
        head, _, message = self._commit_text(oid).decode("utf-8", "surrogateescape").partition("\n\n")
        fields = [line.partition(" ") for line in head.split("\n")]
        tree = next((value for name, _, value in fields if name == "tree"), "")
        parents = tuple(value for name, _, value in fields if name == "parent")
        committer = next((value for name, _, value in fields if name == "committer"), "")
        return Commit(tree, parents, committer.rpartition("> ")[2], message)

    def recommit(self, oid: str, tree: str, parents: Sequence[str]) -> str:
        """The same commit (author, dates, message) with another tree and other parents, unsigned."""
        head, _, message = self._commit_text(oid).partition(b"\n\n")
        lines = [b"tree " + tree.encode(), *(b"parent " + parent.encode() for parent in parents)]
        lines += [line for line in head.split(b"\n") if line.startswith((b"author ", b"committer ", b"encoding "))]
        return self.loose.write("commit", b"\n".join([*lines, b"", message]))

    def tree_of(self, commit: str) -> str:
        """The tree of a commit."""
        return self.read_commit(commit).tree

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """The paths that differ between two trees or commits, sorted, with full ids; a rename is two changes."""
        listing = self.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
        fields = os.fsdecode(listing).split("\0")
        found = []
        for entry, path in zip(fields[::2], fields[1::2], strict=False):
            old_mode, new_mode, old_blob, new_blob, _ = entry.removeprefix(":").split(" ")
            found.append(Change(path, old_mode, old_blob, new_mode, new_blob))
        return tuple(sorted(found))

    def missing(self, oids: Iterable[str]) -> frozenset[str]:
        """Which of these are not in the object database; no process where all are loose objects."""
        asked = [oid for oid in dict.fromkeys(oids) if not self.loose.path(oid).exists()]
        if not asked:
            return frozenset()
        answer = self.git.run("cat-file", "--batch-check", input="\n".join([*asked, ""]).encode())
        lines = answer.decode().splitlines()
        return frozenset(oid for oid, line in zip(asked, lines, strict=True) if line.endswith(" missing"))

    def blob_id(self, data: bytes) -> str:
        """The id that git gives to these bytes; nothing is stored."""
        algorithm = hashlib.sha256 if self.repository.object_format == "sha256" else hashlib.sha1
        return algorithm(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def blob(self, data: bytes) -> str:
        """Store bytes durably; return the id."""
        return self.loose.write("blob", data)

    def read_blob(self, oid: str) -> bytes:
        """The bytes of a blob."""
        loose = self.loose.read(oid)
        return loose[1] if loose and loose[0] == "blob" else self.git.run("cat-file", "blob", oid)

    def read_blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The bytes of many blobs, at most one git process; DamagedRecord when one is missing."""
        found: dict[str, bytes] = {}
        packed: list[str] = []
        for oid in dict.fromkeys(oids):
            loose = self.loose.read(oid)
            if loose and loose[0] == "blob":
                found[oid] = loose[1]
            else:
                packed.append(oid)
        if packed:
            found.update(_batch(self.git.run("cat-file", "--batch", input="\n".join([*packed, ""]).encode()), packed))
        return found

    def blob_at(self, tree: str, path: str) -> str | None:
        """The id of the file that a tree or commit has at a path, None when it has none there."""
        listing = os.fsdecode(self.git.run("ls-tree", "-z", tree, "--", path, env={"GIT_LITERAL_PATHSPECS": "1"}))
        for entry in listing.split("\0"):
            meta, _, name = entry.partition("\t")
            if name == path and meta.split(" ")[1] == "blob":
                return meta.split(" ")[2]
        return None

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Whether a commit is reachable from another (each is its own ancestor)."""
        if ancestor == commit:
            return True
        args = ("merge-base", "--is-ancestor", ancestor, commit)
        git = self.git
        output = git.try_run(*args)
        if output.code > 1 or output.code < 0:
            raise GitError(args, git.cwd, output)
        return output.code == 0

    def commits_between(self, base: str | None, head: str) -> frozenset[str]:
        """The commits reachable from ``head`` and not from ``base``; one process answers many ancestry questions."""
        excluded = () if base is None else (f"^{base}",)
        return frozenset(self.git.run("rev-list", head, *excluded, "--").decode().split())

    def merge_base(self, one: str, other: str) -> str | None:
        """A best common ancestor, None when there is nothing in common."""
        return self.git.try_run("merge-base", one, other).line or None

    def make_durable(self, tip: str, *known: str) -> int:
        """Put on disk every loose object reachable from ``tip`` and not from the ``known`` commits.

        What this process made durable before is not synced again. Returns how many were.
        """
        excluded = [f"^{commit}" for commit in known]
        listing = self.git.run("rev-list", "--objects", "--no-object-names", tip, *excluded, "--")
        folders: set[Path] = set()
        synced: list[str] = []
        done = self.loose.durable
        for oid in listing.decode().split():
            if oid in done:
                continue
            path = self.loose.path(oid)
            with contextlib.suppress(FileNotFoundError):  # packed: git syncs its packs itself
                _sync_file(path)
                folders.add(path.parent)
                synced.append(oid)
        for folder in (*folders, *((self.loose.folder,) if folders else ())):
            with contextlib.suppress(FileNotFoundError):  # a gc packed what was in it
                sync_folder(folder)
        done.update(synced)
        return len(synced)

    def tree_with(self, tree: str, base: str, paths: Iterable[str]) -> str:
        """The tree that equals ``tree``, but ``base`` at and below ``paths``."""
        wanted = tuple(paths)
        git = self.git
        with tempfile.TemporaryDirectory(prefix=".index-", dir=self.repository.baton) as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index"), "GIT_LITERAL_PATHSPECS": "1"}
            git.run("read-tree", tree, env=env)
            present = git.run("ls-files", "-z", "--", *wanted, env=env)
            kept = git.run("ls-tree", "-r", "-z", base, "--", *wanted, env=env)
            absent = b"".join(b"0 %s\t%s\0" % (self.zero.encode(), path) for path in present.split(b"\0") if path)
            git.run("update-index", "-z", "--add", "--replace", "--index-info", input=absent + kept, env=env)
            return git.line("write-tree", env=env)

    def _commit_text(self, oid: str) -> bytes:
        loose = self.loose.read(oid)
        return loose[1] if loose and loose[0] == "commit" else self.git.run("cat-file", "commit", oid)


def _messages(fields: Sequence[str]) -> Iterable[str]:
    """The informational part of ``merge-tree -z``: count, that many paths, a short type, the message."""
    position = 0
    while position < len(fields) and fields[position].isdigit():
        position += int(fields[position]) + 2
        if position < len(fields):
            yield fields[position].rstrip("\n")
        position += 1


def _batch(data: bytes, oids: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    position = 0
    for oid in oids:
        end = data.index(b"\n", position)
        header = data[position:end].decode().split(" ")
        if len(header) != 3:  # noqa: PLR2004 - "<oid> <type> <size>", or "<oid> missing"
            raise DamagedRecord("is not in the object database", where=oid, todo="fetch it, or redo the task")
        size = int(header[2])
        found[oid] = data[end + 1 : end + 1 + size]
        position = end + size + 2
    return found


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
