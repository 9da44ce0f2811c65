"""Which words are ids, and keys made from content."""

# ruff: noqa: RUF001 - dashes and colons of real plans

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.slug import slug
from baton_runner.plan.ids import families, family, leading_id, synthetic_key


@pytest.mark.parametrize(
    ("text", "id_", "rest"),
    [
        ("1.2 Add", "1.2", "Add"),
        ("1.2.3 Add", "1.2.3", "Add"),
        ("2a.1 Add", "2a.1", "Add"),
        ("3.2b Add", "3.2b", "Add"),
        ("**1.2** Add", "1.2", "Add"),
        ("**1.2 Add** more", "1.2", "**Add** more"),
        ("1.2: Add", "1.2", "Add"),
        ("1.2. Add", "1.2", "Add"),
        ("(1.2) Add", "1.2", "Add"),
        ("[1.2] Add", "1.2", "Add"),
        ("Task 1.2 Add", "1.2", "Add"),
        ("Task 7: Add", "7", "Add"),
        ("1. Add", "1", "Add"),
        ("12) Add", "12", "Add"),
        ("T001 Add", "T001", "Add"),
        ("TASK-101: Add", "TASK-101", "Add"),
        ("A.1 Add", "A.1", "Add"),
        ("B.2.3 Add", "B.2.3", "Add"),
        ("1.2创建", "1.2", "创建"),
        ("1.2", "1.2", ""),
    ],
)
def test_an_id_stands_first_perhaps_decorated(text: str, id_: str, rest: str) -> None:
    found = leading_id(text)
    assert found is not None
    assert (found.id, found.rest, text[found.start : found.end]) == (id_, rest, id_)


@pytest.mark.parametrize(
    "text",
    ["5 files", "`5` files", "v1.2 of it", "1.2/1.3 both", "T01..T09 all", "12.1-12.4 all", "1.1, 1.2 both", "1.1 – 1.4 all", "1.1 to 1.3", "(1.2 of the book) Add", "3D view", "1.2GB", "", "Add 1.2"],
)  # fmt: skip
def test_what_is_no_id(text: str) -> None:
    assert leading_id(text) is None


def test_a_letter_family_needs_two_different_members() -> None:
    assert families(["T001", "T002", "S3", "R2", "UTF-8", "S3"]) == {"T"}
    assert families(["A.1", "B.1"]) == {"."}
    assert (family("1.2"), family("T1"), family("TASK-1"), family("A.1")) == (None, "T", "TASK-", ".")


@given(st.text(max_size=60), st.text(max_size=200), st.integers(1, 3))
def test_a_made_key_is_its_own_slug(section: str, text: str, occurrence: int) -> None:
    key = synthetic_key(section, text, occurrence)
    assert slug(key) == key


def test_made_keys_differ_by_section_text_and_occurrence() -> None:
    keys = {synthetic_key(s, t, n) for s in ("A", "B") for t in ("a", "b") for n in (1, 2)}
    assert len(keys) == 8
    assert all(key.startswith(("a-", "b-")) for key in keys)
