"""Lines are what they were before the stream was cut into chunks."""

from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.line_cutter import Line, LineCutter

chunks = st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"\n\n", b"abcdefgh", "→".encode()]), max_size=20)


@given(chunks, st.integers(1, 10))
def test_every_way_to_cut_gives_the_same_lines(pieces: list[bytes], limit: int) -> None:
    """Lines equal those of the whole, each kept up to the limit and marked beyond it."""
    cutter = LineCutter(limit)
    lines = [line for piece in pieces for line in cutter.feed(piece)]
    lines += cutter.finish()
    *whole, last = b"".join(pieces).split(b"\n")
    expected = [*whole, last] if last else whole
    assert lines == [Line(line[:limit], len(line) > limit) for line in expected]


def test_nothing_is_left_after_the_last_line() -> None:
    cutter = LineCutter()
    assert list(cutter.feed(b"a")) == []
    assert list(cutter.finish()) == [Line(b"a")]
    assert list(cutter.finish()) == []
