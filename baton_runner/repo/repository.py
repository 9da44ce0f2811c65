"""One git repository, found from any place inside it: where its parts lie, what its head is, who commits in it.

``Repository.open`` reads and never writes. ``.baton`` belongs to the repository, not to a checkout: beside the git
common directory when that is ``<top>/.git``, else inside it (bare, submodule, separate git directory).
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from baton_runner.base import crash
from baton_runner.base.errors import RepositoryError
from baton_runner.base.files import ensure_folder, write_if_changed
from baton_runner.repo.git import Git, GitError, hardened, oldest_supported, user_environ
from baton_runner.repo.user_config import Identity, UserConfig

__all__ = ["Repository"]

_IGNORE_WRITE = crash.declare("repo.baton_gitignore")
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Repository:
    """Where a repository lies. ``top`` is the checkout it was opened in, None when that is bare."""

    top: Path | None
    git_dir: Path
    common_dir: Path
    object_format: str
    environ: Mapping[str, str] = field(repr=False)

    @classmethod
    def open(cls, path: Path, environ: Mapping[str, str] | None = None) -> "Repository":
        """The repository around ``path``.

        Raises RepositoryError when git is missing or too old, when there is no repository, or git refuses to read it.
        """
        variables = os.environ if environ is None else environ
        git = Git(user_environ(variables), path)
        oldest_supported(git.line("version"))
        found = git.try_run(
            "rev-parse", "--path-format=absolute", "--is-inside-git-dir", "--absolute-git-dir", "--git-common-dir",
            "--show-object-format", "--show-toplevel",
        )  # fmt: skip
        lines = os.fsdecode(found.stdout).split("\n")
        if len(lines) < 5:  # noqa: PLR2004 - the four answers that every repository has, and the last line's end
            raise _unreadable(path, GitError(("rev-parse",), path, found))
        git_dir, common_dir, object_format = Path(lines[1]), Path(lines[2]), lines[3]
        if (common_dir / "reftable").is_dir():
            raise RepositoryError(
                "keeps its refs as reftable", where=str(path), todo="git refs migrate --ref-format=files"
            )
        top = Path(lines[4]) if found.code == 0 and lines[4] else None
        return cls(top, git_dir.resolve(), common_dir.resolve(), object_format, dict(variables))

    @property
    def baton(self) -> Path:
        """The ``.baton`` folder; it may not exist yet."""
        place = self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir
        return place / ".baton"

    @property
    def locks(self) -> Path:
        """The folder of OS locks, one for all worktrees."""
        return self.common_dir / "baton" / "locks"

    @property
    def objects_dir(self) -> Path:
        """The folder of the object database."""
        return self.common_dir / "objects"

    @property
    def name(self) -> str:
        """A readable name for folders and messages; not unique."""
        place = self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir
        readable = re.sub(r"[^a-z0-9._]+", "-", place.name.removesuffix(".git").casefold()).strip("-.")
        return readable[:40].rstrip("-.") or "repository"

    @property
    def hash8(self) -> str:
        """Eight hex digits that tell this repository from others of the same name on this machine."""
        return hashlib.sha256(os.fsencode(self.common_dir)).hexdigest()[:8]

    def state_root(self, workspace_root: Path | None = None) -> Path:
        """The folder outside the repository that holds its worktrees."""
        if workspace_root is None:
            from platformdirs import user_state_path

            workspace_root = user_state_path("baton")
        return workspace_root.expanduser().resolve() / f"{self.name}-{self.hash8}"

    def is_assignment(self, path: Path, workspace_root: Path | None = None) -> bool:
        """Whether a folder lies in a worktree of ours, where no command of ours may schedule anything."""
        return path.resolve().is_relative_to(self.state_root(workspace_root))

    def ensure_baton(self) -> Path:
        """Make ``.baton``, which ignores itself; return it."""
        ignore = self.baton / ".gitignore"
        if not ignore.is_file():
            ensure_folder(self.baton)
            write_if_changed(ignore, b"*\n", _IGNORE_WRITE)
        return self.baton

    @cached_property
    def user_config(self) -> UserConfig:
        """The allowed part of the user's configuration, read once."""
        return UserConfig.read(self.common_dir, self.environ)

    @property
    def identity(self) -> Identity:
        """Who the harness commits as; ``is_default`` says that git knows nobody."""
        return self.user_config.identity

    @cached_property
    def hardened_environ(self) -> Mapping[str, str]:
        """The environment of every call of ours on this repository."""
        return {**hardened(self.environ, self.user_config.of_user()), **self.identity.environ()}

    @cached_property
    def git(self) -> Git:
        """Git on the shared repository: for refs and the list of worktrees, never for files or diffs."""
        shallow = self.common_dir / "shallow"
        return Git(
            {
                **self.hardened_environ,
                "GIT_DIR": str(self.common_dir),
                **({"GIT_SHALLOW_FILE": str(shallow)} if shallow.exists() else {}),
            },
            self.common_dir,
        )

    def head_branch(self) -> str | None:
        """The full name of the branch checked out here (it may have no commit yet), None when HEAD is detached."""
        text = (self.git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
        if text.startswith("ref: ") and text != "ref: refs/heads/.invalid":
            return text.removeprefix("ref: ")
        if _OID.fullmatch(text):
            return None
        found = self.git.try_run("symbolic-ref", "--quiet", "HEAD", env={"GIT_DIR": str(self.git_dir)})
        return found.line or None

    def head(self) -> str:
        """The commit checked out here; RepositoryError when there is none yet."""
        return self.resolve("HEAD")

    def resolve(self, revision: str) -> str:
        """The id of the commit that a revision names, as the checkout this was opened in sees it."""
        found = self.git.try_run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}",
            env={"GIT_DIR": str(self.git_dir)},
        )  # fmt: skip
        lines = found.line.splitlines()
        if found.code == 0 and lines:
            return lines[-1]  # some versions of git echo --end-of-options
        where = str(self.top or self.git_dir)
        if revision == "HEAD":
            raise RepositoryError("has no commit yet", where=where, todo="make a first commit, then run again")
        raise RepositoryError(f"has no commit named {revision!r}", where=where, todo="check the name, or fetch it")


def _unreadable(path: Path, error: GitError) -> RepositoryError:
    said = error.output.stderr.decode("utf-8", "replace")
    if "not a git repository" in said:
        return RepositoryError(
            "is not in a git repository", where=str(path), todo="run git init, or go to a repository"
        )
    if "dubious ownership" in said:
        return RepositoryError(
            "belongs to another user",
            where=str(path),
            todo=f"run git config --global --add safe.directory {path.resolve()}",
        )
    return RepositoryError(error.what, where=str(path), todo=error.todo or "repair it, then run again")
