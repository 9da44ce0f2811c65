"""Code spans and comments: what opens first wins, what never closes is text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.plan.inline import blank_code, scan


@pytest.mark.parametrize(
    ("text", "code", "comments", "open_at"),
    [
        ("a `b` c", ["b"], [], -1),
        ("``a ` b`` `c`", ["a ` b", "c"], [], -1),
        ("a ` b", [], [], -1),
        ("`a ``b`", ["a ``b"], [], -1),
        ("<!-- a --> `b`", ["b"], [" a "], -1),
        ("<!-- `a` --> b", [], [" `a` "], -1),
        ("`<!-- a -->`", ["<!-- a -->"], [], -1),
        ("a ` b <!-- c --> d", [], [" c "], -1),
        ("a <!-- b", [], [], 2),
        ("a --> b", [], [], -1),
    ],
)
def test_what_is_what(text: str, code: list[str], comments: list[str], open_at: int) -> None:
    found = scan(text)
    assert [inner for _, _, inner in found.code] == code
    assert [inner for _, _, inner in found.comments] == comments
    assert found.unclosed == open_at


@given(st.text(alphabet="`<!- >ab\n", max_size=40))
def test_blanked_code_keeps_every_other_character_in_its_place(text: str) -> None:
    blanked = blank_code(text)
    inside = {at for start, end, _ in scan(text).code for at in range(start, end)}
    assert len(blanked) == len(text)
    assert all(b == (" " if at in inside else a) for at, (a, b) in enumerate(zip(text, blanked, strict=True)))


def test_a_text_of_nothing_but_openers_takes_linear_time() -> None:
    text = "".join("`" * n + "x" for n in range(1, 600)) + "<!--" * 50_000
    start = time.process_time()
    scan(text)
    assert time.process_time() - start < 2
