"""What agents consume: tokens and money, read leniently and added up without counting anything twice.

Rules R-142 to R-144 of the service's specification: per-turn figures are added, running totals count by how much they
grew, and what a turn's end reports is not added to what its live figures covered already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["NO_USAGE", "Meter", "Usage", "read_usage"]

_INPUT = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "input")
_OUTPUT = ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "output", "completion")
_TOTAL = ("total_tokens", "totalTokens", "total")


@dataclass(frozen=True)
class Usage:
    """Tokens and US dollars. ``cost_usd`` is None where no cost was reported: unknown, not free."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.total_tokens + other.total_tokens,
            _add_cost(self.cost_usd, other.cost_usd),
        )

    def beyond(self, mark: "Usage") -> "Usage":
        """How far these running totals are above a mark, field by field; never below zero."""
        cost = None if self.cost_usd is None else max(self.cost_usd - (mark.cost_usd or 0), 0.0)
        return Usage(
            max(self.input_tokens - mark.input_tokens, 0),
            max(self.output_tokens - mark.output_tokens, 0),
            max(self.total_tokens - mark.total_tokens, 0),
            cost,
        )

    def highest(self, other: "Usage") -> "Usage":
        """The higher value of each field."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            max(self.input_tokens, other.input_tokens),
            max(self.output_tokens, other.output_tokens),
            max(self.total_tokens, other.total_tokens),
            max(costs, default=None),
        )


NO_USAGE = Usage()


def read_usage(value: Any, cost_usd: Any = None) -> Usage:
    """The usage in a JSON map, under any of the names in use; what is absent, negative or no number counts as zero."""
    fields = value if isinstance(value, Mapping) else {}
    used = _first(fields, _INPUT)
    made = _first(fields, _OUTPUT)
    return Usage(used, made, _first(fields, _TOTAL) or used + made, _cost(cost_usd))


class Meter:
    """One agent session's spend. Its baselines live as long as the session: a new turn does not reset them (R-143)."""

    def __init__(self) -> None:
        self.spent = NO_USAGE
        self._mark = NO_USAGE

    def add(self, usage: Usage) -> Usage:
        """Count a figure that stands for itself (one turn's, one message's); returns it."""
        self.spent += usage
        return usage

    def see_total(self, total: Usage) -> Usage:
        """Count by how much a running total grew beyond the highest one seen; a smaller one adds nothing."""
        growth = total.beyond(self._mark)
        self._mark = self._mark.highest(total)
        self.spent += growth
        return growth


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> int:
    for name in names:
        number = _tokens(fields.get(name))
        if number is not None:
            return number
    return 0


def _tokens(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number >= 0 else None


def _cost(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def _add_cost(one: float | None, other: float | None) -> float | None:
    if one is None:
        return other
    return one if other is None else one + other
