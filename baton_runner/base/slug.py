"""One injective rule by which names become paths, refs and task names.

Readable, case-folded, limited in length, and with a hash of the original whenever anything was altered, so that two
names never share a slug (promise 6). An ordinary name such as ``1.2`` or ``add-login`` is its own slug.
"""

import functools
import hashlib
import re

__all__ = ["MAX_LENGTH", "slug"]

MAX_LENGTH = 80
_HASH_LENGTH = 16
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]*")
_HASHED = re.compile(rf"--[0-9a-f]{{{_HASH_LENGTH}}}$")
_WINDOWS_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}


@functools.lru_cache(maxsize=1 << 16)
def slug(name: str) -> str:
    """The safe form of a name: a single path component and a valid part of a git ref, different for different names."""
    if _is_plain(name):
        return name
    fingerprint = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    readable = re.sub(r"[^a-z0-9_]+", "-", name.casefold()).strip("-")[: MAX_LENGTH - _HASH_LENGTH - 2]
    return f"{readable.rstrip('-') or 'x'}--{fingerprint}"


def _is_plain(name: str) -> bool:
    return (
        len(name) <= MAX_LENGTH
        and _PLAIN.fullmatch(name) is not None
        and ".." not in name
        and not name.endswith((".", ".lock"))
        and name.partition(".")[0] not in _WINDOWS_DEVICES
        and _HASHED.search(name) is None
    )
