"""Copy and link files from one root to another without ever leaving either: no link is followed on the way.

Every folder of a path is opened from its parent without following links, so that nothing can be swapped in between.
"""

import hashlib
import os
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

__all__ = ["Copied", "copy_private", "place_link"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Copied:
    """A file's sha256, or the reason why it was not copied."""

    digest: str = ""
    reason: str = ""


def copy_private(source: Path, target: Path, path: str) -> Copied:
    """Copy one regular file to the same relative path below another root, mode 0600 (0700 when executable).

    A file there that holds the same bytes stays as it is, with its times.
    """
    parts = _parts(path)
    if not parts:
        return Copied(reason="leads out of the checkout")
    with ExitStack() as stack:
        try:
            there = _open_folder(source, parts[:-1], stack)
            original = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=there)
            stack.callback(os.close, original)
        except OSError as error:
            return Copied(reason=f"is a link, or behind one, or cannot be read ({error.strerror})")
        found = os.fstat(original)
        if not stat.S_ISREG(found.st_mode):
            return Copied(reason="is not a plain file")
        try:
            here = _open_folder(target, parts[:-1], stack, create=0o700)
        except OSError as error:
            return Copied(reason=f"cannot be placed ({error.strerror})")
        mode = 0o700 if found.st_mode & stat.S_IXUSR else 0o600
        return Copied(_copy(original, here, parts[-1], mode))


def place_link(source: Path, target: Path, path: str) -> str:
    """Link ``target/path`` to what lies at ``source/path``; a reason when it was not done, empty when it is so."""
    parts = _parts(path)
    if not parts:
        return "leads out of the checkout"
    origin = source.joinpath(*parts)
    if not origin.exists() or not origin.resolve().is_relative_to(source.resolve()):
        return "does not exist in the checkout" if not origin.exists() else "leads out of the checkout"
    with ExitStack() as stack:
        try:
            here = _open_folder(target, parts[:-1], stack, create=0o755)
            os.symlink(origin, parts[-1], dir_fd=here)
        except FileExistsError:
            same = target.joinpath(*parts).is_symlink() and target.joinpath(*parts).readlink() == origin
            return "" if same else "exists in the worktree"
        except OSError as error:
            return f"cannot be placed ({error.strerror})"
    return ""


def _parts(path: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    outside = pure.is_absolute() or "\0" in path or any(part in {"..", ".git"} for part in pure.parts)
    return () if outside else pure.parts


def _open_folder(root: Path, parts: tuple[str, ...], stack: ExitStack, create: int = 0) -> int:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, folder)
    for part in parts:
        if create:
            with suppress(FileExistsError):
                os.mkdir(part, create, dir_fd=folder)
        folder = os.open(part, _FOLDER, dir_fd=folder)
        stack.callback(os.close, folder)
    return folder


def _copy(original: int, folder: int, name: str, mode: int) -> str:
    wanted = _digest(original)
    if _present(folder, name, mode) == wanted:
        return wanted
    os.lseek(original, 0, os.SEEK_SET)
    fresh = f".{name[:100]}.baton-new"
    with suppress(FileNotFoundError):
        os.unlink(fresh, dir_fd=folder)
    copy = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    with os.fdopen(copy, "wb") as file:
        while chunk := os.read(original, _CHUNK):
            file.write(chunk)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    return wanted


def _present(folder: int, name: str, mode: int) -> str | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        plain = stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == mode
        return _digest(descriptor) if plain else None
    finally:
        os.close(descriptor)


def _digest(descriptor: int) -> str:
    hasher = hashlib.sha256()
    while chunk := os.read(descriptor, _CHUNK):
        hasher.update(chunk)
    return hasher.hexdigest()
