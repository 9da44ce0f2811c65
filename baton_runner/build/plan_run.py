"""``doit run`` over a graph with nodes of ours: one pass, reported as ``baton run`` reports; the user's tasks as doit does."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from doit.control import TaskControl
from doit.reporter import ConsoleReporter
from doit.task import Stream

from baton_runner.build.account import Account
from baton_runner.build.guard import refuse_in_assignment
from baton_runner.build.heading import header
from baton_runner.build.nodes import Node
from baton_runner.build.picking import picked, with_dependencies
from baton_runner.build.projection import write_projection
from baton_runner.build.report.output import Output, open_reporters
from baton_runner.build.report.values import Header
from baton_runner.build.runner import Limits, PlanRunner, Watcher
from baton_runner.build.startable import check_startable
from baton_runner.build.stopping import stop_on_signals
from baton_runner.build.watching import AccountWatcher, DoitWatcher
from baton_runner.build.works import BrokenWork

__all__ = ["DoitOptions", "PlanRun"]


@dataclass(frozen=True)
class DoitOptions:
    """What doit's command line says. ``reporter`` is a class of doit's, or an instance."""

    workers: int
    always: bool
    keep_going: bool
    single: bool
    reporter: Any
    verbosity: int | None = None
    force_verbosity: bool = False
    failure_verbosity: int = 0


class PlanRun:
    """One ``doit run``. ``words`` are what the command line or ``default_tasks`` name; None means everything."""

    def __init__(
        self, tasks: Sequence[Any], words: Sequence[str] | None, dep_manager: Any, options: DoitOptions, out: TextIO
    ) -> None:
        self._dep_manager = dep_manager
        self._options = options
        self._out = out
        self._picked = picked(tasks, words)
        if options.single:
            for task in self._with_members(tasks):
                if not task.has_subtask:
                    task.task_dep = []
        self._control = TaskControl(tasks)
        self._control.process(words)
        self._chosen = [task for task in with_dependencies(tasks, self._picked) if isinstance(task, Node)]
        self._items = [node.item for node in self._chosen if node.item is not None]
        self._controllers = tuple(dict.fromkeys(item.controller for item in self._items))

    def run(self) -> int:
        """Run it; doit's code: 0, 1 for failures, 2 for errors. Raises BatonError for what cannot start."""
        for node in self._chosen:
            if isinstance(node.work, BrokenWork):
                raise node.work.error
        if not self._controllers:  # nothing but an empty group of ours
            return 0
        project = self._controllers[0].project
        refuse_in_assignment(project)
        with stop_on_signals(project.cancel):
            try:
                return self._run()
            finally:
                for controller in self._controllers:
                    controller.end()

    def _run(self) -> int:
        if self._options.always:
            self._force()
        mended = [line for controller in self._controllers for line in controller.recover().lines]
        for controller in self._controllers:
            check_startable(controller, (item.task.key for item in self._items if item.controller is controller))
            write_projection(controller)
        with self._watched(mended) as (watcher, reporter):
            runner = PlanRunner(
                self._dep_manager,
                reporter,
                limits=Limits(self._options.workers, None if self._options.keep_going else 1),
                cancel=self._controllers[0].project.cancel,
                watcher=watcher,
                options={
                    "continue_": self._options.keep_going,
                    "always_execute": self._options.always,
                    "stream": Stream(self._options.verbosity, self._options.force_verbosity),
                },
            )
            code: int = runner.run_all(self._control.task_dispatcher())
        return code

    @contextlib.contextmanager
    def _watched(self, mended: Sequence[str]) -> Iterator[tuple[Watcher, Any]]:
        """Who is told of our nodes, and doit's reporter for the others: one that the user chose is told of both."""
        chosen = self._options.reporter
        if chosen is not ConsoleReporter:
            settings = {"failure_verbosity": self._options.failure_verbosity}
            reporter = chosen(self._out, settings) if isinstance(chosen, type) else chosen
            yield DoitWatcher(reporter), reporter
            return
        started = time.monotonic()
        project = self._controllers[0].project
        with open_reporters(Output(), os.environ, self._out, self._out) as ours:
            account = Account(ours)
            project.events.listen(ours.event)
            account.begin(self._items)
            ours.begin(self._header(len(account.kept)))
            for line in mended:
                account.warn(line)
            yield AccountWatcher(account), ConsoleReporter(self._out, {"failure_verbosity": 0})
            for controller in self._controllers:
                controller.refresh()
            seconds = time.monotonic() - started
            ours.end(account.summary(self._items, skip_held=False, seconds=seconds, interrupted=project.cancel.is_set))

    def _header(self, done: int) -> Header:
        return header(self._controllers, workers=self._options.workers, tasks=len(self._items), done=done)

    def _force(self) -> None:
        """``-a``: what is named is done again; what it waits for is not, for that costs what nobody asked for."""
        named = [node.item for node in self._with_members(list(self._control.tasks.values())) if isinstance(node, Node)]
        items = [item for item in named if item is not None]
        for controller in self._controllers:
            forced = frozenset(item.task.key for item in items if item.controller is controller)
            controller.force(forced)

    def _with_members(self, tasks: Sequence[Any]) -> list[Any]:
        """What is named, with the members of the groups among it."""
        by_name = {task.name: task for task in tasks}
        found: dict[str, Any] = {}
        pending = list(self._picked)
        while pending:
            task = pending.pop()
            if task.name in found:
                continue
            found[task.name] = task
            if task.has_subtask:
                pending += [by_name[name] for name in task.task_dep]
        return list(found.values())
