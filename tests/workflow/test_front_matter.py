"""The guarded YAML reader (R-004, R-005, T004, T005, threats: bombs, types, duplicates)."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.front_matter import MAX_ALIASES, MAX_DEPTH, read_front_matter


def values(text: str) -> Any:
    return dict(read_front_matter(text, "W", 2).values)


def refusal(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        read_front_matter(text, "W", 2)
    return caught.value


@pytest.mark.parametrize("text", ["", "\n\n", "null", "~", "# only a comment"])
def test_nothing_is_an_empty_map(text: str) -> None:
    """R-004: empty and null YAML give no settings."""
    assert values(text) == {}


@pytest.mark.parametrize("text", ["- a\n- b", "[a]", "just text", "5"])
def test_a_root_that_is_no_map(text: str) -> None:
    """T004, R-005: a list or a scalar has its own code."""
    assert refusal(text).code == "workflow_front_matter_not_a_map"


@pytest.mark.parametrize("text", ["foo: [x", "a: b: c", "a:\n\tb: 1", "a: 'x", "a: @x", "a: *nope", "}"])
def test_broken_yaml(text: str) -> None:
    """T005, R-005: a syntax error says where."""
    error = refusal(text)
    assert error.code == "workflow_parse_error"
    assert error.where.startswith("W:")


def test_the_line_of_an_error_is_the_line_in_the_file() -> None:
    """The front matter starts on line 2; line 3 of it is line 4 of the file."""
    assert refusal("a: 1\nb: 2\nc: [").where in {"W:4", "W:5"}
    assert refusal("a: 1\nb: 2\na: 3").where == "W:4"


def test_duplicate_keys_name_both_lines() -> None:
    """Decision 1: the last one does not win in silence, at any depth."""
    error = refusal("claude_code:\n  stall_timeout_ms: 1\n  model: x\n  stall_timeout_ms: 2\n")
    assert str(error) == "W:5: claude_code.stall_timeout_ms appears twice; first at line 3; keep one of them"


def test_scalars_follow_the_core_rules() -> None:
    """`on`, `off`, `yes`, dates and `12:30` are text; numbers and booleans are what they look like."""
    assert values("on: off\nyes: no\nd: 2026-01-02\nt: 12:30\no: 010\nb: true\nn: -5\nf: 1.5\nz: null\ne: 1e3") == {
        "on": "off",
        "yes": "no",
        "d": "2026-01-02",
        "t": "12:30",
        "o": "010",
        "b": True,
        "n": -5,
        "f": 1.5,
        "z": None,
        "e": 1000.0,
    }


def test_quoted_scalars_stay_text() -> None:
    """Quotes mean text."""
    assert values("a: \"5\"\nb: 'true'\nc: ''\nd: |\n  x\n  y\n") == {"a": "5", "b": "true", "c": "", "d": "x\ny\n"}


def test_keys_are_text() -> None:
    """A section number as a key is its text."""
    assert values("2: a\nnull: b\ntrue: c") == {"2": "a", "null": "b", "true": "c"}


def test_numbers_that_cannot_be_kept_stay_text() -> None:
    """A number of thousands of digits neither fails nor turns into infinity unseen."""
    read = values(f"a: {'9' * 5000}\nb: 1e999\n")
    assert read["a"] == "9" * 5000
    assert math.isinf(read["b"])


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']",
        "a: !!python/name:os.system",
        "a: !!int x",
        "a: !!binary aGk=",
        "a: !custom x",
        "!!python/tuple [a]",
        "a: !!set {b}",
    ],
)
def test_tags_are_refused(text: str) -> None:
    """Threat: typed constructors. No tag is ever looked up."""
    error = refusal(text)
    assert error.code == "workflow_parse_error"
    assert "is not allowed" in error.what


def test_billion_laughs() -> None:
    """Threat: aliases that grow. The size after aliases is bounded before anything walks the values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 7)]
    assert "holds more than" in refusal("\n".join(lines)).what


def test_alias_count_is_bounded() -> None:
    """Threat: many aliases, each small."""
    assert "aliases" in refusal("a: &a x\n" + "\n".join(f"k{n}: *a" for n in range(MAX_ALIASES + 1))).what


def test_a_few_aliases_work() -> None:
    """An anchor used once or twice is fine."""
    assert values("a: &a [x]\nb: *a") == {"a": ["x"], "b": ["x"]}


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "&a [*a]"])
def test_recursive_aliases_are_refused(text: str) -> None:
    """A value that holds itself would never end."""
    assert "names nothing that is complete" in refusal(text).what


@pytest.mark.parametrize("nest", ["[", "{a: ", "- "])
def test_depth_is_bounded(nest: str) -> None:
    """Threat: a hundred levels are refused by name, ten thousand do not exhaust the stack."""
    assert f"more than {MAX_DEPTH} levels" in refusal(f"a:\n  {nest * 100}").what
    assert refusal(f"a:\n  {nest * 10_000}").code == "workflow_parse_error"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: &a {b: 1}\nc:\n  <<: *a", "merge keys"),
        ("? [x]\n: 1", "where a key is expected"),
        ("? {x: 1}\n: 1", "where a key is expected"),
        ("a: &a x\n? *a\n: 1", "where a key is expected"),
        ("a: 1\n...\n---\nb: 2", "second YAML document"),
    ],
)
def test_what_settings_do_not_need_is_refused(text: str, what: str) -> None:
    """Merge keys, collections as keys and second documents end with a message, not with a surprise."""
    assert what in refusal(text).what


YAML_SIGNS = [
    "a: ", "b: ", "- ", "[", "]", "{", "}", "&x ", "*x ", "!!int ", "'", '"', "\n", "\n  ", "? ", ": ", "|\n", "#", "<<: ",
    "1", "%", "--- ", "... ",
]  # fmt: skip


@given(st.text(max_size=200) | st.lists(st.sampled_from(YAML_SIGNS), max_size=30).map("".join))
def test_junk_gives_values_or_a_policy_error(text: str) -> None:
    """Whatever stands between the delimiters, plain text or YAML's own signs, nothing but a PolicyError comes out."""
    error: PolicyError | None = None
    try:
        read_front_matter(text, "W", 2)
    except PolicyError as caught:
        error = caught
    if error is not None:
        assert error.code in {"workflow_parse_error", "workflow_front_matter_not_a_map"}
        assert error.where.startswith("W:")
        assert error.todo
