"""Did you mean: the known name that is nearest to one that was written."""

from collections.abc import Iterable

__all__ = ["nearest"]

_CUTOFF = 0.6


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name most like the written one, case, ``-`` and ``_`` apart; None when nothing is like it."""
    import difflib

    by_folded = {_fold(name): name for name in known}
    found = difflib.get_close_matches(_fold(written), by_folded, n=1, cutoff=_CUTOFF)
    return by_folded[found[0]] if found else None


def _fold(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
