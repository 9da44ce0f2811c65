"""Readings that are kept: they fit only bytes that differ in marks, and nobody can tell them from fresh ones."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.errors import PlanError
from baton_runner.plan import readings
from baton_runner.plan.model import Mark
from baton_runner.plan.readings import mark_of, reading
from baton_runner.plan.tasks_md import read_plan
from tests.plan.plan_strategies import messy_plans, tidy_plans

DATA = b"## 1. A\n- [ ] 1.1 a\n  - [ ] step\n- [x] 1.2 b\n- [~] 1.3 c\n- [] 1.4 d\n"


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was parsed, in order."""
    seen: list[bytes] = []
    monkeypatch.setattr(readings, "_known", {})

    def counted(data: bytes, *, change: str, path: str) -> object:
        seen.append(data)
        return read_plan(data, change=change, path=path)

    monkeypatch.setattr(readings, "read_plan", counted)
    return seen


def test_other_marks_of_whoever_made_them_need_no_parsing(parses: list[bytes]) -> None:
    first = reading(DATA, "x")
    ticked = DATA.replace(b"[ ] 1.1", b"[x] 1.1").replace(b"[x] 1.2", b"[X] 1.2")
    assert reading(ticked, "x") is first
    assert [mark_of(task.box, ticked) for task in first.plan.tasks] == [
        Mark.RESOLVED,
        Mark.RESOLVED,
        Mark.HELD,
        Mark.READY,
    ]
    assert parses == [DATA]


@pytest.mark.parametrize(
    "now",
    [
        DATA.replace(b"1.1 a", b"1.1 b"),
        DATA.replace(b"[ ] 1.1", b"[~] 1.1"),
        DATA.replace(b"[~]", b"[ ]"),
        DATA.replace(b"[]", b"[x]"),
        DATA.replace(b"- [ ] 1.1", b"-[ ]  1.1"),
        DATA + b"\n",
        DATA[:-1],
    ],
)
def test_any_other_change_is_parsed(now: bytes, parses: list[bytes]) -> None:
    reading(DATA, "x")
    reading(now, "x")
    assert parses == [DATA, now]


def test_only_so_many_files_are_kept(parses: list[bytes]) -> None:
    for n in range(100):
        reading(DATA, f"x{n}")
    assert len(readings._known) < 10
    reading(DATA, "x99")
    assert len(parses) == 100


@given(messy_plans() | tidy_plans(), st.randoms())
def test_a_kept_reading_says_what_a_fresh_one_says(data: bytes, random: Random) -> None:
    """Whatever boxes and near-boxes a person marks: same tasks, same words, same places, same marks."""
    try:
        reading(data, "x")
    except PlanError:
        return
    now = bytearray(data)
    for at in range(1, len(data) - 1):
        if data[at - 1 : at] == b"[" and data[at + 1 : at + 2] == b"]":
            now[at] = random.choice(b" xX")
    changed = bytes(now)
    try:
        fresh = read_plan(changed, change="", path="x")
    except PlanError:
        with pytest.raises(PlanError):
            reading(changed, "x")
        return
    kept = reading(changed, "x").plan
    assert len(kept.tasks) == len(fresh.tasks)
    for old, new in zip(kept.tasks, fresh.tasks, strict=True):
        assert (old.id, old.key, old.raw, old.line, old.section) == (new.id, new.key, new.raw, new.line, new.section)
        assert [step.text for step in old.steps] == [step.text for step in new.steps]
        assert [(box.start, box.end) for box in old.boxes] == [(box.start, box.end) for box in new.boxes]
        assert [mark_of(box, changed) for box in old.boxes] == [box.mark for box in new.boxes]
