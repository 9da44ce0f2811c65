"""The report as plain lines: for a pipe, for CI, for a terminal that asked for no colour; flushed line by line."""

import shutil
from typing import TextIO

from baton_runner.build.report.lines import Line, Verbosity, header_lines, summary_lines, task_line
from baton_runner.build.report.text import one_line, plural, seconds
from baton_runner.build.report.values import Header, RunSummary, TaskEnd
from baton_runner.controller.events import Event

__all__ = ["PlainReporter", "told"]

_WIDEST = 100


class PlainReporter:
    """Writes lines as things happen. Safe to be told events from several threads."""

    def __init__(self, out: TextIO, verbosity: Verbosity = Verbosity.NORMAL, durations: int | None = None) -> None:
        self._out = out
        self._verbosity = verbosity
        self._durations = durations
        self._begun = False
        self.width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)

    def begin(self, header: Header) -> None:
        """Say what the run is about."""
        if self._verbosity is not Verbosity.QUIET:
            for line in header_lines(header, self.width):
                self.write(line)
            self._begun = True

    def task_ended(self, end: TaskEnd) -> None:
        """A line per task."""
        if self._verbosity is Verbosity.QUIET:
            return
        if self._begun:
            self.write(Line(""))
            self._begun = False
        self.write(task_line(end, self.width))

    def note(self, text: str) -> None:
        """Something the reader should know now."""
        if self._verbosity is not Verbosity.QUIET:
            self.write(Line(one_line(text)))

    def event(self, event: Event) -> None:
        """Every step, when that was asked for; warnings in any case."""
        text = told(event, self._verbosity)
        if text:
            self.write(Line(text))

    def end(self, summary: RunSummary) -> None:
        """Say how it ended."""
        for line in summary_lines(summary, self._verbosity, self.width, self._durations):
            self.write(line)

    def write(self, line: Line) -> None:
        """Write one line now, in one piece."""
        self._out.write(line.text + "\n")
        self._out.flush()


def told(event: Event, verbosity: Verbosity) -> str:
    """An event in words, empty when it is not for this verbosity."""
    if verbosity is Verbosity.QUIET:
        return ""
    name = f"{event.change}:{event.key}" if event.key else event.change
    data = event.data
    match event.kind:
        case "base.red" | "hook.failed" | "plan.not_ticked" | "agent.paused":
            return one_line(f"{name}: {data.get('message') or event.kind}")
        case "plan.ticked_again":
            return one_line(f"{name}: ticked again, its receipt proves it (`baton redo {name}` to do it again)")
        case "attempt.left_behind":
            return one_line(f"{name}: left out of the merge: {', '.join(data.get('paths', ()))}")
        case _ if verbosity is not Verbosity.VERBOSE:
            return ""
        case "task.started":
            return one_line(f"{name}: started ({data.get('reason', '')})")
        case "turn.started":
            return one_line(f"{name}: attempt {data.get('attempt')}, turn {data.get('turn')}")
        case "turn.ended":
            return one_line(
                f"{name}: turn {data.get('turn')} {data.get('outcome')} after {seconds(data.get('seconds') or 0)}"
            )
        case "closing.started":
            return one_line(f"{name}: closing check, {plural(int(data.get('commands') or 0), 'command')}")
        case "check.red":
            return one_line(f"{name}: `{data.get('command')}` is red ({data.get('said')})")
        case _:
            return ""
