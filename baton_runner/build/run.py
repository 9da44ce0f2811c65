"""The one entry for ``baton run``: opens the reporters, drives or explains, and gives the exit code."""

import sys
from typing import TextIO

from baton_runner.build.drive import run_changes
from baton_runner.build.preview import preview_lines
from baton_runner.build.report.output import Output, open_reporters
from baton_runner.build.scope import Request
from baton_runner.controller.project import Project

__all__ = ["explain", "run"]


def run(
    project: Project, request: Request, output: Output, *, out: TextIO | None = None, err: TextIO | None = None
) -> int:
    """Work on what is not finished: 0 done, 1 failures or a person must act, 2 interrupted.

    Errors of base/errors pass through: UsageError, NothingCollected (no change, no task, no match), PlanError,
    PolicyError, and what ended the run early, after its report.
    """
    with open_reporters(output, project.environ, out or sys.stdout, err or sys.stderr) as reporter:
        return run_changes(project, request, reporter).exit_code.value


def explain(project: Project, request: Request, output: Output, *, out: TextIO | None = None) -> int:
    """``--dry-run``: say what would run and why, touching nothing. 0, whatever there is to do; errors as for :func:`run`."""
    for line in preview_lines(project, request, output.verbosity):
        print(line, file=out or sys.stdout)
    return 0
