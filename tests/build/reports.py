"""Runs as values, for the tests of what is told of them."""

from baton_runner.base.processes import Reason
from baton_runner.build.report.values import ClosingEnd, Header, Named, RunSummary, TaskEnd, Unfinished
from baton_runner.controller.closing import Closing
from baton_runner.controller.results import Result, Verdict
from baton_runner.controller.verification import Check, CheckResult
from baton_runner.evidence.decisions import Failure
from baton_runner.evidence.receipt import Work

__all__ = ["FAILED", "HEADER", "RED", "RESOLVED", "SUMMARY", "end"]

HEADER = Header(("add-login",), ("main at 1a2b3c4d",), "command", 4, tasks=3, done=1)


def end(verdict: Verdict, *, title: str = "Build the form", failure: Failure | None = None, **work: float) -> TaskEnd:
    """The end of task add-login:1.2 after 12.34 seconds."""
    message = failure.message if failure else ""
    done = Work("command", turns=int(work.get("turns", 0)), cost_usd=work.get("cost_usd"))
    return TaskEnd("1.2", title, Result("add-login", "1.2", verdict, message, failure, done, 1, 12.34))


RESOLVED = end(Verdict.RESOLVED, turns=2, cost_usd=0.5)
FAILED = end(
    Verdict.FAILED,
    failure=Failure(
        "red",
        "`make test` is red on the merged tree (exit 2)",
        1,
        "",
        command="make test",
        output="".join(f"line {number}\n" for number in range(1, 31)),
        log="/logs/verify-1.log",
        worktree="/worktrees/1",
    ),
)
RED = ClosingEnd(
    "add-login",
    Closing(
        1,
        1,
        {"make lint": ("1.1", "1.2")},
        (
            CheckResult(Check("make test", "label", 60.0), green=True),
            CheckResult(
                Check("make lint", "label", 60.0), green=False, code=1, reason=Reason.EXITED, tail="bad style\n"
            ),
        ),
    ),
)
SUMMARY = RunSummary(
    ends=(RESOLVED, FAILED),
    closings=(RED,),
    unfinished=(Unfinished("add-login", "2.1", "Ask them", "manual", "for people only"),),
    kept=(Named("add-login", "1.1", "Begin"),),
    warnings=("tasks.md:3: odd; mend it",),
    seconds=75.0,
)
