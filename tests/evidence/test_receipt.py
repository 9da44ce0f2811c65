"""The receipt: sealed, whole or refused, the same bytes for the same proof."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.digest import digest
from baton_runner.base.errors import DamagedRecord
from baton_runner.evidence import sealed
from baton_runner.evidence.receipt import CheckProof, Inputs, Receipt, Work

RECEIPT = Receipt(
    change="add-login",
    task="1.2",
    key="1.2",
    attempt=3,
    packet="sha256:aa",
    definition={"text": "Add a form"},
    definition_digest="sha256:bb",
    inputs=Inputs({"0": "sha256:cc"}, {"1.1": "sha256:dd"}),
    commit="1" * 40,
    base="2" * 40,
    tree="3" * 40,
    outcome="sha256:ee",
    checks=(CheckProof("make test", "verify.commands", "red"), CheckProof("make lint", "label", "green", cached=True)),
    work=Work("claude_code", "session", 2, 1000, 200, 0.25, 12.5),
    finished="2026-03-01T12:00:00.000Z",
    recipe={"prompt": "sha256:ff"},
    supersedes="sha256:00",
)

TEXT = st.text(max_size=12)
RECEIPTS = st.builds(
    Receipt,
    change=TEXT, task=TEXT, key=TEXT, attempt=st.integers(1, 999), packet=TEXT,
    definition=st.dictionaries(TEXT, TEXT | st.lists(TEXT)), definition_digest=TEXT,
    inputs=st.builds(Inputs, st.dictionaries(TEXT, TEXT), st.dictionaries(TEXT, TEXT)),
    commit=TEXT, base=TEXT, tree=TEXT, outcome=TEXT,
    checks=st.lists(st.builds(CheckProof, TEXT, TEXT, st.sampled_from(["red", "green", "unknown"]), st.booleans()), max_size=3).map(tuple),
    work=st.builds(Work, TEXT, st.none() | TEXT, st.integers(0, 9), st.integers(0, 10**9), st.integers(0, 10**9), st.none() | st.floats(0, 100)),
    finished=TEXT, recipe=st.dictionaries(TEXT, TEXT), supersedes=st.none() | TEXT,
)  # fmt: skip


@given(RECEIPTS)
def test_a_receipt_comes_back_as_it_was_and_has_the_same_bytes_again(receipt: Receipt) -> None:
    data = receipt.encoded
    found = Receipt.decode(data, where="x")
    assert found == receipt
    assert found.encoded == data
    assert found.seal == receipt.seal


def test_the_seal_is_the_digest_of_all_other_content() -> None:
    record = json.loads(RECEIPT.encoded)
    seal = record.pop("seal")
    assert seal == RECEIPT.seal == digest(record)
    assert replace(RECEIPT, attempt=4).seal != seal


def test_no_changed_byte_of_a_receipt_goes_unnoticed() -> None:
    """Promise 2, at every place of a receipt."""
    data = RECEIPT.encoded
    for place in range(len(data)):
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(DamagedRecord, match=r"receipts/1\.2"):
            Receipt.decode(damaged, where="receipts/1.2.json")


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "baton.receipt/2"}, {"extra": 1}, {"inputs": None}, {"work": {}}, {"checks": [{}]}, {"checks": 5},
        {"inputs": {"gates": {}, "edges": {}, "more": {}}},
    ],
)  # fmt: skip
def test_a_well_sealed_record_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    """Of a later version, or made by somebody who can compute a seal."""
    record = json.loads(RECEIPT.encoded)
    del record["seal"]
    with pytest.raises(DamagedRecord, match=r"receipt\.json"):
        Receipt.decode(sealed.sealed(record | change), where="receipt.json")


@pytest.mark.parametrize("name", ["schema", "proof", "inputs", "work", "checks", "change", "tree"])
def test_a_well_sealed_record_that_lacks_a_field_is_refused(name: str) -> None:
    record = json.loads(RECEIPT.encoded)
    del record["seal"], record[name]
    with pytest.raises(DamagedRecord, match=r"receipt\.json"):
        Receipt.decode(sealed.sealed(record), where="receipt.json")


def test_a_receipt_without_a_check_says_that_it_proves_none() -> None:
    assert RECEIPT.proof == "checks"
    bare = replace(RECEIPT, checks=())
    assert bare.proof == "none"
    assert json.loads(bare.encoded)["proof"] == "none"


def test_the_inputs_digest_is_that_of_gates_and_edges_in_any_order() -> None:
    one = Inputs({"0": "a", "1": "b"}, {"1.1": "c", "1.2": "d"})
    assert one.digest == Inputs({"1": "b", "0": "a"}, {"1.2": "d", "1.1": "c"}).digest
    others = [Inputs({"0": "a"}, dict(one.edges)), Inputs(dict(one.gates)), Inputs(dict(one.edges), dict(one.gates))]
    assert len({one.digest, *(other.digest for other in others)}) == 4
