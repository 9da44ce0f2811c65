"""Commands that only look answer at once where nothing changed since they last did and nothing was left to do."""

import gc
import io
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

import click

from baton_runner.build.fingerprint import keep, locate, recall
from baton_runner.cli.exits import Exit
from baton_runner.cli.place import Place

__all__ = ["answered"]


class _Page(io.StringIO):
    """What is printed, kept in hand; it looks like the output it stands for, so that colours and breaks are the same."""

    def isatty(self) -> bool:
        return sys.__stdout__ is not None and sys.__stdout__.isatty()


def answered(place: Place, words: Sequence[str], show: Callable[[], bool]) -> Exit:
    """Print what was kept for these words, or have ``show`` print it, which says whether all was finished and nothing waits."""
    terminal = _Page().isatty()
    width = str(shutil.get_terminal_size().columns) if terminal else ""
    request = (*words, width, str(click.get_current_context().color))
    spot = locate(place.folder, place.environ)
    kept = recall(spot, request, place.environ) if spot else None
    if kept is not None:
        sys.stdout.write(kept)
        return Exit.DONE
    gc.set_threshold(50_000)  # plans and receipts are values that live to the end: collecting is a fifth of the time
    began, page, settled = time.time_ns(), _Page(), False
    try:
        with redirect_stdout(page):
            settled = show()
    finally:
        sys.stdout.write(page.getvalue())
    if spot and settled and spot.baton.is_dir():
        keep(place.project, spot, request, page.getvalue(), began)
    return Exit.DONE
