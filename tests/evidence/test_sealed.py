"""Sealed records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import DamagedRecord
from baton_runner.evidence.sealed import parse, sealed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text().filter(lambda key: key != "seal"), inner, max_size=3)
    ),
    max_leaves=8,
)
CONTENT = st.dictionaries(st.text().filter(lambda key: key != "seal"), JSON, min_size=1, max_size=5)


@given(CONTENT)
def test_a_record_comes_back_with_its_seal(content: dict[str, object]) -> None:
    """Whatever was sealed is read back whole."""
    record = parse(sealed(content), where="x")
    assert record.pop("seal").startswith("sha256:")
    assert record == content


@given(CONTENT, st.data())
def test_no_changed_byte_goes_unnoticed(content: dict[str, object], data: st.DataObject) -> None:
    """Promise 2: flip, cut or add any byte, and the record is damaged."""
    whole = sealed(content)
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[place]))
    flipped = whole[:place] + bytes([byte]) + whole[place + 1 :]
    for damaged in (flipped, whole[:place], whole[:place] + whole[place + 1 :], whole + b" "):
        with pytest.raises(DamagedRecord, match=r"receipt\.json"):
            parse(damaged, where="receipt.json")


def test_a_seal_quoted_in_a_text_is_no_seal() -> None:
    """A task may talk about seals without confusing its receipt."""
    text = sealed({"a": 1}).decode()
    assert parse(sealed({"text": text}), where="x")["text"] == text
