"""Our own bare repository, ``.baton/git``: no objects and no refs of its own, only a configuration that nobody plants.

Git reads configuration, hooks and ``info/`` from the common directory. Calls that touch files name this one, so that
they see the repository's objects with the settings that were allowed when the harness first ran here. It can be deleted
at any time; it is made again when missing or damaged.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.files import sync_folder, write_atomic
from baton_runner.base.locks import Lock
from baton_runner.repo.git import Git
from baton_runner.repo.repository import Repository

__all__ = ["OwnGit"]

_CONFIG_WRITE = crash.declare("repo.own_git_config")
_PLACED = crash.declare("repo.own_git_placed")
_HEAD = b"ref: refs/heads/none\n"


@dataclass(frozen=True)
class OwnGit:
    """The way to git for everything that reads or writes objects and files."""

    repository: Repository

    @cached_property
    def folder(self) -> Path:
        """Where it lies."""
        return self.repository.baton / "git"

    def bare(self) -> Git:
        """Git on the objects alone: no work tree, no refs."""
        self.ensure()
        return self.repository.git.at(
            self.folder,
            GIT_DIR=str(self.folder),
            GIT_OBJECT_DIRECTORY=str(self.repository.objects_dir),
        )

    def worktree(self, tree: Path, git_dir: Path) -> Git:
        """Git in a checkout: its own HEAD and index, our configuration, the repository's objects."""
        self.ensure()
        return self.repository.git.at(
            tree,
            GIT_DIR=str(git_dir),
            GIT_COMMON_DIR=str(self.folder),
            GIT_WORK_TREE=str(tree),
            GIT_OBJECT_DIRECTORY=str(self.repository.objects_dir),
        )

    def ensure(self) -> None:
        """Make it when it is missing or damaged; a few file reads when it is not."""
        if self._is_whole():
            return
        with Lock(self.repository.locks / "own-git", note="making .baton/git"):
            if not self._is_whole():
                self._make()

    def drift(self) -> tuple[str, ...]:
        """The keys of allowed settings that the repository has otherwise now than when they were taken over."""
        listing = os.fsdecode(self.bare().run("config", "--file", str(self.folder / "config"), "--list", "--null"))
        pinned = {tuple(entry.split("\n", 1)) for entry in listing.split("\0") if entry}
        return tuple(sorted({pair[0] for pair in pinned ^ set(self._wanted())}))

    def renew(self) -> None:
        """Take the repository's settings over as they are now: when the user says that they are theirs."""
        with Lock(self.repository.locks / "own-git", note="renewing .baton/git"):
            self._make()

    def _wanted(self) -> tuple[tuple[str, str], ...]:
        repository = self.repository
        settings = [pair for pair in repository.user_config.of_repository() if pair[0] != "extensions.objectformat"]
        keys = {key for key, _ in (*settings, *repository.user_config.of_user())}
        asks_remote = "extensions.partialclone" in keys or any(key.startswith("filter.lfs.") for key in keys)
        return (
            ("core.repositoryformatversion", "1"),
            ("core.bare", "true"),
            ("extensions.objectformat", repository.object_format),
            ("lfs.storage", str(repository.common_dir / "lfs")),
            *((key, value) for key, value in settings if asks_remote or not key.startswith(("remote.", "lfs."))),
        )

    def _is_whole(self) -> bool:
        try:
            present = tuple(_stamp(os.stat(name)) for name in self._files)  # noqa: PTH116 - on every call of git
            if self._seen.get("whole") == present:
                return True
            seal, _, body = (self.folder / "config").read_bytes().partition(b"\n")
            if seal != _seal(body) or (self.folder / "HEAD").read_bytes() != _HEAD:
                return False
        except OSError:
            return False
        self._seen["whole"] = present
        return True

    @cached_property
    def _files(self) -> tuple[str, ...]:
        return tuple(str(self.folder / name) for name in ("config", "HEAD", "refs", "info/exclude"))

    @cached_property
    def _seen(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """What the files looked like when they were last read and found whole."""
        return {}

    def _make(self) -> None:
        self.repository.ensure_baton()
        for leftover in self.folder.parent.glob(".git-*"):  # of a process that was killed here; we hold the lock
            shutil.rmtree(leftover)
        fresh = Path(tempfile.mkdtemp(prefix=".git-", dir=self.folder.parent))
        (fresh / "refs").mkdir()
        (fresh / "info").mkdir()
        (fresh / "HEAD").write_bytes(_HEAD)
        exclude = self.repository.common_dir / "info" / "exclude"
        (fresh / "info" / "exclude").write_bytes(exclude.read_bytes() if exclude.is_file() else b"")
        body = _config(self._wanted())
        write_atomic(fresh / "config", _seal(body) + b"\n" + body, _CONFIG_WRITE)
        crash.reach(_PLACED)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        fresh.rename(self.folder)
        sync_folder(self.folder.parent)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _seal(body: bytes) -> bytes:
    return b"# made by baton; sha256:" + hashlib.sha256(body).hexdigest().encode()


def _config(settings: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(os.fsencode(_entry(key, value)) for key, value in settings)


def _entry(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    heading = f'{section} "{_escaped(middle)}"' if middle else section
    quoted = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
    return f'[{heading}]\n\t{name} = "{quoted}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
