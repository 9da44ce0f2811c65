"""The table of commands: names and one-line helps stand here, so that ``baton --help`` imports none of them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from baton_runner import __version__

__all__ = ["baton"]


@dataclass(frozen=True)
class _Entry:
    """A command: the module of this folder that holds it (under its own name), and what it does in one line."""

    module: str
    help: str


_GROUPS: Mapping[str, Mapping[str, _Entry]] = {
    "Work": {
        "init": _Entry("starting", "Write WORKFLOW.md and dodo.py for this repository."),
        "lint": _Entry("linting", "Check WORKFLOW.md and every plan."),
        "list": _Entry("listing", "Show the tasks and their states."),
        "run": _Entry("running", "Work on what is not finished."),
        "demo": _Entry("demo", "Build a small plan offline, in a scratch repository."),
        "finish": _Entry("ending", "Bring a finished change into your branch."),
    },
    "Look": {
        "status": _Entry("looking", "Show what runs, what waits and what failed."),
        "why": _Entry("looking", "Explain the state of a task, input by input."),
        "log": _Entry("logs", "Show what an attempt said and did."),
        "diff": _Entry("looking", "Show what a task changed."),
        "verify": _Entry("checking", "Check every receipt and packet, offline."),
        "doctor": _Entry("checking", "Check this machine and repository."),
    },
    "Decide": {
        "tick": _Entry("deciding", "Accept a task as it is, by hand."),
        "untick": _Entry("deciding", "Take a tick back: the task is done again."),
        "redo": _Entry("deciding", "Have a task done again, with a remark."),
        "forget": _Entry("deciding", "Drop the proof of a task."),
        "abandon": _Entry("deciding", "Give up a change; its work stays under refs."),
        "clean": _Entry("ending", "Remove old worktrees and records."),
        "plan": _Entry("planning", "Rewrite a plan: number its tasks."),
    },
    "Shell": {"completion": _Entry("completing", "Print the completion script of a shell.")},
}
_ENTRIES = {name: entry for group in _GROUPS.values() for name, entry in group.items()}


class _LazyGroup(click.Group):
    """Imports a command when it is called, completed or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = _ENTRIES.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"baton_runner.cli.{entry.module}")
        found = getattr(module, f"{cmd_name}_command")
        assert isinstance(found, click.Command)  # noqa: S101 - the table and the modules are ours
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _ENTRIES and not args[0].startswith("-"):
            from baton_runner.workflow.nearest import nearest

            near = nearest(args[0], _ENTRIES)
            advice = f"; did you mean {near}?" if near else ""
            ctx.fail(f"there is no command {args[0]}{advice}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, _ENTRIES))
        for title, entries in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.help) for name, entry in entries.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.option("-C", "folder", type=click.Path(path_type=Path), help="Do as if started in this folder.", metavar="PATH")
@click.version_option(__version__, "-V", "--version", prog_name="baton", message="%(prog)s %(version)s")
@click.pass_context
def baton(context: click.Context, folder: Path | None) -> None:
    """Make, for coding agents: plans become verified, integrated, ticked-off work."""
    context.obj = folder or Path()
    if os.environ.get("NO_COLOR"):
        context.color = False
