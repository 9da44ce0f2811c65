"""Outcomes: what a task changed, as one digest, and the gates that chain them section by section.

Outcome = H(previous outcome of the task, sorted (path, old mode and blob, new mode and blob) of what its merge
changed). Gate = H(the gates before the section, the outcomes of the section's tasks). Both are what dependants
compare, so that a change travels exactly as far as bytes differ.
"""

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from baton_runner.base.digest import canonical, digest

__all__ = ["PathChange", "accepted_outcome", "gate_digest", "outcome_bytes", "task_outcome"]


class PathChange(Protocol):
    """One path that differs between two trees, with git's modes and full blob ids."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def old_mode(self) -> str: ...  # noqa: D102
    @property
    def old_blob(self) -> str: ...  # noqa: D102
    @property
    def new_mode(self) -> str: ...  # noqa: D102
    @property
    def new_blob(self) -> str: ...  # noqa: D102


def task_outcome(previous: str | None, changes: Sequence[PathChange]) -> str:
    """The outcome after a merge that made these changes; no change at all keeps the previous outcome byte for byte."""
    if not changes and previous is not None:
        return previous
    rows = sorted([_name(c.path), c.old_mode, c.old_blob, c.new_mode, c.new_blob] for c in changes)
    return digest({"previous": previous, "changes": rows})


def _name(path: str) -> str:
    """A path as JSON can hold it: git's are bytes, and those that are no UTF-8 become hex behind a NUL, which no path has."""
    data = os.fsencode(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return f"\0{data.hex()}"


@functools.lru_cache(maxsize=1 << 16)
def accepted_outcome(key: str) -> str:
    """The outcome of a task that a person resolved by hand: constant, for nothing is known of what it did."""
    return digest({"accepted": key})


def gate_digest(before: Iterable[str], outcomes: Mapping[str, str]) -> str:
    """The digest of a gate: everything a later section may rely on."""
    return digest({"before": list(before), "outcomes": dict(outcomes)})


def outcome_bytes(value: str) -> bytes:
    """What an outcome or gate file holds."""
    return canonical({"outcome": value}) + b"\n"
