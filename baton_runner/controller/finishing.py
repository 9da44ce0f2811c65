"""Finish a change: its verified work reaches the user's own branch, when the user asks.

Nothing reaches that branch that was not verified: it is moved forward to the integration branch's tip; where it has
moved on itself, the merge of the two is made beside it, verified, and then it is moved forward to that merge.
"""

from dataclasses import dataclass
from enum import Enum

from baton_runner.base.errors import ActionNeeded, NothingCollected
from baton_runner.controller.controller import Controller
from baton_runner.controller.verification import Check
from baton_runner.repo.finish import Landing, MergeConflict, finish
from baton_runner.repo.objects import Conflict, Signing

__all__ = ["Extent", "Finished", "finish_change"]

_SHOWN = 5


class Extent(Enum):
    """How much of a change must be done before it may be finished."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Whatever is integrated; all of it is verified, but tasks are open."""


@dataclass(frozen=True)
class Finished:
    """Where the work landed, and which tasks stay open."""

    landing: Landing
    open: tuple[str, ...]

    @property
    def moved(self) -> bool:
        """Whether the branch did not hold all of it already."""
        return self.landing.old != self.landing.new


def finish_change(controller: Controller, extent: Extent, into: str | None = None) -> Finished:
    """Bring the integration branch into the branch the change started from, or into the branch called ``into``.

    Raises NothingCollected when nothing is integrated; ActionNeeded when tasks are open, a check is not known to be
    green, paths it would touch are dirty, or the branches conflict. Branch and files are as before then.
    """
    parts = controller.parts
    still_open = _open(controller)
    if extent is Extent.COMPLETE:
        _refuse_incomplete(controller, still_open)
    elif parts.branch.tip() is not None:
        _refuse_red(controller)
    with parts.integrator.exclusive(f"finishing {parts.change.id}"):
        tip = parts.branch.tip()
        if tip is None:
            raise _nothing(controller, still_open)
        target = _target(controller, into)
        source = _source(controller, target, tip)
        signing = Signing.USER if parts.policy.settings.integration.sign else Signing.NONE
        landing = finish(parts.objects, source=source, branch=target, message=_message(controller), signing=signing)
    parts.events.emit(parts.change.id, "", "change.finished", branch=target, old=landing.old, new=landing.new)
    return Finished(landing, still_open)


def _nothing(controller: Controller, still_open: tuple[str, ...]) -> NothingCollected:
    """Why there is no integration branch: nothing was run yet, or every task was ticked by hand and nothing had to be."""
    if still_open:
        return NothingCollected("nothing is integrated yet", where=controller.plan.path, todo="run baton run first")
    return NothingCollected(
        "every task was accepted by hand, so there is nothing of ours to merge", where=controller.plan.path
    )


def _open(controller: Controller) -> tuple[str, ...]:
    """The ids of the tasks that keep the change from being complete."""
    states = controller.states()
    tasks = controller.plan.tasks
    owed = (task for task in tasks if not (task.follow_up or task.optional))
    return tuple(task.id for task in owed if not states[task.key].state.finished)


def _refuse_incomplete(controller: Controller, still_open: tuple[str, ...]) -> None:
    partial = "or bring what is done with --partial"
    if still_open:
        more = f" and {len(still_open) - _SHOWN} more" if len(still_open) > _SHOWN else ""
        raise ActionNeeded(
            f"{_counted(len(still_open))} not finished: {', '.join(still_open[:_SHOWN])}{more}",
            where=controller.plan.path,
            todo=f"run baton run, {partial}",
            code="incomplete",
        )
    hidden = [str(box.line) for box in controller.plan.hidden if box.mark.value != "resolved"]
    if hidden:
        raise ActionNeeded(
            f"holds open boxes inside a fence or comment, line {', '.join(hidden[:_SHOWN])}",
            where=controller.plan.path,
            todo=f"tick or remove them, {partial}",
            code="incomplete",
        )
    if not controller.is_closed():
        raise ActionNeeded(
            "not every check is known to be green on the integration branch",
            where=controller.change.id,
            todo=f"run baton run, {partial}",
            code="not_closed",
        )


def _refuse_red(controller: Controller) -> None:
    """Whatever is on the branch, and whoever put it there, reaches the user's only when the finished tasks' checks are green."""
    closing = controller.close()
    if not closing.green:
        listed = "; ".join(f"`{command}` ({', '.join(ids)})" for command, ids in closing.red.items())
        raise ActionNeeded(
            f"is red on the integration branch: {listed}",
            where=controller.change.id,
            todo="repair the branch, or redo these tasks, then finish again; nothing was touched",
            code="not_closed",
        )


def _counted(tasks: int) -> str:
    return "1 task is" if tasks == 1 else f"{tasks} tasks are"


def _target(controller: Controller, into: str | None) -> str:
    """The full name of the branch to move."""
    if into is not None:
        return into if into.startswith("refs/") else f"refs/heads/{into}"
    base = controller.parts.branch.base()
    if base is None or not base.base_branch:
        raise ActionNeeded(
            "the change started from no branch (HEAD was detached)",
            where=controller.change.id,
            todo="name the branch to finish into with --into",
            code="no_base_branch",
        )
    return base.base_branch


def _source(controller: Controller, target: str, tip: str) -> str:
    """The commit to move the branch to: the tip, or a verified merge with what the branch has besides."""
    parts = controller.parts
    old = parts.refs.get(target)
    if old is None or parts.objects.is_ancestor(old, tip) or parts.objects.is_ancestor(tip, old):
        return tip
    merged = parts.objects.merge(old, tip)
    if isinstance(merged, Conflict):
        raise MergeConflict(target, merged)
    signing = Signing.USER if parts.policy.settings.integration.sign else Signing.NONE
    commit = parts.objects.commit(merged.tree, [old, tip], _message(controller), signing=signing)
    logs = parts.layout.change_logs("finish")
    results = parts.verifier.verify(commit, merged.tree, _checks(controller), logs, first_red_ends=False)
    red = [result for result in results if not result.green]
    if red:
        listed = "; ".join(f"`{result.check.command}` ({result.said}, see {result.log})" for result in red)
        raise ActionNeeded(
            f"red when merged with the integration branch: {listed}",
            where=target,
            todo=f"merge {target.removeprefix('refs/heads/')} into {parts.branch.name}, repair it there, then finish again",
            code="merge_red",
        )
    return commit


def _checks(controller: Controller) -> tuple[Check, ...]:
    """The distinct commands of every finished task."""
    tasks = (task for task in controller.plan.tasks if controller.assess(task.key).state.finished)
    return tuple(dict.fromkeys(check for task in tasks for check in controller.checks(task)))


def _message(controller: Controller) -> str:
    change = controller.change.id
    return f"Merge change {change}\n\nBaton-Change: {change}\n"
