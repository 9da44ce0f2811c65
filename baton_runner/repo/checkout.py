"""The user's checkouts, looked at: what is not as committed, which branch is checked out where. Nothing is written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from baton_runner.repo.git import Git
from baton_runner.repo.objects import Change, Objects

__all__ = ["Seen", "Watch", "git_dir_of", "landed_files", "worktrees_with"]

_HELD_BRANCH = ("HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")


@dataclass(frozen=True, slots=True, order=True)
class Seen:
    """A file that is not as committed, as it was seen: a later edit of it makes another value. -1 means absent."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Watch:
    """Looks at a checkout of the user's."""

    objects: Objects
    top: Path
    git_dir: Path

    @property
    def git(self) -> Git:
        """Git in that checkout, by our configuration; it takes no optional lock."""
        return self.objects.own_git.worktree(self.top, self.git_dir)

    def status(self) -> frozenset[Seen]:
        """Every file that differs from the commit, and every untracked one that is not ignored."""
        head = self.objects.repository.git.try_run(
            "rev-parse", "--verify", "--quiet", "HEAD^{commit}", env={"GIT_DIR": str(self.git_dir)}
        ).line
        git = self.git
        changed = git.run("diff", "--name-only", "-z", "--ignore-submodules=dirty", head) if head else b""
        untracked = git.run("ls-files", "--others", "--exclude-standard", "-z")
        paths = {path for path in os.fsdecode(changed + untracked).split("\0") if path}
        return frozenset(self._seen(path) for path in paths)

    def _seen(self, path: str) -> Seen:
        try:
            found = (self.top / path).lstat()
        except OSError:
            return Seen(path, -1, -1)
        return Seen(path, found.st_size, found.st_mtime_ns)


def landed_files(watch: Watch, paths: Iterable[str], changes: Iterable[Change]) -> tuple[str, ...]:
    """Which of ``paths`` in the user's checkout hold exactly what an attempt made there: it wrote in the wrong place."""
    made = {change.path: change.new_blob for change in changes}
    asked = [path for path in sorted(set(paths) & set(made)) if _is_plain_file(watch.top / path) and "\n" not in path]
    if not asked:
        return ()
    listing = os.fsencode("\n".join([*asked, ""]))
    ids = watch.git.run("hash-object", "--stdin-paths", input=listing).decode().split()
    return tuple(path for path, oid in zip(asked, ids, strict=True) if made[path] == oid)


def worktrees_with(objects: Objects, branch: str) -> tuple[Path, ...]:
    """The checkouts that are on a branch (full name), a rebase or bisect of it included; file reads only."""
    common = objects.repository.common_dir
    found = []
    if (common / "index").exists() and _holds(common, branch):  # a bare repository has a HEAD, but no index
        found.append(common.parent if common.name == ".git" else objects.repository.top or common)
    for admin in sorted((common / "worktrees").glob("*")):
        try:
            pointer = Path(os.path.normpath(admin / os.fsdecode((admin / "gitdir").read_bytes()).strip()))
        except OSError:
            continue
        if pointer.exists() and _holds(admin, branch):
            found.append(pointer.parent)
    return tuple(found)


def git_dir_of(objects: Objects, top: Path) -> Path:
    """The git directory of a checkout of this repository."""
    pointer = top / ".git"
    if pointer.is_dir():
        return pointer.resolve()
    if pointer.is_file():
        text = os.fsdecode(pointer.read_bytes()).strip().removeprefix("gitdir: ")
        return Path(os.path.normpath(top / text)).resolve()
    return objects.repository.git_dir


def _holds(git_dir: Path, branch: str) -> bool:
    wanted = {f"ref: {branch}", branch, branch.removeprefix("refs/heads/")}
    for name in _HELD_BRANCH:
        try:
            if (git_dir / name).read_text("utf-8", "surrogateescape").strip() in wanted:
                return True
        except (FileNotFoundError, NotADirectoryError):
            continue
    return False


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
