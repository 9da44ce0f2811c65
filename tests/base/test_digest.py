"""Canonical JSON and digests: equal values have equal bytes, as RFC 8785 writes them."""

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.digest import canonical, digest, digest_bytes

# RFC 8785, section 3.2.2 and 3.2.3, and numbers of appendix B
SAMPLE = (
    r'{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
    r'"string":"\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}'
)
CANONICAL = (
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
)
SORTED = r'{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Smile","\u0080":"Ctl","\u00f6":"o"}'
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "41b3de4355555553": "333333333.3333332",
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text() | st.floats(-(2**53) + 1, 2**53 - 1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def test_the_rfcs_own_sample_has_the_rfcs_bytes() -> None:
    assert canonical(json.loads(SAMPLE)) == CANONICAL.encode()


def test_members_are_sorted_by_utf16_code_units() -> None:
    """Section 3.2.3: an emoji, outside the basic plane, comes before a letter of its end."""
    values = [str(value) for value in json.loads(canonical(json.loads(SORTED))).values()]
    assert values == ["CR", "One", "Ctl", "o", "Euro", "Smile", "Dalet"]


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers_are_written_as_ecmascript_does(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value) == text.encode()


@given(JSON)
def test_the_bytes_are_json_of_the_value_and_the_same_again(value: Any) -> None:
    data = canonical(value)
    assert json.loads(data) == value
    assert canonical(json.loads(data)) == data


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_members_does_not_matter(value: dict[str, Any]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53, "\ud800"])
def test_what_other_machines_would_read_otherwise_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical({"value": value})


def test_digests_name_their_function() -> None:
    assert digest_bytes(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest({}) == digest_bytes(b"{}")
