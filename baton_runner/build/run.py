"""The one entry for ``baton run``: opens the reporters, drives or explains, and gives the exit code."""

import sys
import time
from dataclasses import dataclass
from typing import TextIO

from baton_runner.base.marked import adopting
from baton_runner.build import fingerprint
from baton_runner.build.drive import run_changes
from baton_runner.build.preview import preview_lines
from baton_runner.build.report.output import Output, open_reporters
from baton_runner.build.report.values import ExitCode
from baton_runner.build.scope import Request
from baton_runner.controller.project import Project

__all__ = ["Fast", "explain", "run"]


@dataclass(frozen=True)
class Fast:
    """Where the fast answer of the next run is kept, and for which words of the command line."""

    place: fingerprint.Place
    words: tuple[str, ...]


def run(
    project: Project,
    request: Request,
    output: Output,
    *,
    out: TextIO | None = None,
    err: TextIO | None = None,
    fast: Fast | None = None,
) -> int:
    """Work on what is not finished: 0 done, 1 failures or a person must act, 2 interrupted.

    Errors of base/errors pass through: UsageError, NothingCollected (no change, no task, no match), PlanError,
    PolicyError, and what ended the run early, after its report. ``fast`` is told when nothing was left to do.
    """
    began = time.time_ns()
    with adopting(), open_reporters(output, project.environ, out or sys.stdout, err or sys.stderr) as reporter:
        summary = run_changes(project, request, reporter)
    told = summary.warnings or summary.ends or summary.unfinished
    if fast is not None and summary.exit_code is ExitCode.DONE and not told:
        fingerprint.keep(project, fast.place, fast.words, len(summary.kept), began)
    return summary.exit_code.value


def explain(project: Project, request: Request, output: Output, *, out: TextIO | None = None) -> int:
    """``--dry-run``: say what would run and why, touching nothing. 0, whatever there is to do; errors as for :func:`run`."""
    for line in preview_lines(project, request, output.verbosity):
        print(line, file=out or sys.stdout)
    return 0
