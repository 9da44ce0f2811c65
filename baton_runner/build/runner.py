"""doit's thread runner, taught our nodes: plan order, a limit, resources, and tasks that another process has in work.

doit's dispatcher says what may start; what may start is worked on in plan order, ``workers`` at a time. A task that
another process has claimed waits without holding a worker and is asked again; a request to stop starts nothing more and
waits for what runs, which is being ended by the same request. Tasks that are not ours run as doit runs them.
"""

import heapq
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from doit.runner import ERROR, FAILURE, SUCCESS, MThreadRunner

from baton_runner.base.cancel import Cancel
from baton_runner.base.errors import BatonError
from baton_runner.build.nodes import Node
from baton_runner.controller.results import Result, Verdict

__all__ = ["Limits", "PlanRunner", "Watcher"]

_POLL_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 24 * 3600.0
_RUN_BUDGET = "budget.run"


class Watcher(Protocol):
    """Who is told about our nodes, in the thread that runs the runner."""

    def current(self, node: Node) -> None:
        """It was up to date."""
        ...

    def waiting(self, node: Node, result: Result) -> None:
        """Another process has it; it is asked again later. Told once."""
        ...

    def ended(self, node: Node, result: Result) -> None:
        """It came to an end."""
        ...


@dataclass(frozen=True)
class Limits:
    """``workers`` at a time; no new task after so many failures, None for no limit."""

    workers: int
    failures: int | None = None


@dataclass(frozen=True)
class _Done:
    """The end of a node's work in a worker: a Result of ours, doit's failure or None, or what was raised."""

    node: Any
    value: Any = None
    raised: BaseException | None = None


