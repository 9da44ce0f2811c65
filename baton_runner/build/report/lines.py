"""A run as lines, in the manner of pytest: pure functions from what is reported to lines and their style."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from baton_runner.build.report.text import clean, cost, fitted, last_lines, nearby, one_line, plural, seconds, width_of
from baton_runner.build.report.values import NOT_RUN, ClosingEnd, Header, RunSummary, TaskEnd, Unfinished
from baton_runner.controller.results import Verdict

__all__ = ["Line", "Style", "Verbosity", "header_lines", "summary_lines", "task_line"]

_TAIL_LINES = 20
_MOST_UNFINISHED = 20
_WORD, _SECONDS, _TURNS, _COST = 12, 8, 9, 8


class Verbosity(Enum):
    """How much is said: failures and the last line; a line per task; every step."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


class Style(Enum):
    """What a line is, for who can colour it."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    DIM = "dim"
    RULE = "rule"
    GOOD_RULE = "good rule"
    BAD_RULE = "bad rule"


@dataclass(frozen=True)
class Line:
    """One line of a report."""

    text: str
    style: Style = Style.PLAIN


def header_lines(header: Header, width: int) -> Iterator[Line]:
    """What the run is about."""
    yield Line(_rule("=", "baton", width), Style.RULE)
    for change, base in zip(header.changes, header.bases, strict=True):
        yield Line(f"change {one_line(change)}, based on {one_line(base)}")
    yield Line(f"agent {header.agent}, {plural(header.workers, 'worker')}")
    done = f", {header.done} up to date" if header.done else ""
    yield Line(f"collected {plural(header.tasks, 'task')}{done}")
    yield from (Line(one_line(note), Style.DIM) for note in header.notes)


def task_line(end: TaskEnd, width: int) -> Line:
    """One task: id, title, result, time, turns, cost."""
    result = end.result
    word = result.verdict.value.upper() if end.failed else result.verdict.value
    turns = plural(result.work.turns, "turn") if result.work.turns else ""
    parts = [fitted(word, _WORD), f"{seconds(result.seconds):>{_SECONDS}}", f"{turns:>{_TURNS}}"]
    right = " ".join([*parts, f"{cost(result.work.cost_usd):>{_COST}}"])
    left = fitted(f"{one_line(end.name)} {one_line(end.title)}", max(width - width_of(right) - 1, 20))
    return Line(
        f"{left} {right}".rstrip(), Style.BAD if end.failed else Style.GOOD if result.verdict.good else Style.DIM
    )


def summary_lines(
    summary: RunSummary, verbosity: Verbosity, width: int, durations: int | None = None
) -> Iterator[Line]:
    """All that is said in the end: failures, red closing checks, what is left, warnings, durations, the last line."""
    if verbosity is not Verbosity.QUIET:
        yield from (_green(end) for end in summary.closings if end.closing.green and end.closing.ran)
    yield from _failures(summary.failures, width)
    for end in summary.closings:
        yield from _red(end, width)
    yield from _unfinished(summary.unfinished, verbosity, width)
    yield from _warnings(summary.warnings, verbosity, width)
    yield from _durations(summary.ends, durations, width)
    yield _last(summary, width)


def _failures(failures: Iterable[TaskEnd], width: int) -> Iterator[Line]:
    for number, end in enumerate(failures):
        if number == 0:
            yield from _title("=", "FAILURES", width, Style.RULE)
        yield Line(_rule("_", f"{one_line(end.name)} {one_line(end.title)}", width), Style.BAD)
        failure = end.result.failure
        yield from (Line(text) for text in clean(end.result.message).rstrip().split("\n"))
        if failure is None:
            continue
        if failure.command:
            yield Line(f"$ {one_line(failure.command)}")
        if failure.output.strip():
            yield from (Line(f"    {text}".rstrip()) for text in last_lines(failure.output, _TAIL_LINES))
        if failure.log:
            yield Line(f"log: {nearby(failure.log)}", Style.DIM)
        if failure.worktree:
            yield Line(f"worktree, kept: {nearby(failure.worktree)}", Style.DIM)


def _green(end: ClosingEnd) -> Line:
    known = f", {end.closing.known} known to be" if end.closing.known else ""
    ran = plural(end.closing.ran, "command")
    return Line(f"{one_line(end.change)}: closing check green ({ran} run{known})", Style.GOOD)


def _red(end: ClosingEnd, width: int) -> Iterator[Line]:
    closing = end.closing
    if closing.green:
        return
    yield from _title("=", f"CLOSING CHECK OF {one_line(end.change)} IS RED", width, Style.RULE)
    for result in closing.results:
        if result.green:
            continue
        tasks = ", ".join(closing.red.get(result.check.command, ()))
        yield Line(f"$ {one_line(result.check.command)} ({one_line(result.said)})", Style.BAD)
        if result.tail.strip():
            yield from (Line(f"    {text}".rstrip()) for text in last_lines(result.tail, _TAIL_LINES))
        if tasks:
            yield Line(f"proves: {fitted(tasks, max(width - 8, 20)).rstrip()}", Style.DIM)
        if result.log:
            yield Line(f"log: {nearby(result.log)}", Style.DIM)


def _unfinished(left: tuple[Unfinished, ...], verbosity: Verbosity, width: int) -> Iterator[Line]:
    if verbosity is Verbosity.QUIET:  # what was not even tried explains the last line; the rest is in the plan
        left = tuple(each for each in left if each.word == NOT_RUN)
    if not left:
        return
    yield from _title("-", "not done", width, Style.RULE)
    most = len(left) if verbosity is Verbosity.VERBOSE else _MOST_UNFINISHED
    for each in left[:most]:
        text = f"{each.word}: {one_line(each.name)} {one_line(each.title)} - {one_line(each.reason)}"
        yield Line(fitted(text, width).rstrip() if verbosity is not Verbosity.VERBOSE else text)
    if len(left) > most:
        yield Line(f"... and {len(left) - most} more (-v shows all)", Style.DIM)


def _warnings(warnings: tuple[str, ...], verbosity: Verbosity, width: int) -> Iterator[Line]:
    if not warnings or verbosity is Verbosity.QUIET:
        return
    yield from _title("-", "warnings", width, Style.RULE)
    yield from (Line(one_line(warning)) for warning in dict.fromkeys(warnings))


def _durations(ends: Iterable[TaskEnd], most: int | None, width: int) -> Iterator[Line]:
    """The slowest tasks: ``most`` of them, all for 0 (as pytest counts), none for None."""
    slowest = sorted(ends, key=lambda end: end.result.seconds, reverse=True)[: most or None]
    if most is None or not slowest:
        return
    yield from _title("-", f"slowest {plural(len(slowest), 'task')}", width, Style.RULE)
    for end in slowest:
        text = f"{seconds(end.result.seconds):>{_SECONDS}} {one_line(end.name)} {one_line(end.title)}"
        yield Line(fitted(text, width).rstrip())


def _last(summary: RunSummary, width: int) -> Line:
    order = [Verdict.FAILED, Verdict.CONFLICT, Verdict.RESOLVED, Verdict.RENEWED]
    counts = summary.counts
    words: list[str] = [verdict.value for verdict in order if verdict.value in counts]
    words += [word for word in counts if word not in words]
    told = [f"{counts[word]} {word}" for word in words]
    if summary.kept:
        told.append(f"{len(summary.kept)} up to date")
    red = sum(1 for end in summary.closings if not end.closing.green)
    told += [f"{plural(red, 'closing check')} red"] if red else []
    told += ["interrupted"] if summary.interrupted else []
    spent = cost(summary.cost_usd)
    text = f"{', '.join(told) or 'nothing to do'} in {seconds(summary.seconds)}{f', {spent}' if spent else ''}"
    return Line(_rule("=", text, width), Style.GOOD_RULE if summary.exit_code.value == 0 else Style.BAD_RULE)


def _title(sign: str, text: str, width: int, style: Style) -> Iterator[Line]:
    yield Line("")
    yield Line(_rule(sign, text, width), style)


def _rule(sign: str, text: str, width: int) -> str:
    """A text in the middle of a line of signs; a long one is cut."""
    text = fitted(text, width - 6).rstrip() if width_of(text) > width - 6 else text
    left = (width - width_of(text) - 2) // 2
    return f"{sign * left} {text} {sign * (width - width_of(text) - 2 - left)}"
