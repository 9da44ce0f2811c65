"""Parking: before a worktree is reset or removed, what only it holds becomes a commit under a ref of ours.

Tracked changes and untracked files are parked; ignored files are not (they are products of tools), and neither is the
inside of a nested repository: a worktree that holds one is kept as it is.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from baton_runner.repo import submodules
from baton_runner.repo.git import Git
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import RefExists, Refs, kept_ref

__all__ = ["Dirt", "inspect", "look", "park", "park_commit", "read_head", "snapshot"]


@dataclass(frozen=True, slots=True)
class Dirt:
    """What a checkout holds beyond its commit; ``nested`` are repositories inside, whose content git cannot take."""

    changed: tuple[str, ...]
    untracked: tuple[str, ...]
    nested: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.changed or self.untracked or self.nested)


def inspect(git: Git) -> Dirt:
    """Look at a checkout; one git process, no lock, nothing written."""
    listing = git.run(
        "status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"
    )
    changed: list[str] = []
    untracked: list[str] = []
    nested: list[str] = []
    for entry in os.fsdecode(listing).split("\0"):
        if entry.startswith("? "):
            (nested if entry.endswith("/") else untracked).append(entry[2:].rstrip("/"))
        elif entry.startswith("1 "):
            _, _, sub, *_, path = entry.split(" ", 8)
            (nested if sub[0] == "S" else changed).append(path)
        elif entry.startswith("u "):
            changed.append(entry.split(" ", 10)[10])
    return Dirt(tuple(changed), tuple(untracked), tuple(nested))


def look(objects: Objects, git: Git, git_dir: Path) -> Dirt:
    """Look at a checkout and into its submodules."""
    dirt = inspect(git)
    if not submodules.are_initialised(git_dir):
        return dirt
    return replace(dirt, nested=(*dirt.nested, *submodules.with_work(objects.own_git, git)))


def read_head(git_dir: Path, refs: Refs) -> str | None:
    """The commit a worktree is at, also when somebody switched it to a branch; None when there is none."""
    try:
        text = (git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
    except FileNotFoundError:
        return None
    return refs.get(text.removeprefix("ref: ")) if text.startswith("ref: ") else text or None


def snapshot(git: Git, git_dir: Path) -> str:
    """The tree of everything in a checkout that is not ignored; the checkout's own index stays as it is."""
    with tempfile.TemporaryDirectory(prefix="index-", dir=git_dir) as folder:
        index = Path(folder) / "index"
        if (git_dir / "index").is_file():
            shutil.copyfile(git_dir / "index", index)
        submodules.stage_all(git, git_dir, index)
        return git.line("write-tree", env={"GIT_INDEX_FILE": str(index)})


def park(objects: Objects, git: Git, git_dir: Path, *, dirt: Dirt, slot: str, known: str) -> str | None:
    """Make the content of a checkout reachable; the ref, or None when it is at ``known`` with nothing besides."""
    head = read_head(git_dir, Refs(objects.repository))
    commit = head
    if dirt:
        tree = snapshot(git, git_dir)
        message = f"Work found in worktree {slot}\n\nParked before the worktree was used again or removed."
        date = objects.read_commit(head).date if head else "0 +0000"  # parking the same work twice makes one commit
        commit = objects.commit(tree, [head] if head else [], message, date=date)
    return None if commit in {None, known} else park_commit(objects, str(commit), slot=slot)


def park_commit(objects: Objects, commit: str, *, slot: str) -> str:
    """Put a ref of ours on a commit, its objects on disk first."""
    refs = Refs(objects.repository)
    objects.make_durable(commit)
    name = kept_ref(slot, commit)
    try:
        refs.create(name, commit)
    except RefExists:
        if refs.get(name) != commit:
            raise
    return name
