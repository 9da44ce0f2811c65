"""Content digests: canonical JSON (RFC 8785) and ``sha256:<hex>`` names for bytes and values."""

import hashlib
import json
from typing import Any

__all__ = ["canonical", "digest", "digest_bytes"]

_LARGEST = 2**53 - 1
_PLAIN = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def canonical(value: Any) -> bytes:
    """The one byte string of a JSON value (RFC 8785): equal values have equal bytes on every machine."""
    if _is_plain(value):
        return _PLAIN.encode(value).encode()
    import rfc8785

    return rfc8785.dumps(value)


def digest_bytes(data: bytes) -> str:
    """``sha256:<hex>`` of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest(value: Any) -> str:
    """``sha256:<hex>`` of a JSON value in its canonical form."""
    return digest_bytes(canonical(value))


def _is_plain(value: object) -> bool:
    """Whether the standard encoder writes a value as RFC 8785 wants it, at a tenth of the cost.

    It differs in the order of keys beyond ASCII, in how it writes floats, and in what it refuses.
    """
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, int):
        return -_LARGEST <= value <= _LARGEST
    if isinstance(value, dict):
        return all(isinstance(name, str) and name.isascii() and _is_plain(item) for name, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None
