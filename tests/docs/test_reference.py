"""The reference does not go stale: what it lists is what the code declares."""

import re

import click
import pytest

from baton_runner.base.crash import VARIABLE
from baton_runner.build.report.values import NOT_RUN
from baton_runner.cli.exits import Exit
from baton_runner.cli.marks import mark_of
from baton_runner.controller.results import Verdict
from baton_runner.controller.states import State
from baton_runner.plan.directives import _READERS
from tests.docs.pages import ROOT
from tests.docs.rendered import REFERENCE, parts, written

TEXT = REFERENCE.read_text("utf-8")
PACKAGE = ROOT / "baton_runner"


@pytest.mark.parametrize("name", sorted(parts()))
def test_a_part_is_what_the_declarations_say(name: str) -> None:
    """Commands, settings, variables, filters, environment, receipt; `python -m tests.docs.rendered` writes them anew."""
    found = re.search(rf"<!-- begin {name} -->\n\n(.*?)\n\n<!-- end {name} -->", TEXT, re.DOTALL)
    assert found is not None
    assert found[1] == parts()[name]


def test_writing_the_parts_again_changes_nothing() -> None:
    """Writing is idempotent, so that it can be run at any time."""
    assert written(TEXT) == TEXT


def test_every_exit_code_is_listed() -> None:
    """Numbers in the table are those of the command line."""
    table = _section("Exit codes")
    assert [int(number) for number in re.findall(r"^\| (\d) \|", table, re.MULTILINE)] == list(Exit)


def test_every_state_is_listed() -> None:
    """The words of `baton list` and its JSON, with their signs."""
    rows = re.findall(r"^\| `(\w+)` \| (.) \|", _section("States of a task"), re.MULTILINE)
    assert rows == [(each.value, click.unstyle(mark_of(each))) for each in State]


def test_every_result_is_listed() -> None:
    """The words of `baton run`."""
    words = re.findall(r"^\| `([\w ]+)` \|", _section("Results in a run"), re.MULTILINE)
    assert words == [*(each.value for each in Verdict), NOT_RUN]


def test_every_file_of_ours_is_listed() -> None:
    """Each name that the code gives to a file or folder below `.baton`."""
    names: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        names.update(re.findall(r'\bbaton / "([\w.]+)"', path.read_text("utf-8")))
    layout = (PACKAGE / "evidence" / "layout.py").read_text("utf-8")
    for pattern in (r'self\._record\("(\w+)"', r'self\.folder\("(\w+)"', r'self\.root / "(\w+)"'):
        names.update(re.findall(pattern, layout))
    assert {"checks", "receipts", "complete", "logs"} <= names
    files = _section("Files")
    assert not {name for name in names - {".gitignore"} if not re.search(rf"`{re.escape(name)}[/`]", files)}


def test_every_directive_is_listed() -> None:
    """The words of `<!-- baton: -->` comments."""
    page = (ROOT / "docs" / "ticket-format.md").read_text("utf-8")
    table = page.partition("## Directives")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)", table, re.MULTILINE) == list(_READERS)


def test_every_event_is_listed() -> None:
    """The kinds of `baton run --events`."""
    kinds: set[str] = set()
    for folder in ("controller", "build/report"):
        for path in (PACKAGE / folder).rglob("*.py"):
            calls = re.findall(r"(?:emit|_emit|_write)\(([^()]*)", path.read_text("utf-8"))
            kinds.update(kind for call in calls for kind in re.findall(r'"([a-z]+\.[a-z_]+)"', call))
    listed = set(re.findall(r"`([a-z]+\.[a-z_]+)`", _section("Events")))
    assert kinds == listed


def test_every_variable_of_ours_is_listed() -> None:
    """Each BATON_ variable that the code reads or sets, but for the one that only tests use."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        found.update(re.findall(r'"(BATON_[A-Z_]+)"', path.read_text("utf-8")))
    listed = set(re.findall(r"^\| `(BATON_[A-Z_]+)` \|", TEXT, re.MULTILINE))
    assert found - {VARIABLE} == listed


def test_what_is_said_to_be_without_effect_is_without_effect() -> None:
    """A setting or directive that the code begins to use must leave the list."""
    listed = re.findall(r"^- `([\w.]+)`", _section("Accepted, without effect today"), re.MULTILINE)
    assert listed
    for name in listed:
        words = name.split(".")
        sign = re.compile(rf"\b{words[0]}\.{words[1]}\b" if words[0] != "directives" else rf"\.{words[1]}\b")
        for path in PACKAGE.rglob("*.py"):
            if path.parent.name not in {"workflow", "plan"}:
                assert not sign.search(path.read_text("utf-8")), f"{name} has an effect in {path.name}"


def _section(title: str) -> str:
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]
