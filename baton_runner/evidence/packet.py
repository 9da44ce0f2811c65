"""The packet: the immutable JSON that states one assignment in full, named by its sha256."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from baton_runner.base import crash, files
from baton_runner.base.digest import digest_bytes
from baton_runner.base.errors import BatonError, DamagedRecord
from baton_runner.evidence import sealed

__all__ = ["Packet", "read_packet", "write_packet"]

SCHEMA = "baton.packet/1"
WRITE = crash.declare("packet.write")


@dataclass(frozen=True)
class Packet:
    """Everything an assignment consists of: nothing an agent was told is missing, and nothing changes afterwards.

    ``base`` is the commit the worktree starts from, ``plan`` the plan's path in the repository (not for the agent to
    edit), ``context`` the files to read, ``reason`` why the task is worked on (first, redo, edited, upstream, failed,
    conflict), ``failure`` what was red before.
    """

    change: str
    task: str
    key: str
    attempt: int
    base: str
    branch: str
    plan: str
    definition: Mapping[str, Any]
    definition_digest: str
    inputs: Mapping[str, Any]
    verification: tuple[str, ...]
    context: tuple[str, ...]
    agent: Mapping[str, Any]
    reason: str
    failure: Mapping[str, Any] | None
    created: str

    def encode(self) -> bytes:
        """The canonical sealed bytes."""
        return sealed.sealed(
            {**asdict(self), "schema": SCHEMA, "verification": list(self.verification), "context": list(self.context)}
        )

    @property
    def digest(self) -> str:
        """The packet's name."""
        return digest_bytes(self.encode())


def read_packet(path: Path) -> Packet | None:
    """The packet of an attempt, None when there is none; DamagedRecord when it is not one, or was altered."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    record = sealed.parse(data, where=str(path))
    try:
        if record.pop("schema") != SCHEMA:
            raise DamagedRecord("is not a packet this version understands", where=str(path), todo="upgrade baton")
        del record["seal"]
        return Packet(**{**record, "verification": tuple(record["verification"]), "context": tuple(record["context"])})
    except (TypeError, KeyError, AttributeError) as error:
        raise DamagedRecord(f"is not a packet ({error})", where=str(path)) from error


def write_packet(path: Path, packet: Packet) -> str:
    """Make a packet durable; return its digest. BatonError (``packet_exists``) when that attempt has another one."""
    data = packet.encode()
    if path.exists() and path.read_bytes() != data:
        raise BatonError(
            f"states attempt {packet.attempt} already, and a packet never changes",
            where=str(path),
            todo="run again: the next attempt has its own number",
            code="packet_exists",
        )
    files.write_atomic(path, data, WRITE, mode=0o444)
    return digest_bytes(data)
