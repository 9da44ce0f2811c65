"""The packet: states one assignment, and never changes."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from baton_runner.base.digest import digest_bytes
from baton_runner.base.errors import BatonError, DamagedRecord
from baton_runner.evidence import sealed
from baton_runner.evidence.packet import Packet, read_packet, write_packet

PACKET = Packet(
    change="add-login",
    task="1.2",
    key="1.2",
    attempt=1,
    base="b" * 40,
    branch="baton/add-login",
    plan="openspec/changes/add-login/tasks.md",
    definition={"text": "Add a form"},
    definition_digest="sha256:aa",
    inputs={"gates": {"0": "sha256:bb"}, "edges": {}},
    verification=("make test", "make lint"),
    context=("proposal.md",),
    agent={"kind": "command", "max_turns": 4},
    reason="first",
    failure=None,
    created="2026-03-01T12:00:00.000Z",
)


def test_a_packet_comes_back_whole_and_is_named_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "packets" / "1.json"
    name = write_packet(path, PACKET)
    assert read_packet(path) == PACKET
    assert name == PACKET.digest == digest_bytes(path.read_bytes())
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_a_packet_is_written_once(tmp_path: Path) -> None:
    """The same statement again is no harm, another one under the same number is refused."""
    path = tmp_path / "1.json"
    name = write_packet(path, PACKET)
    assert write_packet(path, PACKET) == name
    with pytest.raises(BatonError, match=r"1\.json: states attempt 1 already") as caught:
        write_packet(path, replace(PACKET, reason="redo"))
    assert caught.value.code == "packet_exists"
    assert read_packet(path) == PACKET


def test_no_changed_byte_of_a_packet_goes_unnoticed(tmp_path: Path) -> None:
    """Promise 2."""
    data = PACKET.encode()
    path = tmp_path / "1.json"
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(DamagedRecord, match=r"1\.json"):
            read_packet(path)


@pytest.mark.parametrize("record", [{}, {"schema": "baton.packet/9"}, {"schema": "baton.packet/1"}])
def test_a_well_sealed_record_of_another_kind_is_refused(tmp_path: Path, record: dict[str, object]) -> None:
    path = tmp_path / "1.json"
    path.write_bytes(sealed.sealed({"x": 1, **record}))
    with pytest.raises(DamagedRecord, match=r"1\.json"):
        read_packet(path)


def test_no_packet_is_none(tmp_path: Path) -> None:
    assert read_packet(tmp_path / "1.json") is None


def test_an_immutable_value_has_one_name() -> None:
    """Each field is part of it."""
    changed = [
        replace(PACKET, task="x"),
        replace(PACKET, base="x"),
        replace(PACKET, reason="x"),
        replace(PACKET, plan="x"),
    ]
    changed += [replace(PACKET, verification=("make test",)), replace(PACKET, failure={"kind": "red"})]
    assert len({PACKET.digest, *(each.digest for each in changed)}) == len(changed) + 1
