"""Durable files: a write is whole or absent, also after a crash, and a reader sees the old bytes or the new ones.

Every durable write names a crash point (see :mod:`baton_runner.base.crash`), passed after the temporary file is on
disk and before the rename makes it the file.
"""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from baton_runner.base import crash
from baton_runner.base.errors import BatonError, DamagedRecord

__all__ = [
    "ensure_folder",
    "read_json",
    "remove",
    "rename",
    "replace_file",
    "sync_folder",
    "unwritable",
    "write_atomic",
    "write_if_changed",
]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def ensure_folder(folder: Path) -> Path:
    """Create a folder and its parents where missing, their names durable too; return it."""
    if folder.is_dir():
        return folder
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing:
            sync_folder(made.parent)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def write_atomic(path: Path, data: bytes, point: crash.CrashPoint, *, mode: int = 0o644) -> None:
    """Replace a file's bytes: temporary file in the same folder, fsync, rename, fsync of the folder.

    Raises BatonError (code ``unwritable``) when the disk is full or the folder cannot be written; no temporary file is
    left then, and the file is the old one, whole (or the new one, when only the last sync failed).
    """
    ensure_folder(path.parent)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        crash.reach(point)
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def replace_file(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replace a small file whole for the next reader, with no promise over a power cut; the caller is its one writer.

    For what only saves work (caches, prompts, marks that can be made again). Raises BatonError as :func:`write_atomic`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def write_if_changed(path: Path, data: bytes, point: crash.CrashPoint) -> bool:
    """Write only when the bytes differ, so that time stamps mean something; say whether it wrote."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return False
    write_atomic(path, data, point)
    return True


def rename(source: Path, target: Path, point: crash.CrashPoint) -> None:
    """Move a file to its final name, durably; the target's folder is made. BatonError when the system refuses."""
    ensure_folder(target.parent)
    crash.reach(point)
    try:
        source.replace(target)
        sync_folder(target.parent)
        if source.parent != target.parent:
            sync_folder(source.parent)
    except OSError as error:
        raise unwritable(target, error) from error


def remove(path: Path, point: crash.CrashPoint) -> bool:
    """Delete a file durably; say whether it was there. BatonError when the system refuses."""
    crash.reach(point)
    try:
        path.unlink()
        sync_folder(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unwritable(path, error) from error
    return True


def read_json(path: Path) -> Any:
    """The JSON value of a record of ours, None when there is no such file; DamagedRecord when it is not JSON."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return json.loads(data)
    except ValueError as error:
        raise DamagedRecord(f"is not JSON ({error})", where=str(path)) from error


def unwritable(path: Path, error: OSError) -> BatonError:
    """What to raise when the system refuses a write."""
    return BatonError(
        f"cannot be written: {error.strerror or error}",
        where=str(path),
        todo="free some space or make the folder writable, then run again; nothing was lost",
        code="unwritable",
    )
