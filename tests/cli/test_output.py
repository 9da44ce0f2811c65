"""Lines on a terminal: broken between words, never inside one."""

import io

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.cli.output import faint, say, verbatim, wary, wrapped

_LONG = "  ○  1.2  ready  Build the form with every field that the page needs  waits for 1.1"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=40), st.integers(20, 60))
def test_every_line_fits_and_every_word_is_kept(words: list[str], width: int) -> None:
    """No word is lost, cut or moved."""
    lines = list(wrapped(" ".join(words), width))
    assert max(map(len, lines)) <= width
    assert " ".join(lines).split() == words


def test_what_follows_stands_below_its_cell() -> None:
    """A row stays a row: its first cells stand alone."""
    assert list(wrapped(_LONG, 40)) == [
        "  ○  1.2  ready  Build the form with",
        "                 every field that the",
        "                 page needs  waits for",
        "                 1.1",
    ]


def test_colour_takes_no_room_and_a_long_word_stays_whole() -> None:
    """A path can be copied as it is."""
    path = "/home/user/.local/state/baton/a-repository/attempts/1/tree"
    text = f"  {wary('kept')}  {faint(path)}"
    assert list(wrapped(text, 80)) == [text]
    assert click.unstyle("\n".join(wrapped(text, 30))) == f"  kept\n        {path}"


def test_only_a_terminal_gets_broken_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs read whole lines, and documents stay as they are in any case."""
    monkeypatch.setenv("COLUMNS", "40")
    for stream, expected in ((Terminal(), 4), (io.StringIO(), 1)):
        monkeypatch.setattr("sys.stdout", stream)
        say(_LONG)
        assert len(stream.getvalue().splitlines()) == expected
        verbatim(_LONG)
        assert len(stream.getvalue().splitlines()) == expected + 1
