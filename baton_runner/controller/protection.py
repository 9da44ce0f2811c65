"""Protected files: an agent that rewrites what judges it proves nothing (design 4.2, ``verify.protect``)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from baton_runner.repo.objects import Change

__all__ = ["violations"]

_ABSENT = "000000"


def violations(changes: Iterable[Change], globs: Sequence[str]) -> tuple[str, ...]:
    """The protected files among these changes that were there before and were changed or deleted; adding one is fine."""
    patterns = [_pattern(glob) for glob in globs]
    return tuple(
        change.path
        for change in changes
        if change.old_mode != _ABSENT and any(pattern.fullmatch(change.path) for pattern in patterns)
    )


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """A glob over repository paths: ``*`` stays within a folder, ``**`` crosses them, a bare folder means all in it."""
    text = glob.strip("/") + ("/**" if glob.endswith("/") else "")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    rules = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(rules.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")
