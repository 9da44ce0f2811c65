"""Worlds for the command line: a finished change is made once by the real command, and copied for each test."""

import contextlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from baton_runner.cli import main
from tests.scenarios.space import Done, Space, _environment

PLAN = """\
## 1. First

- [ ] 1.1 Write one
- [ ] 1.2 Write two

## 2. Second

- [ ] 2.1 Write three
"""


class World(Space):
    """A space whose commands run in this process: fast, and as good where nothing is started."""

    def __init__(self, root: Path, template: Space | None = None) -> None:
        if template is None:
            super().__init__(root)
            return
        shutil.copytree(template.root, root, symlinks=True)
        self.root, self.repo, self.environ = root, root / "repo", _environment(root)

    def call(self, *args: str, **environ: str) -> Done:
        """``baton`` in this process, from outside the repository."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        with (
            mock.patch.dict(os.environ, {**self.environ, **environ}, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(["-C", str(self.repo), *args])
        for stream in (out, err):
            stream.flush()
        return Done(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())

    def ok(self, *args: str) -> str:
        """The output of a command that must end with 0."""
        done = self.call(*args)
        assert done.code == 0, done.text
        return done.out

    def refused(self, code: int, *args: str) -> str:
        """What a command that must end with ``code`` says on standard error."""
        done = self.call(*args)
        assert done.code == code, done.text
        assert "Traceback" not in done.text
        return done.err


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a plan of three tasks, nothing done yet."""
    made = World(tmp_path / "space")
    made.start(PLAN)
    return made


@pytest.fixture
def empty(tmp_path: Path) -> World:
    """A repository with one commit and no plan."""
    made = World(tmp_path / "space")
    made.commit("first")
    return made


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """A change that the real command has finished; its worktrees are gone, they would not move along."""
    made = Space(tmp_path_factory.mktemp("finished") / "space")
    made.start(PLAN)
    made.run()
    shutil.rmtree(made.root / "state")
    shutil.rmtree(made.repo / ".git" / "worktrees")
    yield made
    shutil.rmtree(made.root)


@pytest.fixture
def finished(tmp_path: Path, template: Space) -> World:
    """A repository whose one change is finished: proven, integrated, ticked."""
    return World(tmp_path / "space", template)
