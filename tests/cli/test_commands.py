"""The command as a whole: its table, its help, where it works, how fast it starts, how a shell completes it."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from baton_runner import __version__
from baton_runner.cli.commands import _ENTRIES, baton
from baton_runner.cli.output import columns
from tests.cli.conftest import World

HEAVY = {"yaml", "liquid", "jsonschema", "psutil", "pexpect", "rich", "doit", "sqlite3", "platformdirs", "rfc8785"}


def _modules(world: World, *args: str) -> set[str]:
    """The modules that a command has imported in the end."""
    code = (
        "import sys\nfrom baton_runner.cli import main\nmain(sys.argv[1:])\nprint('|', *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=world.repo,
        env=world.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.rpartition("|")[2].split())


@pytest.mark.parametrize("name", sorted(_ENTRIES))
def test_every_command_of_the_table_exists_and_explains_itself(name: str) -> None:
    """The one-line help of the table is that of the command, which has a longer one of its own."""
    command = baton.get_command(click.Context(baton), name)
    assert command is not None
    assert (command.name, command.short_help) == (name, _ENTRIES[name].help)
    assert command.help


def test_help_imports_no_command(world: World) -> None:
    """Start-up is a feature: help needs click and the table, nothing of what it tells about."""
    modules = _modules(world, "--help")
    assert "click" in modules
    assert not HEAVY & modules
    assert not [name for name in modules if name.startswith(("baton_runner.controller", "baton_runner.repo"))]


@pytest.mark.parametrize("args", [("list",), ("lint",)])
def test_what_only_looks_imports_nothing_to_show_or_build(world: World, args: tuple[str, ...]) -> None:
    """``list`` and ``lint`` start neither rich nor doit nor the process walker."""
    assert not {"rich", "doit", "jsonschema", "pexpect", "psutil"} & _modules(world, *args)


def test_help_names_every_command(world: World) -> None:
    """``baton --help`` is the table of contents."""
    text = world.ok("--help")
    assert [name for name in _ENTRIES if f"  {name}" not in text] == []


def test_version(world: World) -> None:
    """``baton --version`` says name and number."""
    assert world.ok("--version") == f"baton {__version__}\n"


def test_without_a_word_help_is_shown_and_nothing_was_done(world: World) -> None:
    """A bare ``baton`` is a question, not a run."""
    done = world.baton()
    assert done.code == 4
    assert "Usage: baton" in done.out


def test_an_unknown_command_is_answered_with_the_nearest(world: World) -> None:
    """A mistyped command says what was probably meant."""
    assert "there is no command lst; did you mean list?" in world.refused(4, "lst")


def test_an_unknown_option_names_the_command(world: World) -> None:
    """A mistyped option says of which command it is none, and where the help is."""
    said = world.refused(4, "list", "--jsn")
    assert said.startswith("error: baton list: ")
    assert "see baton list --help" in said


def test_a_command_works_from_any_folder_and_with_a_path_before_or_behind_it(world: World, tmp_path: Path) -> None:
    """The repository is found from a folder inside it, or with ``-C`` on either side of the command's name."""
    inside = world.repo / "src" / "deep"
    inside.mkdir(parents=True)
    expected = world.ok("list")
    assert world.baton("list", cwd=inside).out == expected
    assert world.baton("list", "-C", str(world.repo), cwd=tmp_path).out == expected
    assert world.baton("-C", str(world.root), "list", "-C", "repo", cwd=tmp_path).out == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_for_our_variable(world: World, shell: str) -> None:
    """Each shell gets a script that calls ``baton`` with its completion variable."""
    assert "_BATON_COMPLETE" in world.ok("completion", shell)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("baton wh", {"why"}),
        ("baton why 1", {"1.1", "1.2"}),
        ("baton why demo:2", {"demo:2.1"}),
        ("baton finish d", {"demo"}),
        ("baton run --dr", {"--dry-run"}),
    ],
)
def test_a_shell_completes_commands_tasks_changes_and_options(world: World, words: str, expected: set[str]) -> None:
    """What the shell asks is answered from the plans of the repository it stands in."""
    environ = {"_BATON_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = world.baton(env=environ)
    assert {line.partition(",")[2] for line in done.out.splitlines()} == expected


def test_completion_says_nothing_where_there_is_no_repository(world: World, tmp_path: Path) -> None:
    """A shell that completes is no place for an error."""
    environ = {"_BATON_COMPLETE": "bash_complete", "COMP_WORDS": "baton why 1", "COMP_CWORD": "2"}
    done = world.baton(env=environ, cwd=tmp_path)
    assert (done.out.strip(), done.err) == ("", "")


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    """Wide characters take two columns, our colours none, and the last cell is not filled up."""
    rows = [("阶段", "a", "x"), (click.style("ab", fg="red"), "bbb", "")]
    assert [click.unstyle(line) for line in columns(rows)] == ["阶段  a    x", "ab    bbb"]
    assert list(columns([])) == []


def test_the_help_of_completion_keeps_its_lines(world: World) -> None:
    """One shell a line, and no sign of how that is written."""
    lines = [line.strip() for line in world.ok("completion", "--help").splitlines()]
    assert 'bash: eval "$(baton completion bash)" in ~/.bashrc' in lines
    assert not [line for line in lines if "\\b" in line or "\b" in line]


@pytest.mark.parametrize("words", [["run", "--workers"], ["run", "--nowhere"], ["log"], ["list", "--all=3"]])
def test_an_error_of_usage_points_to_the_help_of_its_command(world: World, words: list[str]) -> None:
    """Also where the parser finds it before it knows the command."""
    assert world.refused(4, *words).rstrip().endswith(f"see baton {words[0]} --help")
