"""``baton run``: the words of the command line as a request, handed to the build."""

from pathlib import Path

import click

from baton_runner.build.fingerprint import locate, recall
from baton_runner.cli.exits import Exit
from baton_runner.cli.output import say
from baton_runner.cli.place import TASK, Place, command

__all__ = ["run_command"]


@command(name="run", short_help="Work on what is not finished.")
@click.argument("targets", metavar="[TARGET]...", nargs=-1, type=TASK)
@click.option("-n", "--workers", type=click.IntRange(min=1), metavar="N", help="Tasks at a time; 4 unless said.")
@click.option(
    "-k", "expression", default="", metavar="EXPR", help="Only tasks whose id or title matches (and, or, not)."
)
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("--maxfail", type=click.IntRange(min=1), metavar="N", help="Stop after so many failures.")
@click.option("--lf", "--last-failed", "last_failed", is_flag=True, help="Only tasks that failed last time.")
@click.option("--dry-run", is_flag=True, help="Say what would run and why; touch nothing.")
@click.option("--force", is_flag=True, help="Do the selected tasks again, whatever their receipts say.")
@click.option("--skip-held", is_flag=True, help="Let held tasks not keep later sections waiting.")
@click.option("--agent", metavar="KIND", help="Another kind of agent than the policy's.")
@click.option(
    "--junitxml", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a JUnit report."
)
@click.option("--events", default="", metavar="FILE", help="Write events as NDJSON, one a line; - for standard output.")
@click.option("--durations", type=click.IntRange(min=0), metavar="N", help="Show the N slowest tasks; 0 for all.")
@click.option("-q", "--quiet", is_flag=True, help="Say failures and the last line only.")
@click.option("-v", "--verbose", is_flag=True, help="Say every step.")
def run_command(
    place: Place,
    targets: tuple[str, ...],
    *,
    workers: int | None,
    expression: str,
    maxfail: int | None,
    agent: str | None,
    junitxml: Path | None,
    events: str,
    durations: int | None,
    exitfirst: bool,
    last_failed: bool,
    dry_run: bool,
    force: bool,
    skip_held: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Work on every task that is not finished, or on the TARGETs and what they wait for.

    A target is a change, change:id, a glob of either, or an id that one change alone has. What is up to date is
    skipped; a second run does nothing.
    """
    asked = (exitfirst, maxfail, last_failed, dry_run, force, junitxml, events, durations is not None, verbose)
    plain = not any(asked)
    spot = locate(place.folder, place.environ) if plain else None
    words = ("run", *targets, "-k", expression, "--agent", agent or "", "--skip-held", str(skip_held))
    if spot is not None and (tasks := recall(spot, words, place.environ)) is not None:
        say(f"{tasks} up to date, nothing was touched since the last run")
        return Exit.DONE

    from baton_runner.build.report.lines import Verbosity
    from baton_runner.build.report.output import Output
    from baton_runner.build.run import Fast, explain, run
    from baton_runner.build.scope import DEFAULT_WORKERS, Request
    from baton_runner.build.selection import Selection

    request = Request(
        selection=Selection(targets, expression, last_failed),
        workers=workers or DEFAULT_WORKERS,
        max_failures=1 if exitfirst else maxfail,
        force=force,
        skip_held=skip_held,
        agent=agent,
    )
    verbosity = Verbosity.QUIET if quiet else Verbosity.VERBOSE if verbose else Verbosity.NORMAL
    output = Output(verbosity=verbosity, durations=durations, junit=junitxml, events=events)
    if dry_run:
        return explain(place.project, request, output)
    return run(place.project, request, output, fast=Fast(spot, words) if spot else None)
