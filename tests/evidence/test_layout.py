"""The layout: every record has a place of its own inside its root."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from baton_runner.evidence.layout import Layout

ROOT = Path("/repo/.baton")
NAMES = st.text(max_size=30) | st.sampled_from(["..", "/", "a/../b", "@gate-0", "base", "1.2"])


def _places(layout: Layout, key: str) -> list[Path]:
    return [
        layout.definition(key), layout.packet(key, 1), layout.packet(key, 2), layout.pending(key), layout.receipt(key),
        layout.outcome(key), layout.gate(0), layout.gate(1), layout.tick_mark(key), layout.redo(key), layout.failure(key),
        layout.logs(key, 1), layout.change_logs("base"), layout.baseline(), layout.complete(),
    ]  # fmt: skip


@given(NAMES, NAMES)
def test_every_record_has_its_own_place_inside_the_root(change: str, key: str) -> None:
    """Promise 6."""
    places = _places(Layout(ROOT, change), key)
    assert len(set(places)) == len(places)
    assert all(Path(place).is_relative_to(ROOT) and ".." not in place.parts for place in places)


@given(NAMES, NAMES, NAMES, NAMES)
def test_two_tasks_share_no_place(change: str, key: str, other_change: str, other_key: str) -> None:
    if (change, key) == (other_change, other_key):
        return
    one, other = Layout(ROOT, change), Layout(ROOT, other_change)
    assert one.receipt(key) != other.receipt(other_key)
    assert one.packet(key, 1) != other.packet(other_key, 1)
    assert one.logs(key, 1) != other.logs(other_key, 1)
    assert one.outcome(key) not in {other.gate(index) for index in range(3)}


def test_an_ordinary_id_is_readable() -> None:
    layout = Layout(ROOT, "add-login")
    assert layout.receipt("1.2") == ROOT / "receipts/add-login/1.2.json"
    assert layout.packet("1.2", 3) == ROOT / "packets/add-login/1.2/3.json"
    assert layout.logs("1.2", 3) == ROOT / "logs/add-login/1.2/3"
