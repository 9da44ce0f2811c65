"""``baton demo``: the demo plan, run for real in a scratch repository, offline, in three acts."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from baton_runner.base.errors import UsageError
from baton_runner.cli.place import Place, command

__all__ = ["demo_command"]

_COPIED = ("tasks.md", "WORKFLOW.md", "agent.py")
_EDIT = ("2.1 Add two numbers, in", "2.1 Add and subtract two numbers, in")


@command(name="demo", short_help="Build a small plan offline, in a scratch repository.")
@click.argument("scratch", metavar="[FOLDER]", required=False, type=click.Path(file_okay=False, path_type=Path))
def demo_command(place: Place, scratch: Path | None) -> int:
    """Build a small plan offline with a scripted agent: a run, a rerun, an edit.

    FOLDER is made for it, by default a new temporary one; it is left for you to look at.
    """
    del place
    scratch = scratch or Path(tempfile.mkdtemp(prefix="baton-demo-"))
    repo = scratch / "repo"
    if repo.exists():
        raise UsageError("exists already", where=str(repo), todo="name a folder that does not exist")
    _make_repository(repo)
    plan = repo / "tasks" / "calculator" / "tasks.md"

    _act(
        "1. The plan is built: six tasks, up to four at a time. Task 2.2 is red at first, and repaired in a second turn."
    )
    code = _baton(repo, "run")
    if code != 0:
        return code
    _act("2. The same command again: every task is proven, so there is nothing to do.")
    code = _baton(repo, "run")
    if code != 0:
        return code
    _act(
        "3. Task 2.1 is reworded: it is done again.",
        "   Task 3.1, which builds on it, is only verified again.",
    )
    plan.write_text(plan.read_text("utf-8").replace(*_EDIT), "utf-8")
    code = _baton(repo, "run")
    if code != 0:
        return code
    click.echo(_what_to_look_at(repo))
    return 0


def _make_repository(repo: Path) -> None:
    source = _source()
    (repo / "tasks" / "calculator").mkdir(parents=True)
    for name in _COPIED:
        target = repo / "tasks" / "calculator" / name if name == "tasks.md" else repo / name
        shutil.copyfile(source / name, target)
    git = ["git", "-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false"]
    for args in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "-m", "A plan"]):
        subprocess.run([*git, *args], cwd=repo, check=True)


def _source() -> Path:
    """The demo's files: inside an installed package, or in the source tree."""
    package = Path(__file__).parents[1]
    installed = package / "demo"
    return installed if installed.is_dir() else package.parent / "tasks" / "demo"


def _act(*lines: str) -> None:
    click.echo()
    for line in lines:
        click.secho(line, bold=True)


def _baton(repo: Path, *args: str) -> int:
    click.secho(f"$ cd {repo} && baton {' '.join(args)}", dim=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BATON_")}
    return subprocess.run([sys.executable, "-m", "baton_runner", *args], cwd=repo, env=environ, check=False).returncode


def _what_to_look_at(repo: Path) -> str:
    return f"""
What to look at, in {repo}:
  git log --graph --oneline baton/calculator
                   each task is a merge that was verified before it was made
  git diff         the ticks, the only thing that changed in your checkout
  baton list -a    every task and its state
  baton why 3.1    what its proof was compared with
  baton log 2.2    both turns of the repaired task
  baton finish     merges the work into main, when you like it
"""
