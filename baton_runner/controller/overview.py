"""The overview behind ``baton status``: what runs, who holds which lock, what is paused, kept, failed.

Reads files, refs and locks; takes nothing for longer than a moment and waits for nobody (promise 8).
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from baton_runner.agents.registry import KINDS, RECIPE
from baton_runner.base.clock import rfc3339
from baton_runner.base.errors import UsageError
from baton_runner.base.locks import Lock
from baton_runner.base.slug import slug
from baton_runner.controller.controller import Controller
from baton_runner.controller.pauses import Pauses
from baton_runner.controller.project import Project
from baton_runner.controller.states import State
from baton_runner.plan.changes import Change

__all__ = ["ChangeOverview", "FailedTask", "HeldLock", "KeptWorktree", "Overview", "RunningTask", "overview"]


@dataclass(frozen=True)
class RunningTask:
    """A task in work. ``attempt`` is 0 while it has no worktree; ``since`` is when its lock was taken, UTC."""

    id: str
    title: str
    owner: str
    since: str
    attempt: int
    worktree: str


@dataclass(frozen=True)
class FailedTask:
    """A task whose last attempt ended without proof, and what to look at."""

    id: str
    title: str
    state: str
    message: str
    command: str
    log: str
    worktree: str
    at: str


@dataclass(frozen=True)
class ChangeOverview:
    """One change: how many tasks are in which state, and the tasks that need a word. ``error``: its plan is broken."""

    id: str
    path: str
    states: Mapping[str, int]
    running: tuple[RunningTask, ...] = ()
    failed: tuple[FailedTask, ...] = ()
    branch: str = ""
    head: str | None = None
    complete: bool = False
    error: str = ""


@dataclass(frozen=True)
class HeldLock:
    """A lock somebody holds now; ``name`` is its path below the folder of locks."""

    name: str
    owner: str
    since: str


@dataclass(frozen=True)
class KeptWorktree:
    """A worktree left for a person, or by a process that died."""

    path: str
    task: str
    attempt: int
    since: str
    reason: str


@dataclass(frozen=True)
class Overview:
    """Everything; ``paused`` maps a kind of agent to when it may be asked again."""

    changes: tuple[ChangeOverview, ...]
    locks: tuple[HeldLock, ...]
    paused: Mapping[str, str]
    kept: tuple[KeptWorktree, ...]

    @property
    def settled(self) -> bool:
        """Whether every task of every change is finished, nothing is in work, and nothing waits or was kept."""
        words = {word for change in self.changes for word in change.states}
        done = {State.RESOLVED.value, State.ACCEPTED.value}
        errors = any(change.error for change in self.changes)
        return words <= done and not (errors or self.locks or self.paused or self.kept)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def overview(project: Project) -> Overview:
    """Look at a project."""
    pauses = Pauses(project.baton / "pauses", project.clock)
    paused = {kind: rfc3339(until) for kind in (*KINDS, RECIPE) if (until := pauses.until(kind)) is not None}
    return Overview(
        changes=tuple(_change(project, change) for change in project.changes),
        locks=tuple(_locks(project.repository.locks)),
        paused=paused,
        kept=tuple(_kept(project)),
    )


def _change(project: Project, change: Change) -> ChangeOverview:
    path = change.plan_path.relative_to(project.top).as_posix()
    try:
        controller = Controller(project, change)
    except UsageError as error:
        return ChangeOverview(change.id, path, {}, error=str(error))
    states = controller.states()
    counts = Counter(assessment.state.value for assessment in states.values())
    branch = controller.parts.branch
    return ChangeOverview(
        id=change.id,
        path=path,
        states={state.value: counts[state.value] for state in State if counts[state.value]},
        running=tuple(_running(controller)),
        failed=tuple(_failed(controller)),
        branch=branch.name,
        head=branch.tip(),
        complete=all(assessment.state.finished for assessment in states.values()) and controller.is_closed(),
    )


def _running(controller: Controller) -> Iterator[RunningTask]:
    at_work = {
        (each.record.purpose.change, each.record.purpose.key): each for each in controller.project.workspaces.in_use()
    }
    locks = controller.project.repository.locks / "tasks" / slug(controller.change.id)
    for task in controller.plan.tasks:
        owner = controller.facts(task.key).worker
        if not owner:
            continue
        label = Lock(locks / f"{slug(task.key)}.lock").owner()
        place = at_work.get((controller.change.id, task.key))
        yield RunningTask(
            id=task.id,
            title=task.title,
            owner=owner,
            since=_moment(label.started) if label is not None else "",
            attempt=place.record.purpose.attempt if place is not None else 0,
            worktree=str(place.slot.tree) if place is not None else "",
        )


def _failed(controller: Controller) -> Iterator[FailedTask]:
    for task in controller.plan.tasks:
        failure, state = controller.facts(task.key).failure, controller.assess(task.key).state
        if failure is None or state.finished:
            continue
        yield FailedTask(
            id=task.id,
            title=task.title,
            state=state.value,
            message=failure.message,
            command=failure.command,
            log=failure.log,
            worktree=failure.worktree if Path(failure.worktree or "/nowhere").exists() else "",
            at=failure.at,
        )


def _locks(folder: Path) -> Iterator[HeldLock]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        lock = Lock(path)
        if lock.is_taken():
            owner = lock.owner()
            name = path.relative_to(folder).as_posix().removesuffix(".lock")
            yield HeldLock(name, str(owner or "another process"), _moment(owner.started) if owner else "")


def _kept(project: Project) -> Iterator[KeptWorktree]:
    for each in (*project.workspaces.kept(), *project.workspaces.orphans()):
        purpose, record = each.record.purpose, each.record
        reason = record.reason or "its process died"
        yield KeptWorktree(
            str(each.slot.tree), f"{purpose.change}:{purpose.key}", purpose.attempt, record.since, reason
        )


def _moment(seconds: float) -> str:
    return rfc3339(dt.datetime.fromtimestamp(seconds, dt.UTC))
