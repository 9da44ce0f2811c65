"""The runner: errors that name the command, streams of any size, nothing inherited."""

from pathlib import Path

import pytest

from baton_runner.base.errors import RepositoryError
from baton_runner.repo.git import Git, GitError, hardened, settings
from tests.repo.repo_space import RepoSpace, clean_environ


def test_an_error_names_command_code_place_and_what_git_said(space: RepoSpace) -> None:
    with pytest.raises(GitError) as caught:
        space.repository.git.run("cat-file", "blob", "0" * 40)
    text = str(caught.value)
    assert text.startswith(f"{space.top}/.git: git cat-file blob {'0' * 40} ended with exit code 128: fatal:")
    assert "\n" not in text


def test_streams_of_any_size_do_not_block(space: RepoSpace) -> None:
    """Megabytes in and out at once, more than any pipe holds."""
    data = bytes(range(256)) * 20_000
    git = space.objects().git
    oid = git.run("hash-object", "-w", "--stdin", input=data).decode().strip()
    many = f"{oid}\n".encode() * 20
    assert len(git.run("cat-file", "--batch", input=many)) > 20 * len(data)


def test_a_git_that_does_not_read_its_input_is_no_error(space: RepoSpace) -> None:
    assert space.repository.git.run("version", input=b"x" * 1_000_000).startswith(b"git version")


def test_a_git_that_does_not_end_is_ended(space: RepoSpace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every wait ends: the process is killed and the error says how long we waited."""
    monkeypatch.setattr("baton_runner.repo.git._TIMEOUT_SECONDS", 0.2)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    git = Git({**space.environ, "PATH": f"{slow.parent}:{space.environ['PATH']}"}, space.top)
    with pytest.raises(GitError, match="did not end within 0 s"):
        git.run("status")


def test_a_place_that_is_no_folder_is_said(space: RepoSpace) -> None:
    with pytest.raises(RepositoryError, match="does not exist"):
        space.repository.git.run("version", cwd=space.top / "nowhere")
    with pytest.raises(RepositoryError, match="is not a folder"):
        space.repository.git.run("version", cwd=space.top / "tasks.md")


def test_the_environment_drops_what_leads_astray_and_forbids_prompts(tmp_path: Path) -> None:
    given = {
        **clean_environ(tmp_path), "GIT_DIR": "/x", "GIT_WORK_TREE": "/x", "GIT_SSH_COMMAND": "evil", "GIT_EXTERNAL_DIFF": "evil",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "evil", "GIT_LFS_SKIP_SMUDGE": "1",
    }  # fmt: skip
    environ = hardened(given, [("user.name", "A")])
    assert not {"GIT_DIR", "GIT_WORK_TREE", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF"} & set(environ)
    assert "evil" not in environ.values()
    assert environ["GIT_LFS_SKIP_SMUDGE"] == "1"
    assert environ["GIT_TERMINAL_PROMPT"] == "0"
    assert environ["GIT_CONFIG_GLOBAL"] == "/dev/null"


def test_later_settings_win(space: RepoSpace) -> None:
    """The safe settings cannot be overridden by the allowlist; what a call adds wins over both."""
    environ = hardened(space.environ, [("core.fsmonitor", "evil")])
    git = Git(environ, space.top)
    assert git.line("config", "core.fsmonitor") == "false"
    assert git.configured([("core.fsmonitor", "true")]).line("config", "core.fsmonitor") == "true"
    assert settings([]) == {"GIT_CONFIG_COUNT": "0"}
