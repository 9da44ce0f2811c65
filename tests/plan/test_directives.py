"""Comments addressed to us: commands, settings, and complaints about what is not understood."""

import pytest

from baton_runner.plan.directives import is_directive, parse_comments, seconds
from baton_runner.plan.model import Directives


def test_commands_keep_their_lines() -> None:
    found = parse_comments([" run: a ", "Verify:b", "\nrun:\n    c\n      d\n", " id: 3 ", " running: x "])
    assert (found.recipe, found.verify) == (("a", "c\n  d"), ("b",))
    assert (found.directives, found.complaints) == (Directives(), ())


def test_settings_of_several_comments_add_up() -> None:
    found = parse_comments(
        [" baton: allow-empty, resources=db ", " baton: resources=gpu+db, Agent=copilot\n timeout=1h, verify=always "]
    )
    assert found.directives == Directives(allow_empty=True, agent="copilot", timeout=3600.0, resources=("db", "gpu"))


@pytest.mark.parametrize(
    ("comment", "what"),
    [
        ("baton: alow-empty", "directive alow-empty is not known"),
        ("baton: colour=red", "directive colour is not known"),
        ("baton: timeout=0", "directive timeout cannot be 0"),
        ("baton: timeout", "directive timeout cannot be empty"),
        ("baton: agent=", "directive agent cannot be empty"),
        ("baton: verify=twice", "directive verify cannot be twice"),
        ("baton: protect=maybe", "directive protect cannot be maybe"),
        ("run:  ", "the comment `run:` names no command"),
    ],
)
def test_what_is_not_understood_is_said(comment: str, what: str) -> None:
    ((said, todo),) = parse_comments([comment]).complaints
    assert said == what
    assert todo


@pytest.mark.parametrize(
    ("text", "expected"), [("90", 90), ("90s", 90), ("1.5m", 90), ("20m", 1200), ("1h", 3600), ("2d", 172800)]
)
def test_durations_are_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "0", "-1", "1w", "m", "1 h 2"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        seconds(text)


def test_only_three_words_are_addressed_to_us() -> None:
    assert [is_directive(text) for text in (" run: x", "VERIFY : x", "baton:", "id: 3", "runs: x")] == [
        True,
        True,
        True,
        False,
        False,
    ]
