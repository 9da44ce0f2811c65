"""A worktree with some folders only (``workspace.sparse``), in git's cone form, kept out of the shared configuration."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from baton_runner.base.errors import PolicyError
from baton_runner.base.files import replace_file

__all__ = ["SETTINGS", "cone", "cone_of"]

SETTINGS = (("core.sparseCheckout", "true"), ("core.sparseCheckoutCone", "true"))
_SPECIAL = set("*?[]\\!#")


@contextmanager
def cone_of(git_dir: Path, folders: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Settings for a checkout of these folders, all when there are none; the pattern file is in place meanwhile.

    A worktree that was sparse before (by us, or by an agent's own hand) becomes whole again: its index remembers.
    """
    path = git_dir / "info" / "sparse-checkout"
    if folders:
        text = cone(folders).encode("utf-8", "surrogateescape")
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(exist_ok=True)
            replace_file(path, text)
        yield ()
    elif path.exists():
        replace_file(path, b"/*\n")
        yield (("core.sparseCheckout", "true"), ("core.sparseCheckoutCone", "false"))
        path.unlink()
    else:
        yield ()


def cone(folders: Iterable[str]) -> str:
    """Patterns that take the files at the top, those of every folder on the way, and all below the folders named."""
    wanted = {_checked(folder) for folder in folders}
    parents = {parent for folder in wanted for parent in folder.parents if parent != PurePosixPath(".")}
    lines = ["/*", "!/*/"]
    for folder in sorted(wanted | parents):
        if any(parent in wanted for parent in folder.parents):
            continue
        lines.append(f"/{folder}/")
        if folder not in wanted:
            lines.append(f"!/{folder}/*/")
    return "\n".join([*lines, ""])


def _checked(folder: str) -> PurePosixPath:
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts or not path.parts or _SPECIAL & set(folder):
        raise PolicyError(f"{folder!r} is not a folder", where="workspace.sparse", todo="name folders from the top")
    return path
