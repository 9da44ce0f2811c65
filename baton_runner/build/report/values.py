"""What a run reports, as values: its header, the end of each task and closing check, and the summary."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from baton_runner.controller.closing import Closing
from baton_runner.controller.events import Event
from baton_runner.controller.results import Result, Verdict

__all__ = [
    "NOT_RUN",
    "ClosingEnd",
    "ExitCode",
    "Header",
    "Named",
    "Reporter",
    "Reporters",
    "RunSummary",
    "TaskEnd",
    "Unfinished",
]


NOT_RUN = "not run"
"""The word for a task that could have been worked on, but the run ended before its turn."""


class ExitCode(Enum):
    """How a run ended, as pytest counts; what is raised instead (usage, nothing collected) the command line maps."""

    DONE = 0
    FAILED = 1
    INTERRUPTED = 2


@dataclass(frozen=True)
class Header:
    """What a run is about: the changes with their bases (``main at 1a2b3c4d``), the agent, the number of workers.

    ``titles`` are name and title of every task by change and key, in plan order.
    """

    changes: tuple[str, ...]
    bases: tuple[str, ...]
    agent: str
    workers: int
    tasks: int
    done: int
    notes: tuple[str, ...] = ()
    titles: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskEnd:
    """The end of one task in this run."""

    id: str
    title: str
    result: Result

    @property
    def name(self) -> str:
        """``<change>:<id>``."""
        return f"{self.result.change}:{self.id}"

    @property
    def failed(self) -> bool:
        """Whether work was tried and did not succeed."""
        return self.result.verdict in {Verdict.FAILED, Verdict.CONFLICT}


@dataclass(frozen=True)
class ClosingEnd:
    """What the closing check of a change found."""

    change: str
    closing: Closing


@dataclass(frozen=True)
class Named:
    """A task, as far as a reader needs to know which one is meant."""

    change: str
    id: str
    title: str

    @property
    def name(self) -> str:
        """``<change>:<id>``."""
        return f"{self.change}:{self.id}"

    @property
    def shown(self) -> str:
        """Id and title."""
        return f"{self.id} {self.title}"


@dataclass(frozen=True)
class Unfinished(Named):
    """A task that this run did not work on and that is not done: the word for it, and why.

    ``needed``: the run is incomplete without it; not so an optional task, or a held one that is skipped.
    """

    word: str
    reason: str
    needed: bool = True


@dataclass(frozen=True)
class RunSummary:
    """A run in the end; seconds of wall time; ``cost_usd`` is None when nobody said."""

    ends: tuple[TaskEnd, ...] = ()
    closings: tuple[ClosingEnd, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    kept: tuple[Named, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """Interrupted wins; then whatever failed, is red or waits for somebody."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        red = any(not each.closing.green for each in self.closings)
        left = any(each.needed for each in self.unfinished)
        return ExitCode.FAILED if red or left or self.failures else ExitCode.DONE

    @property
    def failures(self) -> tuple[TaskEnd, ...]:
        """The tasks that were tried and failed."""
        return tuple(end for end in self.ends if end.failed)

    @property
    def counts(self) -> dict[str, int]:
        """How many tasks ended with which word."""
        words = [end.result.verdict.value for end in self.ends] + [each.word for each in self.unfinished]
        return dict(Counter(words))

    @property
    def cost_usd(self) -> float | None:
        """What the agents say they cost."""
        costs = [end.result.work.cost_usd for end in self.ends if end.result.work.cost_usd is not None]
        return sum(costs) if costs else None


class Reporter(Protocol):
    """Who follows a run. ``event`` comes from any thread, one at a time; the others from the thread that drives."""

    def begin(self, header: Header) -> None:
        """Work starts."""
        ...

    def task_ended(self, end: TaskEnd) -> None:
        """A task came to an end."""
        ...

    def note(self, text: str) -> None:
        """Something the reader should know now."""
        ...

    def event(self, event: Event) -> None:
        """Something happened to a change or a task."""
        ...

    def end(self, summary: RunSummary) -> None:
        """The run is over."""
        ...


@dataclass(frozen=True)
class Reporters:
    """Several reporters as one."""

    each: tuple[Reporter, ...] = field(default_factory=tuple)

    def _tell(self, tell: Callable[[Reporter], None]) -> None:
        for reporter in self.each:
            tell(reporter)

    def begin(self, header: Header) -> None:
        """Work starts."""
        self._tell(lambda reporter: reporter.begin(header))

    def task_ended(self, end: TaskEnd) -> None:
        """A task came to an end."""
        self._tell(lambda reporter: reporter.task_ended(end))

    def note(self, text: str) -> None:
        """Something the reader should know now."""
        self._tell(lambda reporter: reporter.note(text))

    def event(self, event: Event) -> None:
        """Something happened."""
        self._tell(lambda reporter: reporter.event(event))

    def end(self, summary: RunSummary) -> None:
        """The run is over."""
        self._tell(lambda reporter: reporter.end(summary))
