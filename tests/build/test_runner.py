"""The runner: plan order, limits, resources, tasks in work elsewhere, stopping; and doit's own tasks beside ours."""

# ruff: noqa: ARG002 - the stand-ins have the signatures of what they stand for

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from doit.control import TaskControl
from doit.reporter import ZeroReporter
from doit.task import Task

from baton_runner.base.cancel import Cancel
from baton_runner.base.errors import ActionNeeded
from baton_runner.build.nodes import Node
from baton_runner.build.runner import Limits, PlanRunner
from baton_runner.controller.results import Result, Verdict
from baton_runner.evidence.decisions import Failure


class Database:
    def close(self) -> None: ...

    def remove_success(self, task: Any) -> None: ...

    def save_success(self, task: Any) -> None: ...

    def get_status(self, task: Any, tasks: Any) -> Any:
        return type("Status", (), {"status": "run"})

    def status_is_ignore(self, task: Any) -> None: ...


@dataclass
class Scripted:
    """A node's work that ends as the script says; one verdict for each time it is asked."""

    name: str
    log: list[str]
    verdicts: list[Verdict] = field(default_factory=lambda: [Verdict.RESOLVED])
    resources: tuple[str, ...] = ()
    during: Callable[[], None] = lambda: None
    failure: Failure | None = None
    done: bool = False

    def is_done(self) -> bool:
        return self.done

    def attempt(self) -> Result:
        self.log.append(self.name)
        self.during()
        return Result("c", self.name, self.verdicts.pop(0), "", self.failure)


@dataclass
class Watched:
    """Remembers what the runner told."""

    ends: dict[str, Verdict] = field(default_factory=dict)
    waits: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def current(self, node: Node) -> None:
        self.kept.append(node.name)

    def waiting(self, node: Node, result: Result) -> None:
        self.waits.append(node.name)

    def ended(self, node: Node, result: Result) -> None:
        self.ends[node.name] = result.verdict


@dataclass
class Bench:
    """Nodes to run, and what came of it."""

    limits: Limits = field(default_factory=lambda: Limits(1))
    log: list[str] = field(default_factory=list)
    cancel: Cancel = field(default_factory=Cancel)
    told: Watched = field(default_factory=Watched)
    tasks: list[Any] = field(default_factory=list)

    def add(self, name: str, *, after: Iterable[str] = (), **script: Any) -> Scripted:
        work = Scripted(name, self.log, **script)
        self.tasks.append(Node(name, work, doc=name, task_dep=after))
        return work

    def run(self, clock: Callable[[], float] = time.monotonic) -> int:
        control = TaskControl(self.tasks)
        control.process(None)
        runner = PlanRunner(
            Database(), ZeroReporter(None, {}), limits=self.limits, cancel=self.cancel, watcher=self.told, clock=clock
        )
        code: int = runner.run_all(control.task_dispatcher())
        return code


def test_tasks_that_a_gate_frees_start_in_plan_order() -> None:
    """doit keeps the freed ones in a set, whose order differs from run to run."""
    bench = Bench()
    bench.add("gate")
    names = [f"t{number}" for number in range(1, 30)]
    for name in names:
        bench.add(name, after=["gate"])
    assert bench.run() == 0
    assert bench.log == ["gate", *names]


def test_what_is_up_to_date_is_skipped_and_frees_what_waits_for_it() -> None:
    bench = Bench()
    bench.add("a", done=True)
    bench.add("b", after=["a"])
    assert bench.run() == 0
    assert (bench.log, bench.told.kept) == (["b"], ["a"])


def test_a_failure_keeps_what_waits_for_it_and_nothing_else() -> None:
    bench = Bench()
    bench.add("a", verdicts=[Verdict.FAILED])
    bench.add("b", after=["a"])
    bench.add("c")
    assert bench.run() == 1
    assert bench.log == ["a", "c"]
    assert bench.told.ends == {"a": Verdict.FAILED, "c": Verdict.RESOLVED}


def test_after_so_many_failures_nothing_more_starts() -> None:
    bench = Bench(Limits(1, failures=2))
    for name in "abcd":
        bench.add(name, verdicts=[Verdict.FAILED])
    assert bench.run() == 1
    assert bench.log == ["a", "b"]


def test_no_more_than_the_limit_run_at_a_time_and_as_many_as_it_allows() -> None:
    meeting = threading.Barrier(3, timeout=60)
    running: list[int] = []
    now = 0
    lock = threading.Lock()

    def meet() -> None:
        nonlocal now
        with lock:
            now += 1
            running.append(now)
        meeting.wait()
        with lock:
            now -= 1

    bench = Bench(Limits(3))
    for name in "abcdef":
        bench.add(name, during=meet)
    assert bench.run() == 0
    assert max(running) == 3


