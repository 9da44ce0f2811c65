"""Which reporters a run has, from what the command line and the terminal say."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from baton_runner.base.errors import UsageError
from baton_runner.build.report.lines import Verbosity
from baton_runner.build.report.terminal import PlainReporter
from baton_runner.build.report.values import Reporter, Reporters

__all__ = ["Output", "open_reporters"]

STDOUT = "-"


@dataclass(frozen=True)
class Output:
    """What the reader asked for. ``durations`` is how many of the slowest tasks, 0 for all, None for none; ``events`` is a file name, ``-`` for standard output, empty for none."""

    verbosity: Verbosity = Verbosity.NORMAL
    durations: int | None = None
    junit: Path | None = None
    events: str = ""


@contextlib.contextmanager
def open_reporters(output: Output, environ: Mapping[str, str], out: TextIO, err: TextIO) -> Iterator[Reporter]:
    """The reporters of one run, closed in the end whatever happens.

    People read ``out``, or ``err`` where the events take standard output. Raises UsageError for a file that cannot be written.
    """
    with contextlib.ExitStack() as opened:
        reporters: list[Reporter] = [_for_people(output, environ, err if output.events == STDOUT else out, opened)]
        if output.events:
            from baton_runner.build.report.stream import EventStream

            reporters.append(
                EventStream(out if output.events == STDOUT else opened.enter_context(_file(output.events)))
            )
        if output.junit is not None:
            from baton_runner.build.report.junit import JUnitReporter

            reporters.append(JUnitReporter(output.junit))
        yield Reporters(tuple(reporters))


def _for_people(output: Output, environ: Mapping[str, str], out: TextIO, opened: contextlib.ExitStack) -> Reporter:
    if output.verbosity is Verbosity.QUIET or not _is_lively(environ, out):
        return PlainReporter(out, output.verbosity, output.durations)
    from baton_runner.build.report.live import LiveReporter

    reporter = LiveReporter(out, output.verbosity, output.durations)
    opened.callback(reporter.close)
    return reporter


def _is_lively(environ: Mapping[str, str], out: TextIO) -> bool:
    """Whether a terminal that can redraw lines is watched by a person."""
    plain = environ.get("NO_COLOR") or environ.get("CI") or environ.get("TERM", "dumb") == "dumb"
    return out.isatty() and not plain


def _file(name: str) -> TextIO:
    try:
        return Path(name).open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror or error}", where=f"--events {name}", todo="name another file"
        ) from error
