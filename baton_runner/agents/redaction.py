"""Secrets cut out of what programs print: exact values, in the forms in which they travel.

A value is found as it is, as JSON escapes it and as a URL quotes it; of a value of several lines (a private key) every
line counts by itself. Redacting twice changes nothing, which :mod:`baton_runner.base.transcript` relies on.
"""

import json
import re
import urllib.parse
from collections.abc import Iterable

from baton_runner.base.transcript import Redact

__all__ = ["MARK", "SHORTEST", "redactor", "unchanged"]

MARK = b"[secret]"

SHORTEST = 6
"""Shorter values are left: cutting out every ``true`` or ``1234`` would make the logs worthless and hide nothing."""

_PIECE = 4096


def redactor(secrets: Iterable[str]) -> Redact:
    """A function that replaces every occurrence of these values by ``[secret]``."""
    forms = {form for secret in secrets for piece in _pieces(secret) for form in _forms(piece)}
    patterns = [re.escape(form.encode()) for form in sorted(forms, key=len, reverse=True) if form.encode() not in MARK]
    if not patterns:
        return unchanged
    pattern = re.compile(b"|".join(patterns))

    def redact(data: bytes) -> bytes:
        return pattern.sub(MARK, data)

    return redact


def unchanged(data: bytes) -> bytes:
    """The redaction of a policy without secrets."""
    return data


def _pieces(secret: str) -> Iterable[str]:
    for line in {secret.strip(), *(line.strip() for line in secret.splitlines())}:
        for start in range(0, len(line), _PIECE):
            piece = line[start : start + _PIECE]
            if len(piece) >= SHORTEST:
                yield piece


def _forms(piece: str) -> Iterable[str]:
    yield piece
    for ascii_only in (True, False):
        escaped = json.dumps(piece, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
    yield urllib.parse.quote(piece, safe="")
    yield urllib.parse.quote(piece)
    yield urllib.parse.quote_plus(piece)
