"""``baton finish`` and ``baton clean``: what is done with work in the end."""

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.output import bad, columns, faint, good, one_line, plural, say, wary
from baton_runner.cli.place import CHANGE, Place, command

__all__ = ["clean_command", "finish_command"]


@command(name="finish", short_help="Bring a finished change into your branch.")
@click.argument("change", required=False, type=CHANGE)
@click.option("--partial", is_flag=True, help="Although tasks are open: what is integrated is verified.")
@click.option("--into", metavar="BRANCH", help="Another branch than the one the change started from.")
def finish_command(place: Place, change: str | None, *, partial: bool, into: str | None) -> Exit:
    """Merge the integration branch of a change into the branch it started from.

    The one command that touches your branch and your files. It is refused where a file it would touch is not
    committed, and undone when it cannot end.
    """
    from baton_runner.controller.finishing import Extent, finish_change

    place.refuse_in_assignment()
    controller = place.controller(change)
    try:
        done = finish_change(controller, Extent.PARTIAL if partial else Extent.COMPLETE, into)
    finally:
        controller.end()
    branch = one_line(done.landing.branch.removeprefix("refs/heads/"))
    if not done.moved:
        say(f"{good('up to date')}  {branch} holds all of {one_line(controller.change.id)}")
    else:
        say(f"{good('finished')}  {one_line(controller.change.id)} is in {branch}, now at {done.landing.new[:12]}")
    if done.open:
        say(faint(f"still open: {one_line(', '.join(done.open))}"))
    return Exit.DONE


@command(name="clean", short_help="Remove old worktrees and records.")
@click.option("--yes", "-y", is_flag=True, help="Remove what is shown; without it nothing is touched.")
@click.option("--hours", type=click.FloatRange(min=0), help="Age of worktrees to remove; default workspace.gc_hours.")
@click.option("--refs", is_flag=True, help="Also the refs of abandoned changes: their work is gone then.")
def clean_command(place: Place, *, yes: bool, hours: float | None, refs: bool) -> Exit:
    """Show what may go, and remove it with --yes.

    A worktree's content is parked under a ref before it goes; a branch goes only when its work is in the branch it
    came from.
    """
    from baton_runner.base.errors import BatonError
    from baton_runner.controller.cleaning import survey, survey_refs

    project = place.project
    limit = project.policy.settings.workspace.gc_hours if hours is None else hours
    found = survey(project, hours=limit) + (survey_refs(project) if refs else ())
    if not found:
        say("nothing to remove")
        return Exit.DONE
    if not yes:
        for text in columns((one_line(each.what), faint(one_line(each.why))) for each in found):
            say(text)
        same = "".join([" --refs" if refs else "", f" --hours {hours:g}" if hours is not None else ""])
        remove = "removes it" if len(found) == 1 else "removes them"
        say(f"{plural(len(found), 'thing')} to remove; {wary('nothing was touched')}, baton clean --yes{same} {remove}")
        return Exit.DONE
    place.refuse_in_assignment()
    failed = 0
    for each in found:
        try:
            kept = each.carry_out()
        except BatonError as error:  # one that must stay keeps no other from going
            failed += 1
            say(f"{bad('kept')}     {one_line(each.what)}: {one_line(str(error))}")
            continue
        say(f"{good('removed')}  {one_line(each.what)}" + (f", its content is {kept}" if kept else ""))
    return Exit.FAILED if failed else Exit.DONE
