"""Durable files: whole or absent, whatever fails and whenever."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from baton_runner.base import crash, files
from baton_runner.base.errors import BatonError, DamagedRecord

POINT = crash.declare("test.files")


def _failing(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


class _FullFile:
    """A file whose every write finds the disk full."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    write = staticmethod(_failing)


def _full(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *args: _FullFile(whole(*args)))


STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "mkstemp": lambda patch: patch.setattr("tempfile.mkstemp", _failing),
    "write": _full,
    "fchmod": lambda patch: patch.setattr(os, "fchmod", _failing),
    "fsync": lambda patch: patch.setattr(os, "fsync", _failing),
    "rename": lambda patch: patch.setattr(Path, "replace", _failing),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_at_any_step_leaves_the_old_file_whole_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Promise 3: and the error says where and what to do."""
    path = tmp_path / "record.json"
    path.write_bytes(b"old")
    STEPS[step](monkeypatch)
    with pytest.raises(BatonError, match=r"record\.json: cannot be written: No space left on device; free") as caught:
        files.write_atomic(path, b"new", POINT)
    monkeypatch.undo()
    assert caught.value.code == "unwritable"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_when_only_the_last_sync_fails_the_new_file_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(files, "sync_folder", _failing)
    with pytest.raises(BatonError, match="cannot be written"):
        files.write_atomic(path, b"new", POINT)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_in_the_middle_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_atomic(tmp_path / "record.json", b"new", POINT)
    assert list(tmp_path.iterdir()) == []


def test_a_write_syncs_the_file_before_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order that a power cut needs: content, name, folder."""
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def syncing(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def renaming(path: Path, target: Path) -> Path:
        done.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(Path, "replace", renaming)
    files.write_atomic(tmp_path / "record.json", b"new", POINT)
    assert done == ["file", "rename", "folder"]


def test_the_names_of_new_folders_are_durable_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A synced file in a folder whose own name is lost is lost."""
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    files.ensure_folder(tmp_path / "a" / "b" / "c")
    assert sorted(synced) == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    files.ensure_folder(tmp_path / "a" / "b" / "c")
    assert len(synced) == 3


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o444])
def test_a_file_has_exactly_the_mode_that_was_asked_for(tmp_path: Path, mode: int) -> None:
    """Whatever the umask; a read-only file can be replaced."""
    before = os.umask(0o077)
    try:
        for data in (b"1", b"2"):
            files.write_atomic(tmp_path / "record.json", data, POINT, mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "record.json").stat().st_mode) == mode
    assert (tmp_path / "record.json").read_bytes() == b"2"


def test_the_same_bytes_are_not_written_again(tmp_path: Path) -> None:
    """Time stamps mean something."""
    path = tmp_path / "record.json"
    assert files.write_if_changed(path, b"1", POINT)
    os.utime(path, (0, 0))
    assert not files.write_if_changed(path, b"1", POINT)
    assert path.stat().st_mtime == 0
    assert files.write_if_changed(path, b"2", POINT)
    assert path.read_bytes() == b"2"


def test_a_rename_makes_its_folder_and_syncs_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "pending", tmp_path / "receipts" / "1.1.json"
    source.write_bytes(b"x")
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    files.rename(source, target, POINT)
    assert target.read_bytes() == b"x"
    assert not source.exists()
    assert synced[-2:] == [target.parent, tmp_path]


def test_removing_says_whether_there_was_anything(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    assert files.remove(tmp_path / "x", POINT)
    assert not files.remove(tmp_path / "x", POINT)


def test_a_refused_rename_or_removal_says_where(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BatonError, match="folder: cannot be written"):
        files.remove(tmp_path / "folder", POINT)
    with pytest.raises(BatonError, match="folder: cannot be written"):
        files.rename(tmp_path / "file", tmp_path / "folder", POINT)
    with pytest.raises(BatonError, match="inside: cannot be written"):
        files.ensure_folder(tmp_path / "file" / "inside")


def test_a_record_is_read_as_json_or_named_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert files.read_json(path) is None
    path.write_bytes(b'{"a": [1]}')
    assert files.read_json(path) == {"a": [1]}
    for damaged in (b"", b"{", b"\xff\xfe"):
        path.write_bytes(damaged)
        with pytest.raises(DamagedRecord, match=r"record\.json: is not JSON"):
            files.read_json(path)
