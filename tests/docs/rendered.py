"""The parts of the reference that are written from declarations: ``python -m tests.docs.rendered`` writes them anew.

A part stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; the test holds it against what this makes.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import click

from baton_runner.agents.environment import BASE_NAMES
from baton_runner.cli.commands import _GROUPS, baton
from baton_runner.evidence.receipt import Receipt
from baton_runner.workflow.kinds import Choice, Choices, Integer, Kind
from baton_runner.workflow.prompt_values import known_paths
from baton_runner.workflow.settings import section_types
from baton_runner.workflow.template import filter_names

__all__ = ["REFERENCE", "parts", "written"]

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"

_WORDS = {
    "Amount": "number, at least 0",
    "Answers": "list of `pattern` and `reply`",
    "CommandMap": "map of a glob to commands",
    "Duration": "seconds, or text such as `90s`, `20m`, `1h`",
    "EnvironmentMap": "map of a name to a value",
    "EnvironmentNames": "names, one or a list",
    "Flag": "`true` or `false`",
    "PathText": "path",
    "PatternList": "regular expressions, one or a list",
    "Script": "command line, as it is",
    "ScriptList": "command lines, one or a list",
    "SecretText": "`$NAME` of a variable",
    "SetupSteps": "command lines, or maps of `run` and `files`",
    "StateLimits": "map of a state to a number",
    "States": "text, one or a list",
    "Text": "text",
    "TextList": "text, one or a list",
}
_SHOWN = 4


def parts() -> Mapping[str, str]:
    """Every written part, by name."""
    return {
        "commands": "\n".join(_commands()),
        "settings": "\n".join(_settings()),
        "variables": "\n".join(f"- `{path}`" for path in sorted(known_paths())),
        "filters": _list(sorted(filter_names())),
        "environment": _list(BASE_NAMES),
        "receipt": _list(sorted([*(each.name for each in dataclasses.fields(Receipt)), "schema", "proof", "seal"])),
    }


def written(text: str) -> str:
    """A page with its parts as they are today."""
    for name, part in parts().items():
        mark = re.compile(rf"(<!-- begin {name} -->\n).*?(\n<!-- end {name} -->)", re.DOTALL)
        assert mark.search(text), f"the reference has no part {name}"
        text = mark.sub(lambda found, part=part: f"{found[1]}\n{part}\n{found[2]}", text)  # type: ignore[misc]
    return text


def _list(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


# -- settings


def _settings() -> Iterator[str]:
    for name, section in section_types().items():
        yield f"### {name}\n\n{_summary(section)}\n"
        yield "| key | holds | default | meaning |\n|---|---|---|---|"
        long: list[str] = []
        for declared in dataclasses.fields(section):
            if "kind" not in declared.metadata:
                continue
            default = declared.metadata["default"]
            shown = _default(default)
            if isinstance(default, tuple) and len(default) > _SHOWN:
                long.append(f"`{name}.{declared.name}` is by default {shown}.")
                shown = "below"
            kind, meaning = _kind(declared.metadata["kind"]), declared.metadata["meaning"]
            yield f"| `{name}.{declared.name}` | {kind} | {shown} | {_cell(meaning)} |"
        yield "".join(f"\n{text}\n" for text in long)


def _summary(section: type[Any]) -> str:
    return (section.__doc__ or "").partition("\n")[0]


def _kind(kind: Kind[Any]) -> str:
    if isinstance(kind, Choice):
        return " or ".join(f"`{each.value}`" for each in kind.choices)
    if isinstance(kind, Choices):
        return f"list of {', '.join(f'`{each.value}`' for each in kind.choices)}"
    if isinstance(kind, Integer):
        least = f", at least {kind.minimum}" if kind.minimum is not None else ""
        most = f", at most {kind.maximum}" if kind.maximum is not None else ""
        return f"whole number{least}{most}"
    return _WORDS[type(kind).__name__]


def _default(value: Any) -> str:
    if value is None or (isinstance(value, tuple | Mapping) and not value):
        return "none"
    if isinstance(value, tuple):
        return ", ".join(_default(each) for each in value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Enum):
        return f"`{value.value}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# -- commands


def _commands() -> Iterator[str]:
    top = click.Context(baton, info_name="baton")
    for entries in _GROUPS.values():
        for name in entries:
            command = baton.get_command(top, name)
            assert command is not None
            yield from _command(command, f"baton {name}", top)
            if isinstance(command, click.Group):
                for inner in command.commands.values():
                    yield from _command(inner, f"baton {name} {inner.name}", top)


def _command(command: click.Command, path: str, top: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=path, parent=None, color=False)
    context.obj = top.obj
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield f"### {path}\n\n`{usage}`\n\n{_help(command)}\n"
    rows = [
        _row(option, context) for option in command.params if isinstance(option, click.Option) and not option.hidden
    ]
    if rows:
        yield "| option | meaning |\n|---|---|"
        yield from rows
        yield ""


def _help(command: click.Command) -> str:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(_paragraph(each) for each in paragraphs)


def _paragraph(text: str) -> str:
    """A paragraph; one behind click's mark for lines that stay as they are becomes a block."""
    kept, mark, lines = text.partition("\b\n")
    return f"{kept}```text\n{lines}\n```" if mark else text.replace("\n", " ")


def _row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, meaning = record
    return f"| `{_cell(names)}` | {_cell(meaning)} |"


if __name__ == "__main__":
    REFERENCE.write_text(written(REFERENCE.read_text("utf-8")), "utf-8")
