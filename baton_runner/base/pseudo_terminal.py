"""A program on a pseudo-terminal of its own, for those that talk to nothing else.

The terminal becomes the program's controlling one (Linux: by being opened by the leader of a session without any), is
wide, and does not echo what is typed.
"""

import os
import termios
from collections.abc import Mapping
from pathlib import Path

from baton_runner.base.marked import marked
from baton_runner.base.processes import Process
from baton_runner.base.spawn import shell_argv, spawn

__all__ = ["start_on_terminal"]

_SIZE = (50, 200)
_LOCAL_FLAGS = 3
_TAKE_TERMINAL = 'exec <>"$1" >&0 2>&0; eval "$2"'


def start_on_terminal(command: str, *, cwd: Path, environ: Mapping[str, str], marker: str) -> tuple[Process, int]:
    """Start a shell command line on a new terminal; returns it and our side of the terminal, which the caller closes.

    Raises BatonError when it cannot be started there.
    """
    ours, theirs = os.openpty()
    try:
        termios.tcsetwinsize(theirs, _SIZE)
        mode = termios.tcgetattr(theirs)
        mode[_LOCAL_FLAGS] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
        argv = shell_argv(_TAKE_TERMINAL, os.ttyname(theirs), command)
        child = spawn(argv, cwd, marked(environ, marker), stdin=theirs, stdout=theirs, stderr=theirs)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return Process(child, marker), ours
