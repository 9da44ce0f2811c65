"""``baton list``: the tasks of the plans, section by section, each with the mark of its state."""

from typing import TYPE_CHECKING

import click

from baton_runner.cli.answers import answered
from baton_runner.cli.exits import Exit
from baton_runner.cli.marks import mark_of
from baton_runner.cli.output import bad, columns, faint, one_line, plural, say, strong, verbatim, wary
from baton_runner.cli.place import CHANGE, Place, command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from baton_runner.controller.listing import ListedChange, ListedTask

__all__ = ["list_command"]


@command(name="list", short_help="Show the tasks and their states.")
@click.argument("names", metavar="[CHANGE]...", nargs=-1, type=CHANGE)
@click.option("--all", "-a", "everything", is_flag=True, help="Show finished tasks too.")
@click.option("--verify", is_flag=True, help="Show the commands that prove each task.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def list_command(place: Place, names: tuple[str, ...], *, everything: bool, verify: bool, as_json: bool) -> Exit:
    """Show the tasks of one change, of several, or of all.

    Works while a run is going on. The JSON always holds every task, with its verification.
    """
    seen: list[ListedChange] = []

    def show() -> bool:
        from baton_runner.controller.listing import list_changes

        changes = tuple(place.change(name) for name in names) or place.project.changes
        if not changes:
            place.change(None)  # says where plans are looked for
        seen.extend(list_changes(place.project, changes))
        if as_json:
            _print_json(seen)
        else:
            _print_all(seen, everything=everything, verify=verify)
        return all(task.state.finished for change in seen for section in change.sections for task in section.tasks)

    shape = (f"all={everything}", f"verify={verify}", f"json={as_json}")
    end = answered(place, ("list", *names, *shape), show)
    return Exit.USAGE if any(change.error for change in seen) else end


def _print_json(listed: "Sequence[ListedChange]") -> None:
    import json

    verbatim(json.dumps({"changes": [change.to_json() for change in listed]}, indent=2))


def _print_all(listed: "Sequence[ListedChange]", *, everything: bool, verify: bool) -> None:
    for number, change in enumerate(listed):
        if number:
            say()
        _print(change, everything=everything, verify=verify)


def _print(change: "ListedChange", *, everything: bool, verify: bool) -> None:
    counts = change.counts
    boxes = f"{counts.done} of {plural(counts.total, 'box', 'boxes')} ticked" + (
        f", {counts.held} held" if counts.held else ""
    )
    say(f"{strong(one_line(change.id))}  {faint(one_line(change.path))}" + ("" if change.error else f"  {boxes}"))
    if change.error:
        say(f"  {bad('error:')} {one_line(change.error)}")
    for section in change.sections:
        shown = [task for task in section.tasks if everything or not task.state.finished]
        hidden = len(section.tasks) - len(shown)
        note = faint(f"  {hidden} finished") if hidden else ""
        say(f"\n{strong(one_line(section.section.title) or 'Tasks')}{note}")
        for text in columns([_row(task) for task in shown], indent="  "):
            say(text)
            task = shown.pop(0)
            for found in _proof(task) if verify else ():
                say(found)
    for warning in change.warnings:
        say(f"{wary('warning:')} {one_line(warning)}")


def _row(task: "ListedTask") -> tuple[str, str, str, str]:
    state = task.state
    waits = (
        f"  {faint(one_line('waits for ' + ', '.join(task.assessment.blockers)))}"
        if task.assessment.blockers and not state.finished
        else ""
    )
    return mark_of(state), one_line(task.task.id), state.value.replace("_", " "), one_line(task.task.title) + waits


def _proof(task: "ListedTask") -> "Iterator[str]":
    """What runs for a task: its own recipe, then the commands that prove it."""
    for recipe in task.task.recipe:
        yield f"       {faint('run')}     {one_line(recipe)}"
    for proof in task.verify:
        yield f"       {faint('verify')}  {one_line(proof)}"
    if not task.verify:
        yield f"       {wary('no verification command')}"
