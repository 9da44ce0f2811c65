"""Foreign text made fit to show: without control characters, in few lines, in a given width; and numbers as people read them."""

import re
import unicodedata
from pathlib import Path

__all__ = ["clean", "cost", "fitted", "last_lines", "nearby", "one_line", "plural", "seconds", "width_of"]

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # operating system commands: titles, links, clipboard
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\|$)"  # device control strings and their kin
    r"|[\x1b][\[][0-?]*[ -/]*[@-~]?"  # control sequences: colours, cursor movement
    r"|\x9b[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_NONCHARACTERS = frozenset(map(chr, range(0xFDD0, 0xFDF0)))
_MINUTE, _HOUR = 60, 3600


def clean(text: str) -> str:
    """A text without escape sequences and control characters; line ends and tabs stay, a bare carriage return ends a line.

    What turns the direction of writing goes too, so that a line reads as it is.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(sign for sign in text if sign in "\n\t" or _is_shown(sign))


def _is_shown(sign: str) -> bool:
    """Whether a sign is no control, format or surrogate character and none that Unicode and XML keep out of text."""
    is_noncharacter = ord(sign) & 0xFFFE == 0xFFFE or sign in _NONCHARACTERS  # noqa: PLR2004 - the last two of each plane
    return unicodedata.category(sign) not in {"Cc", "Cf", "Cs"} and not is_noncharacter


def one_line(text: str) -> str:
    """A clean text in one line, its blanks made single ones."""
    return " ".join(clean(text).split())


def last_lines(text: str, most: int) -> list[str]:
    """The last lines of a text, clean; a line says how many are left out before them."""
    lines = clean(text).rstrip().split("\n")
    left_out = len(lines) - most
    return lines if left_out <= 0 else [f"... {plural(left_out, 'line')} before", *lines[left_out:]]


def width_of(text: str) -> int:
    """The columns a text takes on a terminal: wide signs take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def fitted(text: str, width: int) -> str:
    """A text cut or filled to exactly this many columns."""
    if width_of(text) > width:
        while text and width_of(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - width_of(text))


def seconds(value: float) -> str:
    """A time as people read it: ``0.05s``, ``12.3s``, ``4m05s``, ``1h02m``."""
    if value < 1:
        return f"{value:.2f}s"
    if round(value, 1) < _MINUTE:
        return f"{value:.1f}s"
    whole = round(value)
    if whole < _HOUR:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // _HOUR}h{whole % _HOUR // 60:02d}m"


def cost(usd: float | None) -> str:
    """Dollars, empty when nobody said what it cost, or it cost nothing."""
    return f"${usd:.2f}" if usd else ""


def plural(count: int, word: str, many: str = "") -> str:
    """``1 turn``, ``2 turns``; ``many`` is the plural that is not made with an s."""
    return f"{count} {word}" if count == 1 else f"{count} {many or f'{word}s'}"


def nearby(path: str) -> str:
    """A path as a person would type it here."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path
