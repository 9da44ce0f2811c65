"""``baton status``, ``why`` and ``diff``: what goes on, why a task is what it is, what it changed."""

import sys
from typing import TYPE_CHECKING

import click

from baton_runner.cli.answers import answered
from baton_runner.cli.exits import Exit
from baton_runner.cli.marks import mark_of
from baton_runner.cli.output import bad, columns, faint, good, one_line, say, strong, verbatim, wary
from baton_runner.cli.place import TASK, Place, command

if TYPE_CHECKING:
    from baton_runner.controller.explaining import Compared
    from baton_runner.controller.overview import ChangeOverview, Overview

__all__ = ["diff_command", "status_command", "why_command"]

_DIGEST = len("sha256:") + 12


@command(name="status", short_help="Show what runs, what waits and what failed.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def status_command(place: Place, *, as_json: bool) -> Exit:
    """Show what runs and who holds which lock, pauses, kept worktrees, and the last failures with their reasons.

    Works while a run is going on; waits for nobody.
    """

    def show() -> bool:
        from baton_runner.controller.overview import overview

        seen = overview(place.project)
        if as_json:
            import json

            verbatim(json.dumps(seen.to_json(), indent=2))
        else:
            _show(seen)
        return seen.settled

    return answered(place, ("status", f"json={as_json}"), show)


def _show(seen: "Overview") -> None:
    for number, change in enumerate(seen.changes):
        if number:
            say()
        _show_change(change)
    if not seen.changes:
        say("no open change")
    _show_rest(seen)


def _show_change(change: "ChangeOverview") -> None:
    if change.error:
        say(f"{strong(one_line(change.id))}  {bad('error:')} {one_line(change.error)}")
        return
    counts = ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in change.states.items())
    say(f"{strong(one_line(change.id))}  {counts}" + (f"  {good('complete')}" if change.complete else ""))
    if change.head is not None:
        say(faint(f"  {one_line(change.branch)} at {change.head[:12]}"))
    for task in change.running:
        attempt = f"attempt {task.attempt}, " if task.attempt else ""
        say(
            f"  ▶ {one_line(task.id)}  {one_line(task.title)}  {faint(f'{attempt}since {task.since}, {one_line(task.owner)}')}"
        )
        if task.worktree:
            say(faint(f"      {task.worktree}"))
    for failed in change.failed:
        say(f"  {bad('✗')} {one_line(failed.id)}  {one_line(failed.title)}")
        say(f"      {one_line(failed.message)}")
        for word, path in (("output", failed.log), ("worktree", failed.worktree)):
            if path:
                say(faint(f"      {word} {path}"))


def _show_rest(seen: "Overview") -> None:
    if seen.locks:
        say(f"\n{strong('Locks')}")
        for text in columns(
            ((one_line(each.name), one_line(each.owner), faint(each.since)) for each in seen.locks), indent="  "
        ):
            say(text)
    if seen.paused:
        say(f"\n{strong('Paused')}")
        for kind, until in seen.paused.items():
            say(f"  {kind} until {until} (rate limit)")
    if seen.kept:
        say(f"\n{strong('Kept worktrees')}  {faint('baton clean removes old ones')}")
        told = {failed.worktree for change in seen.changes for failed in change.failed}
        rows = columns(((one_line(each.task), one_line(each.path)) for each in seen.kept), indent="  ")
        for each, text in zip(seen.kept, rows, strict=True):
            say(text)
            if each.path not in told:
                say(faint(f"      {one_line(each.reason)}"))


@command(name="why", short_help="Explain the state of a task, input by input.")
@click.argument("name", metavar="ID", type=TASK)
def why_command(place: Place, name: str) -> Exit:
    """Explain why a task is in its state: each input that was compared, and the event that changed it."""
    from baton_runner.controller.explaining import explain

    controller, task = place.task(name)
    found = explain(controller, task)
    assessment = found.assessment
    state = assessment.state.value.replace("_", " ")
    say(f"{mark_of(assessment.state)} {strong(one_line(task.name(controller.change.id)))}  {one_line(task.title)}")
    say(f"  {state}: {one_line(assessment.reason)}")
    if not assessment.state.finished:
        say(f"  needs: {assessment.need.value}")
    if assessment.blockers:
        say(f"  waits for: {one_line(', '.join(assessment.blockers))}")
    for note in found.notes:
        say(f"  {one_line(note)}")
    if found.receipt is not None:
        say(
            faint(
                f"  receipt of attempt {found.receipt.attempt}, {found.receipt.finished}, {found.receipt.seal[:_DIGEST]}"
            )
        )
        say(f"\n{strong('Compared')}")
        for compared in found.compared:
            _show_compared(compared)
    return Exit.DONE


def _show_compared(compared: "Compared") -> None:
    same = good("same   ") if compared.same else wary("changed")
    say(f"  {same}  {one_line(compared.name)}  {faint(one_line(compared.path))}")
    if compared.same:
        say(faint(f"           {compared.new[:_DIGEST] or '(none)'}"))
        return
    say(faint(f"           {compared.old[:_DIGEST] or '(none)'} -> {compared.new[:_DIGEST] or '(none)'}"))
    say(f"           {one_line(compared.event)}")


@command(name="diff", short_help="Show what a task changed.")
@click.argument("name", metavar="ID", type=TASK)
@click.option("--stat", is_flag=True, help="Only the files, with how much changed in each.")
def diff_command(place: Place, name: str, *, stat: bool) -> Exit:
    """Show the change of a task as a diff: the proven one, or what its last attempt left."""
    from baton_runner.controller.differing import task_change

    controller, task = place.task(name)
    found = task_change(controller, task)
    shape = ("--stat",) if stat else ()
    text = controller.parts.objects.git.run(
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", *shape, found.old, found.new
    )
    say(faint(f"{one_line(task.name(controller.change.id))}: {one_line(found.source)}"))
    if not text:
        say("it changed nothing")
    elif sys.stdout.isatty():
        from baton_runner.cli.output import clean

        for line in clean(text.decode("utf-8", "replace")).splitlines():
            verbatim(_coloured(line))
    else:
        sys.stdout.buffer.write(text)
    return Exit.DONE


def _coloured(line: str) -> str:
    if line.startswith(("diff ", "index ", "+++", "---")):
        return strong(line)
    if line.startswith("@@"):
        return click.style(line, fg="cyan")
    return good(line) if line.startswith("+") else bad(line) if line.startswith("-") else line
