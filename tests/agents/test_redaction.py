"""Secrets: found in every form in which they travel, and never at the price of unreadable logs."""

import json
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.agents.redaction import MARK, SHORTEST, redactor, unchanged

secrets = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), min_size=6, max_size=60
).filter(lambda text: len(text.strip()) >= SHORTEST and text.strip() not in MARK.decode())


@given(secrets, st.text(max_size=30))
def test_the_value_is_found_plain_in_json_and_in_urls(secret: str, around: str) -> None:
    value = secret.strip()
    redact = redactor([secret])
    for form in (value, json.dumps(value), json.dumps(value, ensure_ascii=False), urllib.parse.quote(value, safe="")):
        text = f"<{form}>".encode()
        assert form.strip('"').encode() not in redact(text)
    whole = f"{around}{value}{around}".encode()
    assert redact(redact(whole)) == redact(whole)


def test_the_longest_value_wins() -> None:
    redact = redactor(["token-12", "token-1234"])
    assert redact(b"token-1234 token-12") == MARK + b" " + MARK


def test_every_line_of_a_key_counts() -> None:
    """A private key printed line by line, indented or in one piece."""
    key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----\n"
    cleaned = redactor([key])(b"  MIIEvQIBADAN\r\n  BgkqhkiG9w0B\n" + json.dumps(key).encode())
    assert b"MIIE" not in cleaned
    assert b"Bgkq" not in cleaned


def test_a_very_long_value_is_found_in_pieces() -> None:
    secret = "".join(f"{number:06}" for number in range(3000))
    assert b"002" not in redactor([secret])(secret.encode())


@pytest.mark.parametrize("short", ["", "1", "true", "     ", "12345"])
def test_a_short_value_is_left(short: str) -> None:
    assert redactor([short]) is unchanged
    assert redactor([short, "longer-secret"])(b"true 12345 longer-secret") == b"true 12345 " + MARK
