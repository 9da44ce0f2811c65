"""``baton log``: what an attempt said and did, as people read it, also while it goes on."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baton_runner.base.errors import NothingCollected
from baton_runner.cli.exits import Exit
from baton_runner.cli.output import clean, faint, one_line, plural, say, strong, verbatim
from baton_runner.cli.place import TASK, Place, command

if TYPE_CHECKING:
    from baton_runner.controller.controller import Controller
    from baton_runner.plan.model import Task

__all__ = ["log_command", "readable"]

_POLL_SECONDS = 0.2
_SHORT = 160


@command(name="log", short_help="Show what an attempt said and did.")
@click.argument("name", metavar="ID", type=TASK)
@click.option("--attempt", type=click.IntRange(min=1), metavar="N", help="Another attempt than the last one.")
@click.option("--follow", "-f", is_flag=True, help="Go on while the task is in work.")
def log_command(place: Place, name: str, attempt: int | None, *, follow: bool) -> Exit:
    """Show the outputs of an attempt: set-up, agent, verification. The agent's own records are made readable."""
    controller, task = place.task(name)
    folder = _folder(controller, task, attempt)
    shown = _Shown(folder)
    while follow and controller.parts.claims.owner(task.key):
        shown.more()
        time.sleep(_POLL_SECONDS)
    shown.more(last=True)
    if not shown.anything:
        say("it said nothing")
    return Exit.DONE


def _folder(controller: "Controller", task: "Task", attempt: int | None) -> Path:
    """The folder of the wanted attempt; NothingCollected names those there are."""
    home = controller.parts.layout.task_logs(task.key)
    numbers = sorted(int(path.name) for path in home.iterdir() if path.name.isdigit()) if home.is_dir() else []
    if not numbers:
        raise NothingCollected(f"no attempt at task {task.id} left a log", where=controller.plan.path)
    wanted = attempt or numbers[-1]
    if wanted not in numbers:
        shown = ", ".join(map(str, numbers))
        raise NothingCollected(
            f"task {task.id} has no log of attempt {wanted}", where=controller.plan.path, todo=f"choose one of {shown}"
        )
    say(
        faint(
            f"{one_line(task.name(controller.change.id))}, attempt {wanted} of {plural(numbers[-1], 'attempt')}: {home / str(wanted)}"
        )
    )
    return home / str(wanted)


class _Shown:
    """What of a folder of logs was shown; files in the order in which an attempt begins them, prompts left out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._last: Path | None = None
        self.anything = False

    def more(self, *, last: bool = False) -> None:
        """Show the lines that came since the last look; one that is not ended yet waits for its end."""
        files = [path for path in self._folder.iterdir() if path.is_file() and path.suffix != ".md"]
        for path in sorted(files, key=_place):
            for text in self._new_lines(path, last=last):
                for line in readable(text) if path.suffix == ".jsonl" else [text]:
                    self._say(path, line)

    def _new_lines(self, path: Path, *, last: bool) -> Iterator[str]:
        with path.open("rb") as file:
            file.seek(self._read.get(path, 0))
            data = file.read()
        whole = data if last else data[: data.rfind(b"\n") + 1]
        self._read[path] = self._read.get(path, 0) + len(whole)
        yield from whole.decode("utf-8", "replace").splitlines()

    def _say(self, path: Path, line: str) -> None:
        if path != self._last:
            say(f"\n{strong(path.name)}")
            self._last = path
        verbatim(clean(line).replace("\n", "\n  "))
        self.anything = True


def _place(path: Path) -> tuple[int, int, str]:
    """Where a log stands in an attempt: set-up, hooks before, the agent, checks by their numbers, hooks after."""
    order = ("setup", "hook-before_run", "agent", "verify", "hook-after_run")
    kind = next((number for number, start in enumerate(order) if path.name.startswith(start)), len(order))
    digits = "".join(letter for letter in path.stem if letter.isdigit())
    return kind, int(digits or 0), path.name


def readable(record: str) -> Iterator[str]:
    """A record of an agent's transcript in lines for people: what it said, which tools it used, how it ended.

    What is no such record is shown as it is.
    """
    try:
        value = json.loads(record)
    except ValueError:
        yield record
        return
    if not isinstance(value, dict):
        yield record
        return
    match value.get("type"):
        case "output":
            yield str(value.get("text", ""))
        case "baton":
            yield f"- {value.get('event', '')} {value.get('turn', '')}, {value.get('time', '')}"
        case "assistant" | "user":
            yield from _contents(value.get("message"))
        case "result":
            yield f"= {value.get('subtype', 'ended')}: {_shortened(value.get('result', ''))}"
        case "system" | "stream_event":
            return
        case _:
            yield _shortened(record)


def _contents(message: Any) -> Iterator[str]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        match part.get("type") if isinstance(part, dict) else None:
            case "text":
                yield str(part.get("text", ""))
            case "tool_use":
                yield f"> {part.get('name', 'tool')} {_shortened(json.dumps(part.get('input', {})))}"
            case "tool_result":
                yield f"< {_shortened(_text_of(part.get('content')))}"


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _shortened(text: Any) -> str:
    line = one_line(str(text))
    return line if len(line) <= _SHORT else f"{line[:_SHORT]}…"
