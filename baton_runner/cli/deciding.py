"""``baton tick``, ``untick``, ``redo``, ``forget`` and ``abandon``: what a person decides about tasks and changes."""

from typing import TYPE_CHECKING

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.marks import mark_of
from baton_runner.cli.output import faint, good, one_line, plural, say, wary
from baton_runner.cli.place import CHANGE, TASK, Place, command

if TYPE_CHECKING:
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
    from baton_runner.controller.decisions import accept

    place.refuse_in_assignment()
    for name in names:
        controller, task = place.task(name)
        _told(controller.change.id, task, accept(controller, task))
    return Exit.DONE


@command(name="untick", short_help="Take a tick back: the task is done again.")
@_NAMES
def untick_command(place: Place, names: tuple[str, ...]) -> Exit:
    """Blank the boxes of tasks; the next run does them again."""
    from baton_runner.controller.decisions import untick

    place.refuse_in_assignment()
    for name in names:
        controller, task = place.task(name)
        _told(controller.change.id, task, untick(controller, task))
    return Exit.DONE


@command(name="redo", short_help="Have a task done again, with a remark.")
@_NAMES
@click.option("-m", "--message", "feedback", default="", help="What the agent is told.", metavar="FEEDBACK")
def redo_command(place: Place, names: tuple[str, ...], feedback: str) -> Exit:
    """Have tasks done again by an agent, which is told FEEDBACK; their old proof stays until there is a new one."""
    from baton_runner.controller.decisions import redo

    place.refuse_in_assignment()
    for name in names:
        controller, task = place.task(name)
        _told(controller.change.id, task, redo(controller, task, feedback))
    return Exit.DONE


@command(name="forget", short_help="Drop the proof of a task.")
@_NAMES
def forget_command(place: Place, names: tuple[str, ...]) -> Exit:
    """Drop the receipts of tasks: the next run does them as if for the first time. Their commits stay."""
    from baton_runner.controller.decisions import forget

    place.refuse_in_assignment()
    for name in names:
        controller, task = place.task(name)
        _told(controller.change.id, task, forget(controller, task))
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
