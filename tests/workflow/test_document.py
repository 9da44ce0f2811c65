"""Splitting WORKFLOW.md (R-003, R-004, R-006, T001, T002, T003, T007, and the edge cases of real files)."""

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.document import MAX_FRONT_MATTER, MAX_SIZE, split


def test_front_matter_and_body_are_parted() -> None:
    """T001, R-006: the body is stripped, and its first line is known."""
    document = split(b"---\nagent: {}\n---\n\n\n  Do it.  \n\n", "WORKFLOW.md")
    assert document.front == "agent: {}"
    assert (document.body, document.body_line) == ("Do it.", 6)


def test_no_front_matter_is_all_prompt() -> None:
    """T002, R-004: without `---` on line 1 the whole file is the prompt."""
    document = split(b"Do it.\nNow.\n", "WORKFLOW.md")
    assert document.front is None
    assert (document.body, document.body_line, document.hint) == ("Do it.\nNow.", 1, "")


def test_empty_front_matter() -> None:
    """T003: two delimiters with nothing between."""
    document = split(b"---\n---\nbody", "WORKFLOW.md")
    assert (document.front, document.body) == ("", "body")


def test_crlf_splits_the_same() -> None:
    """T007, R-003: line ends of another system change nothing."""
    text = b"---\nagent:\n  kind: command\n---\nOne\nTwo\n"
    assert split(text.replace(b"\n", b"\r\n"), "W") == split(text, "W")


def test_only_trailing_blanks_belong_to_a_delimiter() -> None:
    """R-003: an indented `---`, as in a hook's here-document, does not end the front matter."""
    text = b"--- \nhooks:\n  after_create: |\n    cat <<X\n    ---\n    X\n---\t\nbody"
    document = split(text, "W")
    assert document.front is not None
    assert "    ---\n    X" in document.front
    assert document.body == "body"


@pytest.mark.parametrize("line", ["# --- a table", "a: b---", "| --- | --- |", "----", "-- -"])
def test_dashes_within_a_line_are_no_delimiter(line: str) -> None:
    """Only a line of exactly three dashes parts the file."""
    document = split(f"---\n{line}\n---\nbody".encode(), "W")
    assert document.front == line


def test_only_the_first_closing_line_counts() -> None:
    """A horizontal rule in the prompt stays in it, on its first line too."""
    document = split(b"---\na: 1\n---\n---\nText\n\n---\nMore\n", "W")
    assert document.front == "a: 1"
    assert document.body == "---\nText\n\n---\nMore"


def test_unterminated_front_matter() -> None:
    """D15: an opening without an end is an error, not a silent reading."""
    with pytest.raises(PolicyError, match=r"^WORKFLOW\.md:1: .*never ends; close it") as caught:
        split(b"---\nagent: {}\n", "WORKFLOW.md")
    assert caught.value.code == "workflow_parse_error"


def test_byte_order_mark_is_named() -> None:
    """A mark before `---` would turn all settings into prompt text."""
    with pytest.raises(PolicyError, match="byte-order mark") as caught:
        split(b"\xef\xbb\xbf---\na: 1\n---\n", "W")
    assert caught.value.code == "workflow_parse_error"


def test_text_that_is_not_utf8_is_named_with_its_line() -> None:
    """UTF-8 always, whatever the locale."""
    with pytest.raises(PolicyError, match=r"^W:3: is not UTF-8"):
        split(b"---\n---\nna\xefve", "W")
    assert split("---\n---\nÄ 日本".encode(), "W").body == "Ä 日本"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("# Title\n\n```yaml\ntracker:\n  kind: file\n```\n", "yaml code fence"),
        ("# Title\n~~~yml\nagent: {}\ntracker: {}\n~~~\n", "yaml code fence"),
        ("Prose\n---\nagent:\n  kind: command\n---\nbody", "line of --- is at line 2"),
        ("\n---\nagent: {}\n---\nbody", "line of --- is at line 2"),
    ],
)
def test_unseen_front_matter_gets_a_hint(text: str, seen: str) -> None:
    """Decision 6: settings that do not start on line 1 are said to be unseen."""
    document = split(text.encode(), "W")
    assert document.front is None
    assert seen in document.hint
    assert "front matter must start on line 1" in document.hint


def test_a_rule_in_prose_gets_no_hint() -> None:
    """A mere horizontal rule is not taken for lost settings."""
    assert split(b"One\n\n---\n\nTwo\n", "W").hint == ""


def test_size_limits() -> None:
    """Decision 6: 64 KiB of front matter pass, 256 KiB are the cap; so is a cap on the file."""
    assert split(b"---\n#" + b"x" * 65 * 1024 + b"\n---\n", "W").front is not None
    with pytest.raises(PolicyError, match="larger than 256 KiB"):
        split(b"---\n#" + b"x" * MAX_FRONT_MATTER + b"\n---\n", "W")
    with pytest.raises(PolicyError, match="larger than 4 MiB"):
        split(b"x" * (MAX_SIZE + 1), "W")
