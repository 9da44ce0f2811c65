"""Slugs: one injective rule from names to paths, refs and task names (promise 6)."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton_runner.base.slug import MAX_LENGTH, slug

HOSTILE = [
    "", ".", "..", "...", "/", "../..", "a/b", "a\\b", "-", "--", "-x", "a..b", "a.", ".a", "a.lock", "a.LOCK", "@", "@{",
    "a@{b", "HEAD", "head", "CON", "con", "nul.txt", "com1", "a b", "a\nb", "a\0b", "a:b", "a~1", "a^", "a?", "a*", "a[b]",
    "é", "e\u0301", "ß", "SS", "ss", "İ", "日本", "\udcff", "a" * 81, "A" * 300, "x--0123456789abcdef",
]  # fmt: skip
NAMES = st.text(max_size=120) | st.sampled_from(HOSTILE) | st.text(alphabet="abAB.-_/ 1", max_size=90)


@pytest.mark.parametrize("name", ["1.2", "add-login", "t001", "10.2.3", "a_b", "_", "x" * MAX_LENGTH, "s2.3"])
def test_an_ordinary_name_is_its_own_slug(name: str) -> None:
    assert slug(name) == name


@settings(deadline=None, max_examples=300)
@given(NAMES, NAMES)
def test_different_names_have_different_slugs(one: str, other: str) -> None:
    """Also where the file system does not tell upper from lower case."""
    assert (slug(one).casefold() == slug(other).casefold()) is (one == other)


@settings(deadline=None, max_examples=300)
@given(NAMES)
def test_a_slug_of_a_slugs_looks_is_never_taken_for_that_slug(name: str) -> None:
    """Nobody can name a task so that it lands on another's files."""
    assert (slug(slug(name)) == slug(name)) is (slug(name) == name)


@settings(deadline=None, max_examples=300)
@given(NAMES)
def test_a_slug_is_one_short_plain_path_component(name: str) -> None:
    found = slug(name)
    assert 0 < len(found) <= MAX_LENGTH
    assert found.isascii()
    assert found == found.casefold()
    assert Path("root", f"{found}.json").parent == Path("root")
    assert Path("root", found).resolve().parent == Path("root").resolve()
    assert found not in {".", ".."}
    assert not found.startswith(("-", "."))


def test_different_hostile_names_share_nothing() -> None:
    assert len({slug(name) for name in HOSTILE}) == len(HOSTILE)


@settings(deadline=None, max_examples=15)
@given(st.lists(NAMES, min_size=1, max_size=12))
def test_git_takes_every_slug_as_part_of_a_ref(names: list[str]) -> None:
    for name in (*names, *HOSTILE[:4]):
        for ref in (f"refs/baton/receipts/{slug(name)}", f"refs/heads/baton/{slug(name)}/{slug(name)}"):
            assert subprocess.run(["git", "check-ref-format", ref], check=False).returncode == 0, ref
