"""What a reader sees of a run."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.build.report.lines import Verbosity, header_lines, summary_lines, task_line
from baton_runner.build.report.terminal import PlainReporter, told
from baton_runner.build.report.text import clean, fitted, last_lines, one_line, seconds, width_of
from baton_runner.build.report.values import ClosingEnd, ExitCode, RunSummary, Unfinished
from baton_runner.controller.closing import Closing
from baton_runner.controller.events import Event
from baton_runner.controller.results import Verdict
from tests.build.reports import FAILED, HEADER, RED, RESOLVED, SUMMARY, end

OPTIONAL = Unfinished("add-login", "3.1", "Polish", "manual", "for people only", needed=False)


def _text(verbosity: Verbosity = Verbosity.NORMAL, summary: RunSummary = SUMMARY, durations: int | None = None) -> str:
    return "\n".join(line.text for line in summary_lines(summary, verbosity, 100, durations))


def test_the_header_says_what_the_run_is_about() -> None:
    text = "\n".join(line.text for line in header_lines(HEADER, 80))
    for word in ("add-login", "main at 1a2b3c4d", "command", "4 workers", "3 tasks", "1 up to date"):
        assert word in text


def test_a_line_per_task_has_id_title_result_time_turns_and_cost() -> None:
    assert task_line(RESOLVED, 100).text.split() == [
        "add-login:1.2", "Build", "the", "form", "resolved", "12.3s", "2", "turns", "$0.50",
    ]  # fmt: skip


@given(st.text(max_size=200), st.integers(60, 120))
def test_a_line_fits_whatever_the_title_is(title: str, width: int) -> None:
    line = task_line(end(Verdict.RESOLVED, title=title), width).text
    assert width_of(line) <= width
    assert "\n" not in line
    assert "12.3s" in line


def test_a_failure_shows_the_red_command_its_tail_its_log_and_the_kept_worktree() -> None:
    text = _text()
    assert "$ make test" in text
    assert "    line 30\n" in text
    assert "    line 11\n" in text
    assert "line 10\n" not in text
    assert "10 lines before" in text
    assert "/logs/verify-1.log" in text
    assert "/worktrees/1" in text


def test_a_red_closing_check_shows_its_command_output_and_whom_it_proves() -> None:
    text = _text()
    assert "$ make lint" in text
    assert "bad style" in text
    assert "proves: 1.1, 1.2" in text
    assert "$ make test (" not in text


def test_what_is_left_warnings_and_the_last_line_are_told() -> None:
    text = _text()
    assert "manual: add-login:2.1 Ask them - for people only" in text
    assert "tasks.md:3: odd; mend it" in text
    last = text.splitlines()[-1]
    assert "1 failed, 1 resolved, 1 manual, 1 up to date, 1 closing check red in 1m15s, $0.50" in last


def test_a_green_closing_check_stands_before_the_failures() -> None:
    """It belongs to none of them."""
    green = ClosingEnd("add-login", Closing(2, 0, {}, ()))
    lines = _text(summary=replace(SUMMARY, closings=(green,))).splitlines()
    assert lines[0] == "add-login: closing check green (2 commands run)"
    assert "FAILURES" in lines[2]


def test_what_was_not_run_is_explained_to_quiet_readers_too() -> None:
    """The count alone, in the last line, would leave open why."""
    waits = Unfinished("add-login", "2.2", "Tell them", "not run", "the run ended before its turn (never done)")
    text = _text(Verbosity.QUIET, summary=replace(SUMMARY, unfinished=(*SUMMARY.unfinished, waits)))
    assert "not run: add-login:2.2 Tell them - the run ended before its turn (never done)" in text
    assert "manual: " not in text


def test_what_cost_nothing_shows_no_cost() -> None:
    """A recipe is free, and nobody needs to read that."""
    free = end(Verdict.RESOLVED, turns=1, cost_usd=0.0)
    assert "$" not in task_line(free, 100).text
    assert "$" not in _text(summary=RunSummary(ends=(free,), seconds=1.0))


def test_quiet_is_failures_and_the_last_line() -> None:
    text = _text(Verbosity.QUIET)
    assert "$ make test" in text
    assert "manual" not in text.splitlines()[-2]
    assert "odd" not in text


def test_the_slowest_tasks_are_told_when_asked_for() -> None:
    slow = replace(RESOLVED, id="1.3", result=replace(RESOLVED.result, seconds=99.0))
    text = _text(summary=replace(SUMMARY, ends=(RESOLVED, slow)), durations=1)
    assert "1m39s add-login:1.3" in text
    assert "12.3s add-login:1.2" not in text
    assert "slowest" not in _text()
    assert "12.3s add-login:1.2" in _text(summary=replace(SUMMARY, ends=(RESOLVED, slow)), durations=0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, ExitCode.FAILED),
        ({"ends": (RESOLVED,), "closings": (), "unfinished": ()}, ExitCode.DONE),
        ({"ends": (FAILED,), "closings": (), "unfinished": ()}, ExitCode.FAILED),
        ({"ends": (), "closings": (RED,), "unfinished": ()}, ExitCode.FAILED),
        ({"ends": (), "closings": ()}, ExitCode.FAILED),
        ({"ends": (), "closings": (), "unfinished": (OPTIONAL,)}, ExitCode.DONE),
        ({"interrupted": True}, ExitCode.INTERRUPTED),
    ],
)
def test_the_exit_code_follows_from_what_happened(change: dict[str, object], code: ExitCode) -> None:
    assert replace(SUMMARY, **change).exit_code is code  # type: ignore[arg-type]


@given(st.text())
def test_no_control_character_of_an_agent_reaches_the_terminal(text: str) -> None:
    cleaned = clean(text)
    assert not [sign for sign in cleaned if (ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160]
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\rb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("bell\x07", "bell"),
        ("\u202egnp.exe", "gnp.exe"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x9b31mx", "x"),
        ("half \x1b[", "half "),
    ],
)
def test_escape_sequences_go_whole(foreign: str, shown: str) -> None:
    assert clean(foreign) == shown


@given(st.text(max_size=60), st.integers(1, 40))
def test_fitted_is_exactly_as_wide_as_asked(text: str, width: int) -> None:
    assert width_of(fitted(one_line(text), width)) == width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.054, "0.05s"),
        (1.0, "1.0s"),
        (59.94, "59.9s"),
        (59.97, "1m00s"),
        (61, "1m01s"),
        (3599.7, "1h00m"),
        (7260, "2h01m"),
    ],
)
def test_times_read_as_people_write_them(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_short_output_is_shown_whole() -> None:
    assert last_lines("a\nb\n", 20) == ["a", "b"]


def _event(kind: str, **data: object) -> Event:
    return Event("", "demo", "1.1", kind, data)


def test_steps_are_told_when_asked_for_and_warnings_always() -> None:
    step, warning = _event("turn.started", attempt=1, turn=2), _event("hook.failed", message="hooks.x failed")
    assert told(step, Verbosity.VERBOSE) == "demo:1.1: attempt 1, turn 2"
    assert told(step, Verbosity.NORMAL) == ""
    assert told(warning, Verbosity.NORMAL) == "demo:1.1: hooks.x failed"
    assert told(warning, Verbosity.QUIET) == ""


def test_plain_lines_hold_no_escape_sequence() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out)
    reporter.begin(HEADER)
    reporter.task_ended(end(Verdict.RESOLVED, title="\x1b[31mred"))
    reporter.note("a\x1b[1mb")
    reporter.end(SUMMARY)
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().count("\n\n\n") == 0
