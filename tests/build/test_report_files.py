"""JUnit files, event streams, the live view, and who gets which."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from baton_runner.base.errors import UsageError
from baton_runner.build.report.junit import JUnitReporter
from baton_runner.build.report.lines import Verbosity
from baton_runner.build.report.live import LiveReporter
from baton_runner.build.report.output import Output, open_reporters
from baton_runner.build.report.stream import EventStream
from baton_runner.build.report.values import Header
from baton_runner.controller.events import Event
from tests.build.reports import FAILED, HEADER, RESOLVED, SUMMARY


def test_the_junit_file_has_a_suite_per_change_and_a_case_per_task(tmp_path: Path) -> None:
    JUnitReporter(tmp_path / "report" / "j.xml").end(SUMMARY)
    (suite,) = ET.parse(tmp_path / "report" / "j.xml").getroot()  # noqa: S314 - our own file
    assert suite.attrib | {"time": ""} == {
        "name": "add-login", "tests": "5", "failures": "2", "errors": "0", "skipped": "1", "time": "",
    }  # fmt: skip
    cases = {case.attrib["name"]: case for case in suite}
    assert set(cases) == {"1.1 Begin", "1.2 Build the form", "2.1 Ask them", "closing check"}
    failures = suite.findall("./testcase/failure")
    assert "make test" in failures[0].attrib["message"]
    assert "line 30" in (failures[0].text or "")
    assert cases["2.1 Ask them"].find("skipped") is not None


def test_the_junit_file_is_xml_whatever_an_agent_wrote(tmp_path: Path) -> None:
    odd = replace(FAILED, title="a\x00<b>&\x1b[1m", result=replace(FAILED.result, message="\x08\ufffe]]>"))
    JUnitReporter(tmp_path / "j.xml").end(replace(SUMMARY, ends=(odd,)))
    assert ET.parse(tmp_path / "j.xml").getroot().tag == "testsuites"  # noqa: S314 - our own file


def test_every_event_is_a_line_of_json_written_at_once() -> None:
    out = io.StringIO()
    stream = EventStream(out)
    stream.begin(HEADER)
    stream.event(Event("2026-03-01T12:00:00.000Z", "add-login", "1.2", "turn.started", {"turn": 1, "text": "ä\n"}))
    stream.task_ended(RESOLVED)
    stream.note("hello")
    stream.end(SUMMARY)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["kind"] for line in lines] == ["run.started", "turn.started", "task.ended", "run.note", "run.ended"]
    assert all(set(line) == {"at", "kind", "change", "task", "data"} for line in lines)
    assert lines[1]["data"] == {"turn": 1, "text": "ä\n"}
    assert lines[2]["data"]["verdict"] == "resolved"
    assert lines[-1]["data"]["exit_code"] == 1


def test_a_reader_that_went_away_ends_the_stream_and_not_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:  # noqa: ARG002 - as a stream has it
            raise BrokenPipeError

    stream = EventStream(Closed())
    stream.begin(HEADER)
    stream.end(SUMMARY)


def test_the_view_shows_what_is_in_work_and_forgets_what_ended() -> None:
    now = 100.0
    out = io.StringIO()
    reporter = LiveReporter(out, clock=lambda: now)
    reporter.begin(HEADER)
    try:
        steps: list[tuple[str, dict[str, Any]]] = [
            ("task.started", {}),
            ("turn.started", {"turn": 2}),
            ("agent.message", {"message": "reading\x1b[31m files\nnow"}),
        ]
        for kind, data in steps:
            reporter.event(Event("", "demo", "1.1", kind, data))
        now = 165.0
        assert str(reporter.view()).split() == ["demo:1.1", "1m05s", "turn", "2", "reading", "files", "now"]
        reporter.event(Event("", "demo", "1.1", "turn.ended", {"turn": 2}))
        assert str(reporter.view()).split() == ["demo:1.1", "1m05s", "verifying"]
        reporter.event(Event("", "demo", "1.1", "task.resolved", {}))
        assert str(reporter.view()) == ""
    finally:
        reporter.end(SUMMARY)
    assert "1 failed, 1 resolved" in out.getvalue()


def _seen(header: Header, *events: tuple[str, str, dict[str, Any]]) -> list[str]:
    """The lines of the view after these events of change add-login, as (key, kind, data)."""
    reporter = LiveReporter(io.StringIO(), clock=lambda: 0.0)
    reporter.begin(header)
    try:
        for key, kind, data in events:
            reporter.event(Event("", "add-login", key, kind, data))
        return str(reporter.view()).splitlines()
    finally:
        reporter.close()


def test_the_view_is_in_plan_order_and_has_titles() -> None:
    """Whatever starts first, a reader finds a task where the plan has it."""
    titles = {("add-login", "1.1"): "add-login:1.1 Begin", ("add-login", "1.2"): "add-login:1.2 Build the form"}
    lines = _seen(replace(HEADER, titles=titles), ("1.2", "task.started", {}), ("1.1", "task.started", {}))
    assert [line.split("  ")[0] for line in lines] == list(titles.values())


def test_the_view_says_what_is_verified() -> None:
    """A task that is verified again, and the closing check, which belongs to no task, for as long as it runs."""
    again, closing = ("1.1", "task.started", {"state": "stale"}), ("", "closing.started", {"commands": 2})
    lines = _seen(HEADER, again, closing)
    assert [(line.split("  ")[0], line.split()[-1]) for line in lines] == [
        ("add-login:1.1", "verifying"), ("add-login closing check", "verifying"),
    ]  # fmt: skip
    assert _seen(HEADER, closing, ("", "closing.ended", {"red": 0})) == []
    assert _seen(HEADER, again, ("1.1", "attempt.started", {}))[0].split()[-1] == "starting"


def test_a_frame_shows_no_task_both_as_ended_and_in_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view is drawn anew without the task before its line is written above."""
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    reporter = LiveReporter(out, clock=lambda: 0.0)
    reporter.begin(HEADER)
    try:
        reporter.event(Event("", "add-login", "1.2", "task.started", {}))
        reporter._live.refresh()
        assert "starting" in out.getvalue()
        before = len(out.getvalue())
        reporter.task_ended(RESOLVED)
        assert "resolved" in out.getvalue()[before:]
        assert "starting" not in out.getvalue()[before:]
    finally:
        reporter.close()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "live"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "CI": "true"}, False),
    ],
)
def test_only_a_terminal_that_a_person_watches_gets_a_live_view(environ: dict[str, str], *, live: bool) -> None:
    with open_reporters(Output(), environ, Terminal(), io.StringIO()) as reporter:
        assert isinstance(reporter.each[0], LiveReporter) is live  # type: ignore[attr-defined]
    with open_reporters(Output(), environ, io.StringIO(), io.StringIO()) as reporter:
        assert not isinstance(reporter.each[0], LiveReporter)  # type: ignore[attr-defined]


def test_events_on_standard_output_send_people_to_the_other_stream() -> None:
    out, err = io.StringIO(), io.StringIO()
    with open_reporters(Output(events="-"), {}, out, err) as reporter:
        reporter.begin(HEADER)
        reporter.end(SUMMARY)
    assert all(json.loads(line) for line in out.getvalue().splitlines())
    assert "1 failed" in err.getvalue()


def test_events_go_to_a_file_that_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    with open_reporters(Output(Verbosity.QUIET, events=str(file)), {}, io.StringIO(), io.StringIO()) as reporter:
        reporter.begin(HEADER)
        assert json.loads(file.read_text())["kind"] == "run.started"
    with (
        pytest.raises(UsageError, match="--events"),
        open_reporters(Output(events=str(tmp_path / "no" / "file")), {}, io.StringIO(), io.StringIO()),
    ):
        pass
