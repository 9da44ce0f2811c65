"""``--dry-run`` says what would run and why, and touches nothing."""

import io

import pytest

from baton_runner.base.errors import UsageError
from baton_runner.build.preview import preview_lines
from baton_runner.build.report.lines import Verbosity
from baton_runner.build.report.output import Output
from baton_runner.build.run import explain, run
from baton_runner.build.scope import Request
from baton_runner.build.selection import Selection
from tests.build.recording import BuildSpace

PLAN = "## 1. A\n- [ ] 1.1 First\n- [x] 1.2 Second\n## 2. B\n- [ ] 2.1 Third\n- [~] 2.2 Fourth\n"


def _lines(space: BuildSpace, *targets: str, verbosity: Verbosity = Verbosity.NORMAL) -> list[str]:
    return list(preview_lines(space.project(), Request(selection=Selection(targets)), verbosity))


def test_each_task_is_told_with_what_would_happen_and_why(space: BuildSpace) -> None:
    space.start(PLAN)
    assert _lines(space) == [
        "run: demo:1.1 First - not done yet",
        "later: demo:2.1 Third - waits for 1.1",
        "person: demo:2.2 Fourth - its mark holds it",
        "4 tasks: 1 run, 1 later, 1 person, 1 up to date",
    ]
    assert _lines(space, verbosity=Verbosity.QUIET) == ["4 tasks: 1 run, 1 later, 1 person, 1 up to date"]
    assert "up to date: demo:1.2 Second - ticked by hand" in _lines(space, verbosity=Verbosity.VERBOSE)


def test_an_edit_shows_what_is_redone_and_what_is_only_verified(space: BuildSpace) -> None:
    space.start("## 1. A\n- [ ] 1.1 First\n## 2. B\n- [ ] 2.1 Third\n")
    space.script("1.1", "date +%N >> 1.1.txt")
    space.build()
    space.edit_plan("1.1 First", "1.1 First, better")
    assert _lines(space)[0] == "run: demo:1.1 First, better - its text was edited"


def test_it_writes_nothing_and_starts_nobody(space: BuildSpace) -> None:
    space.start(PLAN)
    before = space.git("for-each-ref")
    out = io.StringIO()
    assert explain(space.project(), Request(), Output(), out=out) == 0
    assert "1 run" in out.getvalue()
    assert not (space.repo / ".baton").exists()
    assert space.git("for-each-ref") == before
    assert not space.agent_turns()


def test_a_target_that_names_nothing_is_an_error_here_too(space: BuildSpace) -> None:
    space.start(PLAN)
    with pytest.raises(UsageError):
        _lines(space, "demo:9.9")


def test_run_gives_the_exit_code_and_writes_to_the_given_stream(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n")
    out = io.StringIO()
    assert run(space.project(), Request(), Output(), out=out) == 0
    assert "1 resolved" in out.getvalue()
