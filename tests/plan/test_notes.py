"""Dependency notes and tags: what makes an edge, and what is prose."""

# ruff: noqa: RUF001 - dashes and parentheses of real plans

import pytest

from baton_runner.plan.notes import body_note, cut_notes, markers, text_note


def _said(waits: tuple[object, ...] | None) -> list[str] | None:
    return None if waits is None else [str(wait) for wait in waits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x (depends on 1.1)", ["1.1"]),
        ("x (Depends: 1.1, 1.3)", ["1.1", "1.3"]),
        ("x (depends on 1.1–1.4)", ["1.1-1.4"]),
        ("x (depends on 1.1..1.4 and 1.6)", ["1.1-1.4", "1.6"]),
        ("x (depends on T001-T004)", ["T001-T004"]),
        ("x (blocked by 1.2)", ["1.2"]),
        ("x (after 1.7)", ["1.7"]),
        ("x (after task 1.7)", ["1.7"]),
        ("x (blocked by `1.2`, **1.3**)", ["1.2", "1.3"]),
        ("x (depends on 1.1, once merged)", ["1.1"]),
        ("x (depends on 1.1) (after 1.2)", ["1.1", "1.2"]),
        ("x（depends on 1.1）", ["1.1"]),
        ("x (depends on: none)", []),
        ("x (after 1.7 is live)", None),
        ("x (after none)", None),
        ("x (after lunch)", None),
        ("x (depends on Python 3.11)", None),
        ("x (1.1)", None),
        ("x depends on 1.1", None),
        ("x `(depends on 1.1)`", None),
        ("x", None),
    ],
)
def test_notes_in_the_text(text: str, expected: list[str] | None) -> None:
    assert _said(text_note(text, 3)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Depends on: 1.1", ["1.1"]),
        ("  - **Dependencies**: 1.1, 1.2", ["1.1", "1.2"]),
        ("* **Depends on:** T001", ["T001"]),
        ("Blocked by: 1.2 (the table)", ["1.2"]),
        ("Dependencies: None", []),
        ("Depends on: —", []),
        ("Dependencies: react 18.2", None),
        ("_Requirements: 1.1, 2.3_", None),
        ("This depends on: 1.1", None),
        ("After: 1.1", None),
    ],
)
def test_notes_in_the_body(line: str, expected: list[str] | None) -> None:
    assert _said(body_note(line, 3)) == expected


def test_cutting_leaves_prose_and_code_alone() -> None:
    text = "a (depends on 1.1) b (see 1.1) [MANUAL] `[P]` [P] c (optional) [US1]"
    assert " ".join(cut_notes(text).split()) == "a b (see 1.1) `[P]` c [US1]"


def test_tags_outside_of_code() -> None:
    found = markers("a [RED] `[GREEN]` [P] (Manual) (optional)")
    assert (found.red, found.green, found.parallel, found.manual, found.optional) == (True, False, True, True, True)
    assert not any(vars_ for vars_ in (markers("[p] red green manual").red, markers("[p] x").parallel))