class PlanRunner(MThreadRunner):  # type: ignore[misc] # doit is untyped
    """Runs a dispatcher's tasks to their end. ``run_all`` returns doit's code: 0, 1 for failures, 2 for errors."""

    def __init__(
        self,
        dep_manager: Any,
        reporter: Any,
        *,
        limits: Limits,
        cancel: Cancel,
        watcher: Watcher,
        options: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(dep_manager, reporter, num_process=limits.workers, **{"continue_": True, **(options or {})})
        self._limits = limits
        self._cancel = cancel
        self._watcher = watcher
        self._clock = clock
        self._over: queue.SimpleQueue[_Done | None] = queue.SimpleQueue()
        self._order: dict[str, int] = {}
        self._startable: list[tuple[int, str, Any]] = []
        self._parked: list[tuple[int, str, Any]] = []
        self._asked_again: dict[str, float] = {}
        self._waited_since: dict[str, float] = {}
        self._running: dict[str, Any] = {}
        self._failures = 0
        self._ends_the_run: BatonError | None = None
        self.final_result: int = SUCCESS

    def run_tasks(self, task_dispatcher: Any) -> None:
        """Start what may start, note what ends, until nothing runs and nothing can start.

        A BatonError raised by a node (the base is red, say) starts nothing more, lets what runs end, and is raised then.
        Anything else that is raised is a defect: what runs is ended first.
        """
        self._run_tasks_init(task_dispatcher)
        self._order = {name: position for position, name in enumerate(task_dispatcher.tasks)}
        leave = self._cancel.subscribe(lambda: self._over.put(None))
        try:
            self._advance(None)
            while self._start_what_can() or self._running or self._waits():
                self._note(self._next_end())
        finally:
            self._cancel_unless_idle()
            leave()
        if self._ends_the_run is not None:
            raise self._ends_the_run

    # -- what doit asks

    def select_task(self, node: Any, tasks_dict: Mapping[str, Any]) -> bool:
        """Whether a node is to be worked on; what is up to date or cannot start is over at once."""
        task = node.task
        if not isinstance(task, Node):
            selected: bool = super().select_task(node, tasks_dict)
            return selected
        self.reporter.get_status(task)
        if node.bad_deps or node.ignored_deps:
            node.run_status = "up-to-date" if task.is_done() else "failure"
        elif task.work is None or task.is_done():
            node.run_status = "up-to-date"
            self._watcher.current(task)
        else:
            node.run_status = "run"
        return bool(node.run_status == "run")

    # -- inside

    @property
    def _stops(self) -> bool:
        """Whether nothing new may start."""
        reached = self._limits.failures is not None and self._failures >= self._limits.failures
        return bool(self._stop_running) or self._cancel.is_set or reached

    def _advance(self, completed: Any) -> None:
        """Tell doit that a node is over and take every node that may start."""
        node = completed
        while True:
            try:
                node = self.task_dispatcher.generator.send(node)
            except StopIteration:
                return
            if node == "hold on":
                return
            if self.select_task(node, self.tasks):
                heapq.heappush(self._startable, (self._order[node.task.name], node.task.name, node))
                node = None

    def _start_what_can(self) -> bool:
        """Fill the workers in plan order; say whether something was started."""
        if self._stops:
            return False
        self._unpark()
        started = False
        while self._startable and len(self._running) < self._limits.workers:
            entry = heapq.heappop(self._startable)
            if self._resources(entry[2]) & self._resources_in_use():
                self._parked.append(entry)
                continue
            self._start(entry[2])
            started = True
        return started

    def _unpark(self) -> None:
        now, used = self._clock(), self._resources_in_use()
        parked, self._parked = self._parked, []
        for entry in parked:
            due = self._asked_again.get(entry[1], 0.0) <= now
            if due and not self._resources(entry[2]) & used:
                heapq.heappush(self._startable, entry)
            else:
                self._parked.append(entry)

    def _waits(self) -> bool:
        """Whether something waits that will be asked again."""
        return bool(self._startable or self._parked) and not self._stops

    def _start(self, node: Any) -> None:
        self._running[node.task.name] = node
        threading.Thread(target=self._work, args=(node,), name=node.task.name, daemon=True).start()

    def _work(self, node: Any) -> None:
        """In a worker's thread: do the node's work and hand over how it ended."""
        task = node.task
        try:
            ours = isinstance(task, Node) and task.work is not None
            value = task.work.attempt() if ours else self.execute_task(task)
        except BaseException as error:  # noqa: BLE001 - raised again in the runner's thread
            self._over.put(_Done(node, raised=error))
        else:
            self._over.put(_Done(node, value))

    def _next_end(self) -> _Done | None:
        """Wait until a worker ends, somebody asks to stop, or a waiting task is to be asked again."""
        due = [self._asked_again[name] for _, name, _ in self._parked if name in self._asked_again]
        free = len(self._running) < self._limits.workers
        timeout = max(min(due) - self._clock(), 0.0) if due and free and not self._stops else None
        try:
            return self._over.get(timeout=timeout)
        except queue.Empty:
            return None

    def _note(self, done: _Done | None) -> None:
        if done is None:
            return
        node = self._running.pop(done.node.task.name)
        if isinstance(done.raised, BatonError):
            self._ends_the_run = self._ends_the_run or done.raised
            self._stop_running = True
            return
        if done.raised is not None:
            raise done.raised
        if isinstance(node.task, Node):
            self._note_ours(node, done.value)
        else:
            self._note_foreign(node, done.value)

    def _note_ours(self, node: Any, result: Result) -> None:
        if result.verdict is Verdict.DEFERRED:
            if self._defer(node, result):
                return
            result = replace(result, message=f"{result.message}, for more than {_LONGEST_WAIT_SECONDS / 3600:.0f} h")
        node.run_status = "successful" if result.verdict.good else "failure"
        if result.verdict in {Verdict.FAILED, Verdict.CONFLICT}:
            self._failures += 1
        if not result.verdict.good:
            self.final_result = FAILURE if self.final_result != ERROR else ERROR
        if result.failure is not None and result.failure.kind == "budget" and _RUN_BUDGET in result.failure.message:
            self._stop_running = True
        self._watcher.ended(node.task, result)
        self._advance(node)

    def _note_foreign(self, node: Any, failure: Any) -> None:
        self.process_task_result(node, failure)
        if node.run_status == "failure":
            self._failures += 1
        self._advance(node)

    def _defer(self, node: Any, result: Result) -> bool:
        """Ask a task that another process has again later, unless it has been waited for too long."""
        name, now = node.task.name, self._clock()
        if name not in self._waited_since:
            self._waited_since[name] = now
            self._watcher.waiting(node.task, result)
        if now - self._waited_since[name] > _LONGEST_WAIT_SECONDS:
            return False
        self._asked_again[name] = now + _POLL_SECONDS
        self._parked.append((self._order[name], name, node))
        return True

    def _resources(self, node: Any) -> frozenset[str]:
        work = getattr(node.task, "work", None)
        return frozenset(work.resources) if work is not None else frozenset()

    def _resources_in_use(self) -> frozenset[str]:
        return frozenset().union(*(self._resources(node) for node in self._running.values()))

    def _cancel_unless_idle(self) -> None:
        """When an error ends the run, end what the workers do and wait for them: nothing is left running."""
        if self._running:
            self._cancel.set()
        while self._running:
            done = self._over.get()
            if done is not None:
                self._running.pop(done.node.task.name)
