"""``--events``: the run as NDJSON, one event a line, flushed, so that a program can follow it and a kill loses nothing.

Every line has ``at`` (RFC 3339), ``kind`` (a dotted word), ``change`` and ``task`` (empty where it is about none), and
``data``. The first line is ``run.started``, the last one ``run.ended`` with the counts and the exit code.
"""

import json
from collections.abc import Mapping
from typing import Any, TextIO

from baton_runner.base.clock import Clock, SystemClock, rfc3339
from baton_runner.build.report.values import Header, RunSummary, TaskEnd
from baton_runner.controller.events import Event

__all__ = ["EventStream"]


class EventStream:
    """Writes events to a text stream. A reader that went away ends the stream, never the run."""

    def __init__(self, out: TextIO, clock: Clock | None = None) -> None:
        self._out = out
        self._clock = clock or SystemClock()
        self._open = True

    def begin(self, header: Header) -> None:
        """The run starts."""
        data = {
            "changes": list(header.changes),
            "agent": header.agent,
            "workers": header.workers,
            "tasks": header.tasks,
            "up_to_date": header.done,
        }
        self._write("run.started", data)

    def task_ended(self, end: TaskEnd) -> None:
        """The end of a task's work in this run: ``result`` with its verdict, time, turns and cost."""
        result = end.result
        data = {
            "verdict": result.verdict.value,
            "message": result.message,
            "seconds": round(result.seconds, 3),
            "turns": result.work.turns,
            "cost_usd": result.work.cost_usd,
        }
        self._write("task.ended", data, change=result.change, task=result.key)

    def note(self, text: str) -> None:
        """Something a person should know."""
        self._write("run.note", {"message": text})

    def event(self, event: Event) -> None:
        """Something happened."""
        self._write(event.kind, event.data, change=event.change, task=event.key, at=event.at)

    def end(self, summary: RunSummary) -> None:
        """The run is over."""
        data = {
            "exit_code": summary.exit_code.value,
            "counts": summary.counts,
            "up_to_date": len(summary.kept),
            "seconds": round(summary.seconds, 3),
            "cost_usd": summary.cost_usd,
            "red": {end.change: list(end.closing.red) for end in summary.closings if not end.closing.green},
        }
        self._write("run.ended", data)

    def _write(self, kind: str, data: Mapping[str, Any], *, change: str = "", task: str = "", at: str = "") -> None:
        if not self._open:
            return
        record = {
            "at": at or rfc3339(self._clock.now()),
            "kind": kind,
            "change": change,
            "task": task,
            "data": dict(data),
        }
        try:
            self._out.write(json.dumps(record, ensure_ascii=True, default=str) + "\n")
            self._out.flush()
        except BrokenPipeError:
            self._open = False
