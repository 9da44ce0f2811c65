"""``-k`` reads words as pytest does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import UsageError
from baton_runner.build.expression import parse_expression


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("login", True),
        ("LOGIN", True),
        ("logout", False),
        ("login and form", True),
        ("login and table", False),
        ("login or table", True),
        ("not login", False),
        ("not table and form", True),
        ("not (login and table)", True),
        ("table or login and form", True),
        ("(table or login) and nothing", False),
        ("add:1.2", True),
        ("not not login", True),
    ],
)
def test_words_are_joined_as_in_pytest(expression: str, matches: bool) -> None:
    assert parse_expression(expression)("add:1.2 Build the Login form") is matches


@pytest.mark.parametrize("expression", ["", "and", "a and", "(a", "a)", "not", "a b", "()", "or a", ") ("])
def test_what_is_no_expression_is_refused_with_its_place(expression: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expression(expression)
    assert "-k" in str(caught.value)


WORDS = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.one_of(
        inner.map("not {}".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
)


@given(WORDS, st.sets(st.sampled_from(["a", "b", "c"])))
def test_it_is_python_for_words(expression: str, held: set[str]) -> None:
    """Precedence and grouping are those of Python's own operators."""
    expected = eval(expression, {}, {name: name in held for name in "abc"})  # noqa: S307 - words of the strategy above
    assert parse_expression(expression)(" ".join(held)) is expected
