"""From how a command ended to its exit code (pytest's numbers), and to what is said about it on standard error.

No traceback reaches a person: what nobody foresaw is written to a file that the message names (``BATON_DEBUG=1``
raises it instead).
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

import click

from baton_runner.base.errors import BatonError, Interrupted, NothingCollected, UsageError
from baton_runner.cli.output import bad, clean

__all__ = ["Exit", "guarded"]


class Exit(IntEnum):
    """The exit codes of ``baton``."""

    DONE = 0
    FAILED = 1
    """Something failed, or a person must act."""
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING = 5
    """Nothing was collected: no change, no task, no match."""


def guarded(call: Callable[[], object]) -> int:
    """Call a command and turn its end, whatever that is, into an exit code."""
    try:
        code = _code_of(call())
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        return _say("interrupted", Exit.INTERRUPTED)
    except click.Abort:
        return _say("interrupted", Exit.INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        return _help(error)
    except click.ClickException as error:
        return _say(_usage(error), Exit.USAGE)
    except BatonError as error:
        return _say(str(error), _of_kind(error))
    except Exception as error:  # promise 10: no traceback reaches a person; it is written down and named
        if os.environ.get("BATON_DEBUG"):
            raise
        return _say(_internal(error), Exit.INTERNAL)
    return code


def _code_of(value: object) -> int:
    """Commands return an Exit or nothing; click hands on the code of ``--help`` and the like."""
    return int(value) if isinstance(value, int) else Exit.DONE


def _of_kind(error: BatonError) -> Exit:
    match error:
        case UsageError():
            return Exit.USAGE
        case NothingCollected():
            return Exit.NOTHING
        case Interrupted():
            return Exit.INTERRUPTED
        case _:
            return Exit.FAILED


def _say(text: str, code: Exit) -> int:
    try:
        click.echo(f"{bad('error:')} {clean(text)}" if code is not Exit.INTERRUPTED else text, err=True)
    except BrokenPipeError:
        return _reader_left()
    return code


def _help(error: click.exceptions.NoArgsIsHelpError) -> int:
    """Called without a word: show what there is."""
    click.echo(error.format_message())
    return Exit.USAGE


def _usage(error: click.ClickException) -> str:
    """What click says in words of ours: which command, what is wrong, where the help is."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "baton"
    return f"{path}: {error.format_message().rstrip('.')}; see {path} --help"


def _internal(error: Exception) -> str:
    """Write the traceback to a file of its own and say where it is."""
    what = f"{type(error).__name__}: {error}"
    advice = "please report it with that file; BATON_DEBUG=1 shows it here"
    try:
        descriptor, name = tempfile.mkstemp(prefix="baton-traceback-", suffix=".txt")
        with os.fdopen(descriptor, "w") as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return f"internal error: {what}; run again with BATON_DEBUG=1 and report what it shows"
    return f"internal error: {what}; the traceback is in {Path(name)}; {advice}"


def _reader_left() -> int:
    """Whoever read our output is gone: say no more, and let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return Exit.FAILED
