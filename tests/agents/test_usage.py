"""Spend: read under any name, added up without counting twice."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.agents.usage import NO_USAGE, Meter, Usage, read_usage


@pytest.mark.parametrize(
    "fields",
    [
        {"input_tokens": 7, "output_tokens": 3},
        {"prompt_tokens": 7, "completion_tokens": 3},
        {"inputTokens": "7", "outputTokens": 3.0},
        {"input": 7, "output": "3"},
        {"promptTokens": 7, "output_tokens": 3, "total_tokens": 10},
    ],
)
def test_names_in_use_are_understood(fields: dict[str, Any]) -> None:
    """R-144."""
    assert read_usage(fields) == Usage(7, 3, 10)


@pytest.mark.parametrize(
    "fields", [None, [], "x", {"input_tokens": -5, "output_tokens": "many"}, {"input_tokens": True}, {"output": None}]
)
def test_what_is_no_number_counts_as_nothing(fields: Any) -> None:
    assert read_usage(fields) == NO_USAGE


def test_a_reported_total_is_kept() -> None:
    """T146: the total speaks for itself, it is not computed from parts that may be partial."""
    assert read_usage({"input_tokens": 2, "total_tokens": 200}).total_tokens == 200


@pytest.mark.parametrize(
    ("cost", "expected"), [(0.5, 0.5), (0, 0.0), (None, None), ("1", None), (-1, None), (True, None)]
)
def test_an_unknown_cost_is_not_zero(cost: Any, expected: float | None) -> None:
    assert read_usage({}, cost).cost_usd == expected


def test_running_totals_count_by_their_growth() -> None:
    """T145: 8 then 10 is 10, not 18; a smaller total adds nothing and does not lower the mark."""
    meter = Meter()
    assert meter.see_total(Usage(8, 0, 8)) == Usage(8, 0, 8)
    assert meter.see_total(Usage(10, 1, 11)) == Usage(2, 1, 3)
    assert meter.see_total(Usage(4, 0, 4)) == NO_USAGE
    assert meter.see_total(Usage(11, 1, 12)) == Usage(1, 0, 1)
    assert meter.spent == Usage(11, 1, 12)


def test_per_turn_figures_are_added() -> None:
    """T148."""
    meter = Meter()
    for _ in range(2):
        meter.add(Usage(100, 40, 140, 0.25))
    assert meter.spent == Usage(200, 80, 280, 0.5)


def test_costs_add_up_where_they_are_known() -> None:
    assert (Usage(cost_usd=None) + Usage(cost_usd=0.5) + Usage(cost_usd=None)).cost_usd == 0.5
    assert (Usage() + Usage()).cost_usd is None


tokens = st.integers(0, 10_000)
totals = st.lists(st.builds(Usage, tokens, tokens, tokens, st.none() | st.integers(0, 64).map(float)), max_size=12)


@given(totals)
def test_the_growths_sum_up_to_the_highest_totals(seen: list[Usage]) -> None:
    """Whatever the order of reports, the spend is the highest value of each field, and growths add up to it."""
    meter = Meter()
    growths = [meter.see_total(total) for total in seen]
    highest = NO_USAGE
    for total in seen:
        highest = highest.highest(total)
    assert meter.spent == highest
    assert sum(growths, NO_USAGE) == highest
