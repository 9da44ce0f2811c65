"""``baton tick``, ``untick``, ``redo``, ``forget`` and ``abandon``: what a person decides about tasks and changes."""

from typing import TYPE_CHECKING

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.marks import mark_of
from baton_runner.cli.output import faint, good, one_line, plural, say, wary
from baton_runner.cli.place import CHANGE, TASK, Place, command

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton_runner.controller.controller import Controller
    from baton_runner.controller.states import Assessment
    from baton_runner.plan.model import Task

__all__ = ["abandon_command", "forget_command", "redo_command", "tick_command", "untick_command"]

_NAMES = click.argument("names", metavar="ID...", nargs=-1, required=True, type=TASK)


@command(name="tick", short_help="Accept a task as it is, by hand.")
@_NAMES
def tick_command(place: Place, names: tuple[str, ...]) -> Exit:
    """Tick tasks by hand: they count as resolved, without proof.

    Takes back a decision to do a task again: its receipt, where it has one that fits, counts then.
    """
    from baton_runner.controller.decisions import accept, check_accept

    return _decided(place, names, check_accept, accept)


@command(name="untick", short_help="Take a tick back: the task is done again.")
@_NAMES
def untick_command(place: Place, names: tuple[str, ...]) -> Exit:
    """Blank the boxes of tasks; the next run does them again."""
    from baton_runner.controller.decisions import check_untick, untick

    return _decided(place, names, check_untick, untick)


@command(name="redo", short_help="Have a task done again, with a remark.")
@_NAMES
@click.option("-m", "--message", "feedback", default="", help="What the agent is told.", metavar="FEEDBACK")
def redo_command(place: Place, names: tuple[str, ...], feedback: str) -> Exit:
    """Have tasks done again by an agent, which is told FEEDBACK; their old proof stays until there is a new one."""
    from baton_runner.controller.decisions import check_redo, redo

    return _decided(place, names, check_redo, lambda controller, task: redo(controller, task, feedback))


@command(name="forget", short_help="Drop the proof of a task.")
@_NAMES
def forget_command(place: Place, names: tuple[str, ...]) -> Exit:
    """Drop the receipts of tasks: the next run does them as if for the first time. Their commits stay."""
    from baton_runner.controller.decisions import check_forget, forget

    return _decided(place, names, check_forget, forget)


def _decided(
    place: Place,
    names: tuple[str, ...],
    check: "Callable[[Controller, Task], None]",
    decide: "Callable[[Controller, Task], Assessment]",
) -> Exit:
    """Decide about every task that is named, or about none: a wrong name or a refusal comes before the first decision."""
    place.refuse_in_assignment()
    found = {(controller.change.id, task.key): controller for controller, task in map(place.task, names)}
    for (_, key), controller in found.items():
        check(controller, controller.task(key))
    for (change, key), controller in found.items():
        controller.refresh()  # the decision before this one may have moved a box of the same plan
        task = controller.task(key)
        _told(change, task, decide(controller, task))
    return Exit.DONE


@command(name="abandon", short_help="Give up a change; its work stays under refs.")
@click.argument("change", type=CHANGE)
def abandon_command(place: Place, change: str) -> Exit:
    """Give up a change: its branch and its receipts go, its boxes that baton ticked are blank again.

    What was merged stays under a ref, attempts under theirs, until `baton clean --refs`.
    """
    from baton_runner.controller.abandoning import abandon

    place.refuse_in_assignment()
    found = abandon(place.project, change)
    say(f"{good('abandoned')} {one_line(found.change)}: {plural(found.receipts, 'receipt')} dropped")
    if found.unticked:
        say(f"  {plural(found.unticked, 'task')} unticked")
    if found.kept is not None:
        say(f"  its merged work is {found.kept}")
    for problem in found.problems:
        say(f"  {wary('warning:')} {one_line(problem)}")
    return Exit.DONE


def _told(change: str, task: "Task", assessment: "Assessment") -> None:
    """What a task is now, in one line."""
    state = assessment.state
    name, word = one_line(task.name(change)), state.value.replace("_", " ")
    say(f"{mark_of(state)} {name}  {word}  {faint(one_line(assessment.reason))}")
