"""``baton plan``: rewriting a plan."""

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.output import columns, good, one_line, plural, say, wary
from baton_runner.cli.place import CHANGE, Place, command

__all__ = ["plan_command"]


@click.group(name="plan", short_help="Rewrite a plan: number its tasks.")
def plan_command() -> None:
    """Rewrite a plan."""


@command(name="number", short_help="Give every task an id of its own.")
@click.argument("change", required=False, type=CHANGE)
def number_command(place: Place, change: str | None) -> Exit:
    """Write an id into every task that has none or shares one; receipts follow their tasks."""
    from baton_runner.controller.renumbering import renumber

    place.refuse_in_assignment()
    controller = place.controller(change)
    done = renumber(controller)
    if not done.ids:
        say("every task has an id of its own")
        return Exit.DONE
    for text in columns((one_line(old), "->", one_line(new)) for old, new in done.ids.items()):
        say(text)
    say(f"{good('numbered')} {plural(len(done.ids), 'task')} of {one_line(controller.change.id)}")
    if done.again:
        say(f"{wary('note:')} the next run looks again at {one_line(', '.join(done.again))}")
    return Exit.DONE


plan_command.add_command(number_command)
