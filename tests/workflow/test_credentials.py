"""Asking gh for a token (R-021): it answers, it fails, it is not there."""

from pathlib import Path

import pytest

from baton_runner.workflow.credentials import ask_gh, has_gh_login, with_tracker_token
from baton_runner.workflow.secret import Secret
from tests.workflow.policies import load


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "gh").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_gh_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is what `gh auth token` prints."""
    program(tmp_path, 'test "$1 $2" = "auth token" && echo tok', monkeypatch)
    token = ask_gh()
    assert token is not None
    assert token.reveal() == "tok"


@pytest.mark.parametrize("script", ["echo tok; exit 1", "exit 0", "echo"])
def test_gh_has_no_login(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure and an empty answer are no token."""
    program(tmp_path, script, monkeypatch)
    assert ask_gh() is None


def test_no_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the program nothing is run."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask_gh() is None


def test_only_a_github_board_asks(tmp_path: Path) -> None:
    """A board of files, and one with a token, ask nobody."""

    def ask() -> Secret | None:
        return Secret("asked")

    def token(front: str) -> Secret | None:
        return with_tracker_token(load(tmp_path, front, T="own").settings, ask).tracker.token

    assert token("tracker: {kind: github_projects}") == Secret("asked")
    assert token("tracker: {kind: github_projects, token: $T}") == Secret("own")
    assert token("tracker: {kind: file}") is None


def test_where_gh_keeps_its_login(tmp_path: Path) -> None:
    """GH_CONFIG_DIR, then XDG_CONFIG_HOME, then HOME."""
    (tmp_path / "gh").mkdir()
    (tmp_path / "gh/hosts.yml").touch()
    assert has_gh_login({"GH_CONFIG_DIR": str(tmp_path / "gh"), "HOME": "/x"})
    assert has_gh_login({"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/x"})
    assert not has_gh_login({"HOME": str(tmp_path)})
