"""The report on a terminal: coloured lines that scroll, and below them what is in work now, with time, phase and last words."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from baton_runner.build.report.lines import Line, Style, Verbosity
from baton_runner.build.report.terminal import PlainReporter
from baton_runner.build.report.text import fitted, one_line, seconds
from baton_runner.build.report.values import Header, RunSummary, TaskEnd
from baton_runner.controller.events import Event
from baton_runner.controller.states import State

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LiveReporter", "Running"]

_STYLES = {
    Style.PLAIN: "",
    Style.GOOD: "green",
    Style.BAD: "red",
    Style.DIM: "dim",
    Style.RULE: "bold",
    Style.GOOD_RULE: "bold green",
    Style.BAD_RULE: "bold red",
}
_TIME, _PHASE = 8, 9
_NAME_SHARE = 0.45
_VERIFYING = "verifying"
_REVERIFIED = {State.STALE.value, State.NOT_INTEGRATED.value}
"""States in which there is work already: a task begins with its verification, not with an agent."""


@dataclass(frozen=True)
class Running:
    """What is in work, a task or a closing check: since when, in which phase, and what its agent said last."""

    name: str
    since: float
    phase: str = "starting"
    message: str = ""

    def line(self, now: float, width: int) -> str:
        """It in one line of the view."""
        name = fitted(self.name, round(width * _NAME_SHARE))
        left = f"{name} {seconds(now - self.since):>{_TIME}}  {self.phase:<{_PHASE}} "
        return fitted(left + self.message, width).rstrip()


class LiveReporter(PlainReporter):
    """Plain lines above a live view; the view is gone when the run is over."""

    def __init__(
        self,
        out: TextIO,
        verbosity: Verbosity = Verbosity.NORMAL,
        durations: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(out, verbosity, durations)
        self._clock = clock
        self._lock = threading.RLock()
        self._running: dict[tuple[str, str], Running] = {}
        self._titles: Mapping[tuple[str, str], str] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._console = Console(file=out, highlight=False, markup=False, emoji=False)
        self._live = Live(
            get_renderable=self.view, console=self._console, transient=True, refresh_per_second=4, redirect_stdout=False,
            redirect_stderr=False,
        )  # fmt: skip

    def begin(self, header: Header) -> None:
        """Say what the run is about, and show what is in work from now on."""
        super().begin(header)
        self._titles = header.titles
        self._places = {name: place for place, name in enumerate(header.titles)}
        self._live.start()

    def task_ended(self, end: TaskEnd) -> None:
        """A line per task; no frame shows it both as ended and in work."""
        with self._lock:
            self._running.pop((end.result.change, end.result.key), None)
        if self._live.is_started:
            self._live.refresh()  # what is printed above the view brings the view's last frame along
        super().task_ended(end)

    def event(self, event: Event) -> None:
        """Follow what is in work."""
        with self._lock:
            self._follow(event)
        super().event(event)

    def end(self, summary: RunSummary) -> None:
        """Take the view away and say how it ended."""
        self.close()
        super().end(summary)

    def close(self) -> None:
        """Take the view away, also when the run ended with an error."""
        self._live.stop()

    def write(self, line: Line) -> None:
        """Write one line above the view."""
        from rich.text import Text

        self._console.print(Text(line.text, style=_STYLES[line.style]), soft_wrap=True)

    def view(self) -> "RenderableType":
        """What is in work now."""
        from rich.text import Text

        width = self._console.width - 1
        with self._lock:
            in_order = sorted(self._running, key=lambda name: self._places.get(name, len(self._places)))
            lines = [self._running[name].line(self._clock(), width) for name in in_order]
        return Text("\n".join(lines), style="cyan", no_wrap=True)

    def _follow(self, event: Event) -> None:
        name = (event.change, event.key)
        running = self._running.get(name)
        match event.kind:
            case "task.started":
                title = self._titles.get(name, f"{event.change}:{event.key}")
                phase = _VERIFYING if event.data.get("state") in _REVERIFIED else "starting"
                self._running[name] = Running(one_line(title), self._clock(), phase)
            case "closing.started":
                self._running[name] = Running(one_line(f"{event.change} closing check"), self._clock(), _VERIFYING)
            case "closing.ended":
                self._running.pop(name, None)
            case "attempt.started" if running:
                self._running[name] = replace(running, phase="starting")
            case "turn.ended" if running:
                self._running[name] = replace(running, phase=_VERIFYING, message="")
            case "task.resolved" | "task.failed" | "task.stopped":
                self._running.pop(name, None)
            case "turn.started" if running:
                self._running[name] = replace(running, phase=f"turn {event.data.get('turn')}")
            case "agent.message" if running:
                self._running[name] = replace(running, message=one_line(str(event.data.get("message") or "")))
            case _:
                pass
