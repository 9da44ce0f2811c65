"""Exit codes are promised, and no traceback reaches a person."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from baton_runner.base.errors import (
    ActionNeeded,
    BatonError,
    DamagedRecord,
    Interrupted,
    NothingCollected,
    PlanError,
    PolicyError,
    Problems,
    RepositoryError,
    UsageError,
)
from baton_runner.cli.exits import Exit, guarded
from tests.cli.conftest import World


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 4),
        (PlanError("x"), 4),
        (PolicyError("x"), 4),
        (RepositoryError("x"), 4),
        (Problems([PlanError("x")]), 4),
        (click.UsageError("x"), 4),
        (NothingCollected("x"), 5),
        (ActionNeeded("x"), 1),
        (DamagedRecord("x"), 1),
        (BatonError("x"), 1),
        (Interrupted("x"), 2),
        (KeyboardInterrupt(), 2),
        (click.Abort(), 2),
        (ZeroDivisionError("x"), 3),
    ],
)
def test_every_kind_of_end_has_its_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """0 done, 1 failures or someone must act, 2 interrupted, 3 internal, 4 usage, 5 nothing collected."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("BATON_DEBUG", raising=False)

    def end() -> object:
        raise error

    assert guarded(end) == code


@pytest.mark.parametrize(("value", "code"), [(None, 0), (Exit.DONE, 0), (Exit.FAILED, 1), (5, 5)])
def test_a_command_that_ends_in_good_order_says_its_code(value: object, code: int) -> None:
    """What a command returns is the exit code; nothing is 0."""
    assert guarded(lambda: value) == code


def _fail() -> object:
    raise ZeroDivisionError("deep inside")


def test_an_internal_error_names_a_file_with_the_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What nobody foresaw is one short message; the traceback is in the file that it names."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("BATON_DEBUG", raising=False)
    assert guarded(_fail) == Exit.INTERNAL
    said = capsys.readouterr().err
    (file,) = tmp_path.iterdir()
    assert "Traceback" not in said
    assert str(file) in said
    assert "ZeroDivisionError: deep inside" in file.read_text()
    assert "_fail" in file.read_text()


def test_debug_raises_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """``BATON_DEBUG=1`` shows the traceback where it happens."""
    monkeypatch.setenv("BATON_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        guarded(_fail)


def test_an_error_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """Text of others in a message is shown without its escape sequences."""

    def end() -> object:
        raise ActionNeeded("task \x1b[2Jwiped\x1b]0;title\x07")

    guarded(end)
    assert capsys.readouterr().err == "error: task wiped\n"


def test_a_reader_that_left_ends_the_command_quietly(world: World) -> None:
    """``baton list | head -0``: no traceback, no message, and not a success of a command that could not speak."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "baton_runner", "list"],
        cwd=world.repo,
        env=world.environ,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")
