"""Starting a program: a session of its own, only the descriptors it is given, and errors a user can act on.

No code of ours runs between fork and exec, so threads may start programs at the same time.
"""

import errno
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from baton_runner.base.errors import BatonError

__all__ = ["shell_argv", "spawn"]


def shell_argv(command: str, *arguments: str) -> list[str]:
    """The argument list that runs a shell command line, its ``$1``, ``$2``... being the arguments: data, never code."""
    return [shutil.which("bash") or "/bin/sh", "-c", command, "baton", *arguments]


def spawn(
    argv: Sequence[str],
    cwd: Path,
    environ: Mapping[str, str],
    *,
    stdin: int,
    stderr: int,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a program. Raises BatonError, code ``program_not_found``, ``no_folder`` or ``cannot_start``."""
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(environ),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _cannot_start(argv[0], cwd, error) from error


def _cannot_start(program: str, cwd: Path, error: OSError | ValueError) -> BatonError:
    if not cwd.is_dir():
        return BatonError("is no folder to work in", where=str(cwd), code="no_folder")
    if isinstance(error, FileNotFoundError):
        return BatonError(
            "is not an installed program",
            where=program,
            todo="install it or correct its path",
            code="program_not_found",
        )
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        reason = "its arguments and environment are larger than the system allows"
    else:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return BatonError(f"cannot be started: {reason}", where=program, code="cannot_start")
