"""Environment and paths in settings: a value that is exactly ``$NAME`` is replaced, a path becomes absolute (R-020..R-022).

Nothing else is expanded: ``prefix-$X`` and ``${X}`` stay as they are, commands and hooks are never looked at. A
variable that is unset or empty gives None, which means that the key is absent.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["UnresolvedPath", "braced_name", "resolve_path", "variable_name"]

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_BRACED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DRIVE = re.compile(r"[A-Za-z]:([\\/]|$)")


class UnresolvedPath(ValueError):
    """A path that would not mean what its author meant; says what and what to do."""

    def __init__(self, what: str, todo: str) -> None:
        super().__init__(what)
        self.what = what
        self.todo = todo


def variable_name(value: Any) -> str | None:
    """The variable that a value names, when it is exactly ``$NAME``."""
    found = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


def braced_name(value: Any) -> str | None:
    """The variable of a value that is exactly ``${NAME}``: not replaced, but worth a warning."""
    found = _BRACED.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


def resolve_path(text: str, *, folder: Path, environ: Mapping[str, str]) -> Path:
    """An absolute path: ``~`` and ``~/`` from HOME, else relative to the policy's folder; ``..`` is folded.

    UnresolvedPath for a ``$`` that would become part of a name, for ``~user`` and for a drive letter.
    """
    if "$" in text:
        raise UnresolvedPath(
            f"has a $ left in {text!r}", "use a value that is only $NAME, or write the path out; parts are not expanded"
        )
    if _DRIVE.match(text):
        raise UnresolvedPath(f"names a drive ({text!r})", "write an absolute path of this system, such as /srv/work")
    if "\0" in text:
        raise UnresolvedPath("holds a NUL character", "remove it")
    if text == "~" or text.startswith("~/"):
        home = Path(environ.get("HOME") or Path.home())
        return _folded(home / text[2:])
    if text.startswith("~"):
        raise UnresolvedPath(f"starts with {text.partition('/')[0]}", "only ~ and ~/... are expanded")
    return _folded(folder / text)


def _folded(path: Path) -> Path:
    import os.path

    return Path(os.path.abspath(path))  # noqa: PTH100 - folds `..` by text; symlinks are resolved where they are used
