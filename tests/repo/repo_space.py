"""RepoSpace: a small real git repository in a temporary folder, with its worktree pool beside it."""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs
from baton_runner.repo.repository import Repository
from baton_runner.repo.slots import Kind, Purpose
from baton_runner.repo.worktrees import Workspaces, Worktree


@dataclass(frozen=True)
class RepoSpace:
    """A repository in ``top`` on branch main, and everything the layer offers on it."""

    folder: Path
    top: Path
    environ: Mapping[str, str]

    @property
    def repository(self) -> Repository:
        return Repository.open(self.top, self.environ)

    def objects(self) -> Objects:
        return Objects(self.repository)

    def refs(self) -> Refs:
        return Refs(self.repository)

    def workspaces(self, sparse: tuple[str, ...] = ()) -> Workspaces:
        objects = self.objects()
        return Workspaces(objects, objects.repository.state_root(self.folder / "state"), sparse=sparse)

    def attempt(self, task: str = "1.1", commit: str = "", workspaces: Workspaces | None = None) -> Worktree:
        purpose = Purpose(Kind.ATTEMPT, "change", task, 1)
        return (workspaces or self.workspaces()).acquire(purpose, commit or self.head())

    def verify(self, commit: str = "", workspaces: Workspaces | None = None) -> Worktree:
        return (workspaces or self.workspaces()).acquire(Purpose(Kind.VERIFY, "change", "check"), commit or self.head())

    def git(self, *args: str, cwd: Path | None = None, input: str = "") -> str:  # noqa: A002
        ended = subprocess.run(
            ["git", *args], cwd=cwd or self.top, env=dict(self.environ), input=input, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.rstrip("\n")

    def write(self, files: Mapping[str, str], cwd: Path | None = None) -> None:
        for name, text in files.items():
            path = (cwd or self.top) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: Mapping[str, str], message: str = "change", cwd: Path | None = None) -> str:
        self.write(files, cwd)
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--quiet", "-m", message, cwd=cwd)
        return self.head(cwd)

    def head(self, cwd: Path | None = None) -> str:
        return self.git("rev-parse", "HEAD", cwd=cwd)

    def shared_config(self) -> bytes:
        return (self.repository.common_dir / "config").read_bytes()


def clean_environ(folder: Path) -> dict[str, str]:
    """An environment that no configuration of the machine reaches."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_"))}
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A User",
        "GIT_AUTHOR_EMAIL": "user@example.org",
        "GIT_COMMITTER_NAME": "A User",
        "GIT_COMMITTER_EMAIL": "user@example.org",
    }


MakeSpace = Callable[..., RepoSpace]
