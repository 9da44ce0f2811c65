"""Outcomes: what a task changed, byte for byte, and nothing else."""

import json
import os
from dataclasses import dataclass, replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from baton_runner.evidence.outcome import accepted_outcome, gate_digest, outcome_bytes, task_outcome


@dataclass(frozen=True)
class Row:
    path: str
    old_mode: str = "100644"
    old_blob: str = "a" * 40
    new_mode: str = "100644"
    new_blob: str = "b" * 40


ROWS = st.lists(
    st.builds(Row, st.text(min_size=1).filter(lambda path: "\0" not in path), new_blob=st.sampled_from(["b" * 40, "c" * 40])),
    unique_by=lambda row: row.path, max_size=5,
)  # fmt: skip


@given(st.text())
def test_changing_nothing_keeps_the_outcome_byte_for_byte(previous: str) -> None:
    """Early cutoff: a green re-run or re-check without a change."""
    assert task_outcome(previous, ()) == previous


def test_a_first_run_that_changes_nothing_has_an_outcome_of_its_own() -> None:
    assert task_outcome(None, ()).startswith("sha256:")
    assert task_outcome(None, ()) != task_outcome(None, (Row("a"),))


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_paths_does_not_matter(rows: list[Row], random: Random) -> None:
    mixed = list(rows)
    random.shuffle(mixed)
    assert task_outcome("sha256:before", rows) == task_outcome("sha256:before", mixed)


def test_every_part_of_a_change_counts() -> None:
    """A mode alone, a blank alone (another blob), another place: a patch id would not see all of them."""
    row = Row("a.py")
    rows = [
        row,
        replace(row, path="b.py"),
        replace(row, new_mode="100755"),
        replace(row, old_mode="100755"),
        replace(row, new_blob="c" * 40),
        replace(row, old_blob="c" * 40),
    ]
    assert len({task_outcome(None, [each]) for each in rows}) == len(rows)
    assert task_outcome(None, rows[:2]) != task_outcome(None, rows[:1])


def test_a_second_change_builds_on_the_first() -> None:
    """The same change after another past is another outcome."""
    row = Row("a.py")
    first = task_outcome(None, [row])
    assert task_outcome(first, [row]) not in {first, task_outcome(None, [row])}


def test_paths_that_are_no_utf8_are_told_apart() -> None:
    """Git's paths are bytes: a file called 0xff is a file, and not the one called like its escape."""
    names = [
        os.fsdecode(b"\xff"),
        os.fsdecode(b"\xfe"),
        "ÿ",
        "\\xff",
        "ff",
        "\udcff".encode("utf-8", "backslashreplace").decode(),
    ]
    assert len({task_outcome(None, [Row(name)]) for name in names}) == len(set(names))


def test_an_accepted_task_has_the_same_outcome_every_time() -> None:
    assert accepted_outcome("1.1") == accepted_outcome("1.1") != accepted_outcome("1.2")


@given(st.lists(st.text(), max_size=3), st.dictionaries(st.text(), st.text(), max_size=4))
def test_a_gate_depends_on_what_came_before_and_on_every_outcome(before: list[str], outcomes: dict[str, str]) -> None:
    found = gate_digest(before, outcomes)
    assert gate_digest(before, dict(reversed(outcomes.items()))) == found
    assert gate_digest([*before, "x"], outcomes) != found
    assert gate_digest(before, {**outcomes, "another": "x"}) != found or outcomes.get("another") == "x"
    for key, outcome in outcomes.items():
        assert gate_digest(before, {**outcomes, key: f"{outcome}!"}) != found


def test_an_outcome_file_is_one_line_of_json() -> None:
    data = outcome_bytes("sha256:ab")
    assert json.loads(data) == {"outcome": "sha256:ab"}
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
