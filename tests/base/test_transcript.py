"""Transcripts: secrets never reach the file, wherever the output was cut."""

import errno
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import BatonError
from baton_runner.base.transcript import Transcript

SECRET = b"s3cret-token"


def redact(data: bytes) -> bytes:
    return data.replace(SECRET, b"***")


@given(
    before=st.binary(max_size=20_000),
    after=st.binary(max_size=20_000),
    cuts=st.lists(st.integers(0, 40_020), max_size=8),
)
def test_a_secret_split_over_writes_is_cut_out(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, cuts: list[int]
) -> None:
    """The file equals the redacted whole, for every way to cut it into writes."""
    whole = before + SECRET + after
    path = tmp_path_factory.mktemp("t") / "log"
    transcript = Transcript(path, redact=redact)
    borders = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    for start, end in pairwise(borders):
        transcript.write(whole[start:end])
    transcript.close()
    assert SECRET not in path.read_bytes()
    assert path.read_bytes() == redact(whole)


def test_the_log_is_private_also_where_a_wider_file_stood(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old")
    path.chmod(0o644)
    Transcript(path).close()
    assert path.read_bytes() == b""
    assert path.stat().st_mode & 0o777 == 0o600


def test_appending_continues_a_log(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        transcript = Transcript(tmp_path / "log", append=True)
        transcript.write(text)
        transcript.close()
        transcript.close()
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"


def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    """An agent that plants a link must not have us write elsewhere."""
    (tmp_path / "elsewhere").write_text("precious")
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BatonError, match=r"log: cannot be written: .*symbolic links") as caught:
        Transcript(tmp_path / "log")
    assert caught.value.code == "unwritable"
    assert (tmp_path / "elsewhere").read_text() == "precious"


def test_the_tail_is_text_of_bounded_size(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "log")
    for _ in range(40):
        transcript.write(b"\xff" + b"x" * 100_000)
    transcript.write(b"end")
    transcript.close()
    assert transcript.last(10) == "xxxxxxxend"


def test_a_full_disk_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Promise 10: it says what to do."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    transcript = Transcript(tmp_path / "log")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(BatonError, match="free some space"):
        transcript.write(b"x")
    monkeypatch.undo()
    transcript.close()
