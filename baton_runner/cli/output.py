"""How things look on a terminal: one idea a line, aligned, colour only where it is wanted, nothing that moves a cursor.

Text that people or agents wrote passes :func:`plain` (or :func:`line`) before it is shown. Colour is left to click:
it strips what we add where the output is no terminal, and everywhere when ``NO_COLOR`` is set.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import click

__all__ = ["columns", "faint", "line", "plain", "say", "strong"]

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text without escape sequences, control and direction characters; lines and tabs stay."""
    return _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n")))


def line(text: str) -> str:
    """The text as one line, for a title or a message."""
    return " ".join(plain(text.replace("\r", " ")).split())


def say(text: str = "") -> None:
    """One line of output; whoever calls has cleaned what is not ours."""
    click.echo(text)


def strong(text: str) -> str:
    """A heading."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """What may be overlooked."""
    return click.style(text, dim=True)


def columns(rows: Iterable[Sequence[str]], *, indent: str = "") -> Iterable[str]:
    """The rows with their cells aligned; the last cell is as long as it is."""
    table = [tuple(row) for row in rows]
    widths = [max(map(_width, cells)) for cells in zip(*(row[:-1] for row in table), strict=True)] if table else []
    for row in table:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        yield (indent + "  ".join([*cells, row[-1]])).rstrip()


def _width(text: str) -> int:
    """How many columns a text takes: East Asian characters two, combining marks none, our own colours none."""
    return sum(_columns_of(character) for character in click.unstyle(text))


def _columns_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
