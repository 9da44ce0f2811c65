"""Decisions, failures and tick marks: small records that survive a lost database."""

from pathlib import Path

import pytest

from baton_runner.base.errors import DamagedRecord
from baton_runner.evidence.decisions import Failure, Redo, TickMark

AT = "2026-03-01T12:00:00.000Z"
RECORDS = [
    Redo("redo", "use the other library\n日本", AT),
    Failure("red", "`make` is red", 3, AT, "make", "Error 1", "log", "tree"),
    TickMark("sha256:aa"),
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_comes_back_as_it_was(tmp_path: Path, record: Redo | Failure | TickMark) -> None:
    path = tmp_path / "redo" / "1.1.json"
    record.write(path)
    assert type(record).read(path) == record


@pytest.mark.parametrize("kind", [Redo, Failure, TickMark])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"{}", b'{"kind": "redo"}', b'{"more": 1}', b"\xff"])
def test_what_is_no_such_record_is_damaged(
    tmp_path: Path, kind: type[Redo | Failure | TickMark], content: bytes
) -> None:
    path = tmp_path / "1.1.json"
    path.write_bytes(content)
    with pytest.raises(DamagedRecord, match=rf"1\.1\.json: is not a {kind.__name__} record"):
        kind.read(path)


@pytest.mark.parametrize("kind", [Redo, Failure, TickMark])
def test_no_record_is_none(tmp_path: Path, kind: type[Redo | Failure | TickMark]) -> None:
    assert kind.read(tmp_path / "1.1.json") is None
