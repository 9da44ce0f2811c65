"""Content digests: canonical JSON (RFC 8785) and ``sha256:<hex>`` names for bytes and values."""

import hashlib
from typing import Any

__all__ = ["canonical", "digest", "digest_bytes"]


def canonical(value: Any) -> bytes:
    """The one byte string of a JSON value (RFC 8785): equal values have equal bytes on every machine."""
    import rfc8785

    return rfc8785.dumps(value)


def digest_bytes(data: bytes) -> str:
    """``sha256:<hex>`` of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest(value: Any) -> str:
    """``sha256:<hex>`` of a JSON value in its canonical form."""
    return digest_bytes(canonical(value))
