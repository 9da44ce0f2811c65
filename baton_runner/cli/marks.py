"""One sign and one colour per state, the same wherever a task is shown."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from baton_runner.controller.states import State

__all__ = ["mark_of"]

_MARKS = {
    "resolved": ("✓", "green"),
    "accepted": ("✓", "cyan"),
    "ready": ("○", None),
    "blocked": ("·", None),
    "running": ("▶", "blue"),
    "failed": ("✗", "red"),
    "held": ("‖", "yellow"),
    "manual": ("☞", "yellow"),
    "redo": ("↻", "yellow"),
    "stale": ("↻", "yellow"),
    "broken": ("!", "red"),
    "not_integrated": ("⇢", "yellow"),
    "conflict": ("✗", "red"),
    "duplicate": ("!", "red"),
}


def mark_of(state: "State") -> str:
    """The sign of a state, coloured."""
    sign, colour = _MARKS[state.value]
    return click.style(sign, fg=colour) if colour else sign