def test_one_resource_one_user_while_others_fill_the_workers() -> None:
    """The second user of a resource waits without holding a worker: the third task starts at once."""
    third_ran = threading.Event()
    using: list[str] = []

    def use() -> None:
        using.append("in")
        assert using == ["in"]
        assert third_ran.wait(60)
        using.remove("in")

    bench = Bench(Limits(2))
    bench.add("first", resources=("db",), during=use)
    bench.add("second", resources=("db",), during=use)
    bench.add("third", during=third_ran.set)
    assert bench.run() == 0
    assert bench.log == ["first", "third", "second"]


def test_a_task_in_work_elsewhere_is_asked_again_and_holds_no_worker() -> None:
    bench = Bench(Limits(1))
    bench.add("a", verdicts=[Verdict.DEFERRED, Verdict.DEFERRED, Verdict.CURRENT])
    bench.add("b")
    bench.add("after", after=["a"])
    assert bench.run() == 0
    assert bench.log == ["a", "b", "a", "a", "after"]
    assert bench.told.waits == ["a"]
    assert bench.told.ends["a"] is Verdict.CURRENT


def test_a_request_to_stop_starts_nothing_more_and_waits_for_what_runs() -> None:
    bench = Bench(Limits(1))
    bench.add("a", during=bench.cancel.set)
    bench.add("b")
    bench.run()
    assert bench.log == ["a"]
    assert bench.told.ends == {"a": Verdict.RESOLVED}


def test_a_request_to_stop_ends_the_wait_for_another_process() -> None:
    bench = Bench(Limits(1))
    bench.add("a", verdicts=[Verdict.DEFERRED] * 1000)
    bench.add("b", during=bench.cancel.set)
    bench.run()
    assert bench.log.count("a") < 1000
    assert "a" not in bench.told.ends


def test_the_budget_of_a_run_ends_it() -> None:
    bench = Bench(Limits(1))
    failure = Failure("budget", "budget.run_usd is reached (1 of 1 spent or reserved)", 1, "")
    bench.add("a", verdicts=[Verdict.FAILED], failure=failure)
    bench.add("b")
    assert bench.run() == 1
    assert bench.log == ["a"]


def test_the_budget_of_a_task_does_not() -> None:
    bench = Bench(Limits(1))
    failure = Failure("budget", "budget.task_usd is reached (1 of 1 spent or reserved)", 1, "")
    bench.add("a", verdicts=[Verdict.FAILED], failure=failure)
    bench.add("b")
    assert bench.run() == 1
    assert bench.log == ["a", "b"]


def test_an_error_of_ours_in_a_worker_ends_the_others_first_and_is_raised() -> None:
    """Nothing is left running when the run breaks."""
    bench = Bench(Limits(2))
    ended = threading.Event()

    def wait() -> None:
        assert bench.cancel.wait(60)
        ended.set()

    def fail() -> None:
        raise LookupError("a defect")

    bench.add("a", during=wait)
    bench.add("b", during=fail)
    with pytest.raises(LookupError, match="a defect"):
        bench.run()
    assert ended.is_set()


def test_what_only_a_person_can_mend_ends_the_run_and_no_work_that_runs() -> None:
    """The base is red: nothing more starts, what another worker does is not thrown away, and the reason comes out."""
    bench = Bench(Limits(2))
    refusing: queue.SimpleQueue[threading.Thread] = queue.SimpleQueue()

    def wait() -> None:
        refusing.get(timeout=60).join(60)

    def refuse() -> None:
        refusing.put(threading.current_thread())
        raise ActionNeeded("the base is red")

    bench.add("a", during=wait)
    bench.add("b", during=refuse)
    bench.add("c")
    with pytest.raises(ActionNeeded, match="the base is red"):
        bench.run()
    assert not bench.cancel.is_set
    assert (bench.log, bench.told.ends) == (["a", "b"], {"a": Verdict.RESOLVED})


def test_a_users_task_beside_ours_runs_as_doit_runs_it() -> None:
    bench = Bench()
    bench.add("a")
    bench.tasks.append(Task("users", [lambda: bench.log.append("users")], task_dep=["a"], io={"capture": False}))
    bench.tasks.append(Task("red", [lambda: False], task_dep=["users"], io={"capture": False}))
    assert bench.run() == 1
    assert bench.log == ["a", "users"]


def test_the_wait_for_another_process_ends() -> None:
    """A process that stands still for ever keeps its lock for ever; a run says so and ends."""
    hours = itertools.count(0.0, 3600.0)
    bench = Bench(Limits(1))
    bench.add("a", verdicts=[Verdict.DEFERRED] * 1000)
    bench.add("after", after=["a"])
    assert bench.run(clock=lambda: next(hours)) == 1
    assert bench.told.ends == {"a": Verdict.DEFERRED}
    assert "after" not in bench.log


def test_as_an_action_of_doits_own_runner_a_node_waits_for_its_end() -> None:
    bench = Bench()
    work = bench.add("a", verdicts=[Verdict.FAILED])
    node = bench.tasks[0]
    assert "failed" in str(node.act())
    work.verdicts.append(Verdict.RESOLVED)
    assert node.act() is None
