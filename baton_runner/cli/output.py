"""How things look on a terminal: one idea a line, aligned, colour only where it is wanted, nothing that moves a cursor.

Text that people or agents wrote is cleaned before it is shown. Colour is left to click: it strips what we add where the
output is no terminal, and everywhere when ``NO_COLOR`` is set.
"""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

import click

from baton_runner.build.report import text as foreign
from baton_runner.build.report.text import clean, plural, width_of

__all__ = [
    "bad", "clean", "columns", "faint", "good", "one_line", "plural", "say", "strong", "verbatim", "wary", "wrapped",
]  # fmt: skip

_NARROWEST = 20
_WORD = re.compile(r"(\s*)(\S+)")
_GAP = re.compile(r"\S {2,}(?=\S)|^ +")


def say(text: str = "") -> None:
    """One line of output, broken between words where a terminal is too narrow; whoever calls has cleaned what is not ours."""
    if sys.stdout.isatty():
        text = "\n".join(wrapped(text, shutil.get_terminal_size().columns))
    click.echo(text)


def verbatim(text: str) -> None:
    """Output that stays as it is: documents, scripts, what programs wrote."""
    click.echo(text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """A line in lines of at most ``width`` columns, broken between words; a longer word, such as a path, stays whole.

    What follows stands below the last cell that begins in the left half. Colours go on over the break.
    """
    if _width(text) <= width or width < _NARROWEST:
        yield text
        return
    starts = [found.end() for found in _GAP.finditer(click.unstyle(text))]
    margin = " " * max([start for start in starts if start <= width // 2], default=0)
    line = ""
    for gap, word in _WORD.findall(text):
        if click.unstyle(line).strip() and _width(line + gap + word) > width:
            yield line
            line = margin + word
        else:
            line += gap + word
    yield line


def one_line(text: str) -> str:
    """Text of others in one line; what is harmless already, as nearly all is, costs little."""
    return " ".join(text.split()) if text.isprintable() else foreign.one_line(text)


def strong(text: str) -> str:
    """A heading."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """What may be overlooked."""
    return click.style(text, dim=True)


def good(text: str) -> str:
    """What went well."""
    return click.style(text, fg="green")


def wary(text: str) -> str:
    """What deserves a look."""
    return click.style(text, fg="yellow")


def bad(text: str) -> str:
    """What is wrong."""
    return click.style(text, fg="red")


def columns(rows: Iterable[Sequence[str]], *, indent: str = "") -> Iterator[str]:
    """The rows with their cells aligned; the last cell is as long as it is."""
    table = [tuple(row) for row in rows]
    widths = [max(map(_width, cells)) for cells in zip(*(row[:-1] for row in table), strict=True)]
    for row in table:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row[:-1], widths, strict=True)]
        yield (indent + "  ".join([*cells, row[-1]])).rstrip()


def _width(text: str) -> int:
    """The columns a cell takes; our own colours take none."""
    return width_of(click.unstyle(text) if "\x1b" in text else text)
