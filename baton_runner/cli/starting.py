"""``baton init``: the files that a repository needs, written where they are missing, shown where they are not."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.output import faint, good, say, verbatim, wary
from baton_runner.cli.place import Place, command

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["init_command"]

_AGENTS = ("claude_code", "command", "terminal")


@command(name="init", short_help="Write WORKFLOW.md and dodo.py for this repository.")
@click.option("--agent", type=click.Choice(_AGENTS), default="claude_code", help="Who is to work.", show_default=True)
@click.option("--nox", "extras", flag_value="nox", multiple=True, help="Also a noxfile.py.")
@click.option("--make", "extras", flag_value="make", multiple=True, help="Also a Makefile target.")
@click.option("--ci", "extras", flag_value="ci", multiple=True, help="Also a CI workflow that shares receipts.")
@click.option("--example", "extras", flag_value="example", multiple=True, help="Also a small example plan.")
def init_command(place: Place, agent: str, extras: tuple[str, ...]) -> Exit:
    """Write WORKFLOW.md, with the test command and set-up found in this repository, and dodo.py.

    A file that exists is never changed: what belongs into it is printed instead.
    """
    from baton_runner.base.errors import RepositoryError
    from baton_runner.controller.starting import Extra, propose, write
    from baton_runner.repo.repository import Repository

    repository = Repository.open(place.folder, place.environ)
    if repository.top is None:
        raise RepositoryError(
            "is a bare repository", where=str(repository.common_dir), todo="run baton init in a checkout"
        )
    proposed = propose(repository.top, agent, [Extra(extra) for extra in extras])
    for each in proposed:
        name = each.path.relative_to(repository.top).as_posix()
        if each.exists:
            _show(name, each.addition, same=_holds(each.path, each.text))
            continue
        write(each)
        say(f"{good('wrote')}  {name}")
    if agent == "claude_code" and shutil.which("claude", path=place.environ.get("PATH")) is None:
        say(f"{wary('note:')} claude was not found on PATH; install it, or set agent.kind to another")
    say(faint(f"next: {', '.join(_next_steps(agent, extras))}"))
    return Exit.DONE


def _next_steps(agent: str, extras: tuple[str, ...]) -> "Iterator[str]":
    """What a person does before the first run."""
    from baton_runner.controller.starting import Extra

    if agent == "command":
        yield "set command.run in WORKFLOW.md to the program that is to work"
    elif agent == "terminal":
        yield "set terminal.command in WORKFLOW.md to the program that is to work"
    yield "look at verify.commands in WORKFLOW.md"
    if Extra.EXAMPLE.value not in extras:
        yield "write a plan (baton init --example shows one)"
    yield from ("baton lint", "baton run")


def _holds(path: Path, text: str) -> bool:
    """Whether a file is as it would be written."""
    return path.is_file() and path.read_bytes() == text.encode()


def _show(name: str, text: str, *, same: bool) -> None:
    """Say what belongs into a file that exists."""
    if same:
        say(f"{good('kept')}   {name} (as it would be written)")
        return
    say(f"{wary('kept')}   {name} exists; what belongs into it:")
    for each in text.splitlines():
        verbatim(f"    {each}".rstrip())
