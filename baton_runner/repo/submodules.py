"""Submodules of a worktree: staged without entering them, and asked whether one holds work that only it has.

Git's own ``add`` and ``status`` run a second git inside each submodule, by that repository's configuration, which an
agent can write. Here a submodule is looked at with our configuration on its HEAD, index and objects, or not at all.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from baton_runner.repo.git import Git
from baton_runner.repo.own_git import OwnGit

__all__ = ["are_initialised", "stage_all", "with_work"]

_GITLINK = "160000"
_DEEPEST = 8
_LINK_MODE = (0o160000).to_bytes(4, "big")
_SPLIT = b"link"  # the extension that names a shared index


def are_initialised(git_dir: Path) -> bool:
    """Whether some submodule was fetched into this worktree."""
    return (git_dir / "modules").is_dir()


def stage_all(git: Git, git_dir: Path, index: Path | None = None) -> None:
    """``git add --all`` into an index (the worktree's own without one), submodules by the commit they are at."""
    env = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    links = _links(git, env) if _may_hold_links(index or git_dir / "index") else []
    populated = [(path, oid) for path, oid in links if os.path.lexists(git.cwd / path / ".git")]
    if not populated:
        git.run("add", "--all", "--sparse", env=env)
        return
    git.run("add", "--all", "--sparse", "--", ".", *(f":(exclude,literal){path}" for path, _ in populated), env=env)
    now = [(path, _head_in(git.cwd / path) or oid) for path, oid in populated]
    entries = "".join(f"{_GITLINK} {oid}\t{path}\0" for path, oid in now)
    git.run("update-index", "-z", "--index-info", input=os.fsencode(entries), env=env)


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


def _may_hold_links(index: Path) -> bool:
    """Whether the mode of a link occurs in an index file at all; a split index is not searched."""
    try:
        data = index.read_bytes()
    except FileNotFoundError:
        return False
    return _LINK_MODE in data or _SPLIT in data


def _links(git: Git, env: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    entries = os.fsdecode(git.run("ls-files", "--stage", "-z", env=env)).split("\0")
    pairs = ((meta.split(" "), path) for meta, _, path in (entry.partition("\t") for entry in entries if entry))
    return [(path, meta[1]) for meta, path in pairs if meta[0] == _GITLINK]


def _git_dir_of(folder: Path) -> Path | None:
    pointer = folder / ".git"
    if pointer.is_symlink() or not pointer.is_file():
        return pointer if pointer.is_dir() and not pointer.is_symlink() else None
    text = os.fsdecode(pointer.read_bytes()).strip()
    module = Path(os.path.normpath(folder / text.removeprefix("gitdir: ")))
    return module if (module / "HEAD").is_file() else None


def _head_in(folder: Path) -> str | None:
    module = _git_dir_of(folder)
    return None if module is None else _head(module)


def _head(module: Path) -> str | None:
    text = (module / "HEAD").read_text("utf-8", "surrogateescape").strip()
    if not text.startswith("ref: "):
        return text
    try:
        return (module / text.removeprefix("ref: ")).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
