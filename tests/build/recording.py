"""A reporter that remembers, and a world in which the build runs inside the test's own process."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from baton_runner.build.drive import run_changes
from baton_runner.build.report.values import Header, RunSummary, TaskEnd
from baton_runner.build.scope import Request
from baton_runner.build.selection import Selection
from baton_runner.controller.events import Event
from baton_runner.controller.project import Project
from tests.scenarios.space import Space

__all__ = ["BuildSpace", "Recorder"]


@dataclass
class Recorder:
    """Remembers what it was told."""

    headers: list[Header] = field(default_factory=list)
    ends: list[TaskEnd] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    summaries: list[RunSummary] = field(default_factory=list)

    def begin(self, header: Header) -> None:
        self.headers.append(header)

    def task_ended(self, end: TaskEnd) -> None:
        self.ends.append(end)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def end(self, summary: RunSummary) -> None:
        self.summaries.append(summary)


class BuildSpace(Space):
    """A user's repository whose runs happen in this process, which stands in it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.told = Recorder()

    def project(self) -> Project:
        return Project.open(self.repo, self.environ)

    def build(self, *targets: str, request: Request | None = None, reporter: Recorder | None = None) -> RunSummary:
        """``baton run``; what it tells is in ``told``."""
        self.told = reporter or Recorder()
        wanted = request or Request(selection=Selection(targets))
        return run_changes(self.project(), wanted, self.told)

    def words(self) -> dict[str, str]:
        """How each task of the last run ended, by name."""
        summary = self.told.summaries[-1]
        ended = {end.name: end.result.verdict.value for end in summary.ends}
        return ended | {each.name: each.word for each in summary.unfinished}


def user_environ(space: Space) -> dict[str, str]:
    """A user's environment for doit, whose own warnings are no business of ours."""
    return {**space.environ, "PYTHONWARNINGS": "ignore", "PATH": os.environ["PATH"]}
