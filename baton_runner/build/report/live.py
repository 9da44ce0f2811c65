"""The report on a terminal: coloured lines that scroll, and below them what is in work now, with time, turn and last words."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from baton_runner.build.report.lines import Line, Style, Verbosity
from baton_runner.build.report.terminal import PlainReporter
from baton_runner.build.report.text import fitted, one_line, seconds
from baton_runner.build.report.values import Header, RunSummary
from baton_runner.controller.events import Event

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
_NAME, _TIME, _TURN = 24, 8, 8


@dataclass(frozen=True)
class Running:
    """A task in work: since when, in which turn, and what its agent said last."""

    name: str
    since: float
    turn: int = 0
    message: str = ""

    def line(self, now: float, width: int) -> str:
        """It in one line of the view."""
        turn = f"turn {self.turn}" if self.turn else "starting"
        left = f"{fitted(self.name, _NAME)} {seconds(now - self.since):>{_TIME}}  {turn:<{_TURN}} "
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
        self._console = Console(file=out, highlight=False, markup=False, emoji=False)
        self._live = Live(
            get_renderable=self.view, console=self._console, transient=True, refresh_per_second=4, redirect_stdout=False,
            redirect_stderr=False,
        )  # fmt: skip

    def begin(self, header: Header) -> None:
        """Say what the run is about, and show what is in work from now on."""
        super().begin(header)
        self._live.start()

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
            lines = [running.line(self._clock(), width) for running in self._running.values()]
        return Text("\n".join(lines), style="cyan", no_wrap=True)

    def _follow(self, event: Event) -> None:
        name = (event.change, event.key)
        running = self._running.get(name)
        match event.kind:
            case "task.started":
                self._running[name] = Running(one_line(f"{event.change}:{event.key}"), self._clock())
            case "task.resolved" | "task.failed" | "task.stopped":
                self._running.pop(name, None)
            case "turn.started" if running:
                self._running[name] = replace(running, turn=int(event.data.get("turn") or 0))
            case "agent.message" if running:
                self._running[name] = replace(running, message=one_line(str(event.data.get("message") or "")))
            case _:
                pass
