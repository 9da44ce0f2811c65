"""Fixtures of the build's tests."""

from pathlib import Path

import pytest

from tests.build.recording import BuildSpace


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildSpace:
    """A fresh world; the process stands in its repository and keeps its worktrees there."""
    space = BuildSpace(tmp_path.resolve() / "space")
    monkeypatch.setenv("XDG_STATE_HOME", space.environ["XDG_STATE_HOME"])
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(space.repo)
    return space
