"""Submodules of a worktree: whether one holds work that only it has.

Asked with our own configuration on the submodule's HEAD, index and objects, so that nothing its configuration names
runs, and asked before a worktree is reset or removed: git cannot take the inside of another repository along.
"""

import os
from pathlib import Path

from baton_runner.repo.git import Git
from baton_runner.repo.own_git import OwnGit

__all__ = ["are_initialised", "with_work"]

_GITLINK = "160000"
_DEEPEST = 8


def are_initialised(git_dir: Path) -> bool:
    """Whether some submodule was fetched into this worktree."""
    return (git_dir / "modules").is_dir()


def with_work(own_git: OwnGit, git: Git, depth: int = 0) -> tuple[str, ...]:
    """The submodules at another commit than the index says, or with changed or untracked files, at any depth."""
    found: list[str] = []
    for path, oid in _links(git):
        folder = git.cwd / path
        pointer = folder / ".git"
        if not os.path.lexists(pointer):
            continue
        module = _git_dir_of(folder)
        if module is None or depth == _DEEPEST:
            found.append(path)
            continue
        inner = own_git.worktree(folder, module).at(
            folder, GIT_OBJECT_DIRECTORY=str(module / "objects"), GIT_SHALLOW_FILE=str(module / "shallow")
        )
        if _head(module) != oid or inner.run(
            "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=dirty"
        ):
            found.append(path)
        else:
            found += (f"{path}/{below}" for below in with_work(own_git, inner, depth + 1))
    return tuple(found)


def _links(git: Git) -> list[tuple[str, str]]:
    entries = os.fsdecode(git.run("ls-files", "--stage", "-z")).split("\0")
    pairs = ((meta.split(" "), path) for meta, _, path in (entry.partition("\t") for entry in entries if entry))
    return [(path, meta[1]) for meta, path in pairs if meta[0] == _GITLINK]


def _git_dir_of(folder: Path) -> Path | None:
    pointer = folder / ".git"
    if pointer.is_symlink() or not pointer.is_file():
        return pointer if pointer.is_dir() and not pointer.is_symlink() else None
    text = os.fsdecode(pointer.read_bytes()).strip()
    module = Path(os.path.normpath(folder / text.removeprefix("gitdir: ")))
    return module if (module / "HEAD").is_file() else None


def _head(module: Path) -> str | None:
    text = (module / "HEAD").read_text("utf-8", "surrogateescape").strip()
    if not text.startswith("ref: "):
        return text
    try:
        return (module / text.removeprefix("ref: ")).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
