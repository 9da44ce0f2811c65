"""Sealed JSON records: ``seal`` is the digest of all the other content, so a changed byte is noticed."""

import json
import re
from collections.abc import Mapping
from typing import Any

from baton_runner.base.digest import canonical, digest, digest_bytes
from baton_runner.base.errors import DamagedRecord

__all__ = ["parse", "sealed"]

_SEAL = "seal"
_MEMBER = re.compile(rb'(?:,"seal":"(sha256:[0-9a-f]{64})"|"seal":"(sha256:[0-9a-f]{64})",)')
"""The seal's member with the comma that its removal takes along. Quotes in strings are escaped, so it cannot occur in one."""


def sealed(content: Mapping[str, Any]) -> bytes:
    """The canonical bytes of a record with its seal."""
    return canonical({**content, _SEAL: digest(dict(content))})


def parse(data: bytes, *, where: str) -> dict[str, Any]:
    """The record behind sealed bytes; DamagedRecord when they are not exactly what :func:`sealed` wrote.

    The seal is compared with the digest of the bytes around it, which costs a hundredth of canonicalizing again.
    """
    members = _MEMBER.findall(data)
    if len(members) != 1:
        raise DamagedRecord("has no seal", where=where)
    if digest_bytes(_MEMBER.sub(b"", data)).encode() not in members[0]:
        raise DamagedRecord("does not match its seal", where=where)
    record = json.loads(data)
    if not isinstance(record, dict) or _SEAL not in record:
        raise DamagedRecord("is not a sealed record", where=where)
    return record
