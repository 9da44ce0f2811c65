"""``--junitxml``: the run as the XML that CI systems read; a suite for each change, a case for each task."""

from pathlib import Path
from typing import TYPE_CHECKING

from baton_runner.base import crash, files
from baton_runner.build.report.text import clean, one_line
from baton_runner.build.report.values import ClosingEnd, Header, RunSummary, TaskEnd
from baton_runner.controller.events import Event

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["JUnitReporter"]

WRITE = crash.declare("junit.write")


class JUnitReporter:
    """Writes the file when the run is over."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, header: Header) -> None:
        """Nothing is written before the end."""

    def task_ended(self, end: TaskEnd) -> None:
        """Nothing is written before the end."""

    def note(self, text: str) -> None:
        """Notes have no place in the format."""

    def event(self, event: Event) -> None:
        """Events have no place in the format."""

    def end(self, summary: RunSummary) -> None:
        """Write the file, whole."""
        from xml.etree.ElementTree import tostring

        data = tostring(_suites(summary), encoding="utf-8", xml_declaration=True)
        files.write_atomic(self._path, data + b"\n", WRITE)


def _suites(summary: RunSummary) -> "Element":
    from xml.etree.ElementTree import Element, SubElement

    cases: dict[str, list[Element]] = {}

    def case(change: str, name: str, seconds: float = 0.0) -> Element:
        attributes = {"classname": one_line(change), "name": one_line(name), "time": f"{seconds:.3f}"}
        cases.setdefault(change, []).append(Element("testcase", attributes))
        return cases[change][-1]

    for kept in summary.kept:
        case(kept.change, kept.shown)
    for end in summary.ends:
        _fill(case(end.result.change, f"{end.id} {end.title}", end.result.seconds), end)
    for left in summary.unfinished:
        text = one_line(f"{left.word}: {left.reason}")
        SubElement(case(left.change, left.shown), "skipped", {"message": text})
    for closing in summary.closings:
        _fill_closing(case(closing.change, "closing check", sum(r.seconds for r in closing.closing.results)), closing)
    root = Element("testsuites", {"name": "baton"})
    for change, elements in cases.items():
        failures = sum(1 for each in elements if each.find("failure") is not None)
        skipped = sum(1 for each in elements if each.find("skipped") is not None)
        seconds = sum(float(each.get("time", "0")) for each in elements)
        counts = {"tests": len(elements), "failures": failures, "errors": 0, "skipped": skipped}
        suite = SubElement(root, "testsuite", {"name": one_line(change), **{k: str(v) for k, v in counts.items()}})
        suite.set("time", f"{seconds:.3f}")
        suite.extend(elements)
    return root


def _fill(case: "Element", end: TaskEnd) -> None:
    from xml.etree.ElementTree import SubElement

    result = end.result
    if end.failed:
        failure = SubElement(case, "failure", {"message": one_line(result.message)})
        failure.text = clean(result.failure.output if result.failure else "")
    elif not result.verdict.good:
        SubElement(case, "skipped", {"message": one_line(f"{result.verdict.value}: {result.message}")})


def _fill_closing(case: "Element", end: ClosingEnd) -> None:
    from xml.etree.ElementTree import SubElement

    for result in end.closing.results:
        if not result.green:
            message = one_line(f"{result.check.command} is red on the final tree ({result.said})")
            SubElement(case, "failure", {"message": message}).text = clean(result.tail)
