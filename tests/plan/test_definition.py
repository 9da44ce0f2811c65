"""When two tasks are the same work: nothing but the work itself moves the digest."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from baton_runner.base.errors import PlanError
from baton_runner.plan.definition import definition, definition_digest, plain_words
from baton_runner.plan.model import Plan
from baton_runner.plan.number import number
from baton_runner.plan.tasks_md import read_plan
from tests.plan.plan_strategies import WORDS, messy_plans

BASE = (
    "## 1. Storage\n- [ ] 1.1 Add the table. Verify: `make a`\n  - [ ] 1.1.1 columns\n  words below\n"
    "  Test: `make t`\n- [ ] 1.2 Add the index (depends on 1.1)\n  <!-- run: make index -->\n"
)


def _read(text: str | bytes) -> Plan:
    return read_plan(text if isinstance(text, bytes) else text.encode(), change="c", path="tasks.md")


def _digests(text: str | bytes) -> list[str]:
    return [definition_digest(task) for task in _read(text).tasks]


def test_the_definition_holds_the_work_and_nothing_else() -> None:
    first, second = (definition(task) for task in _read(BASE).tasks)
    assert first == {
        "allow_empty": False,
        "body": "words below",
        "run": [],
        "steps": ["columns"],
        "text": "Add the table.",
    }
    assert second == {"allow_empty": False, "body": "", "run": ["make index"], "steps": [], "text": "Add the index"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- [ ] 1.1 ", "- [x] 1.1 "),
        ("- [ ] 1.1 ", "- [~] 1.1 "),
        ("  - [ ] 1.1.1", "  - [x] 1.1.1"),
        ("`make a`", "`make all` and `make lint`"),
        (". Verify: `make a`", "."),
        ("  Test: `make t`\n", ""),
        ("  Test: `make t`\n", "  Test:\n  ```bash\n  make t\n  make u\n  ```\n"),
        ("  Test: `make t`\n", "  Test:\n  - `make t`\n  - `make u`\n"),
        (". Verify: `make a`", ". <!-- id: 1 --> verify: `make b`"),
        ("  Test: `make t`\n", "  <!-- verify: make t -->\n"),
        ("1. Storage", "7. Another title (sequential)"),
        (" (depends on 1.1)", ""),
        (" (depends on 1.1)", " (after 1.1) [MANUAL] [P]"),
        ("make index -->\n", "make index --> <!-- baton: agent=x, timeout=1h, protect=off -->\n  Depends on: 1.1\n"),
        ("1.1.1 columns", "columns"),
        ("1.1", "9.3"),
        ("the table", "the \t table"),
        ("\n", "\r\n"),
        ("- [ ] 1.2", "\n\n### Label\n* [] 1.2"),
    ],
)
def test_what_leaves_every_digest_as_it_is(old: str, new: str) -> None:
    assert old in BASE
    assert _digests(BASE.replace(old, new)) == _digests(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table", "view"),
        ("columns", "keys"),
        ("words below", "other words below"),
        ("words below\n", ""),
        ("make index", "make  index"),
        ("make index -->", "make index --> <!-- baton: allow-empty -->"),
        ("  words below\n", "  words below\n  - [ ] one more step\n"),
        ("the index (depends on 1.1)", "the index (after the table)"),
    ],
)
def test_what_changes_exactly_one_digest(old: str, new: str) -> None:
    assert old in BASE
    changed = [a != b for a, b in zip(_digests(BASE.replace(old, new)), _digests(BASE), strict=True)]
    assert changed.count(True) == 1


@given(messy_plans(), st.randoms())
def test_any_set_of_marks_leaves_every_digest_and_key_unchanged(data: bytes, random: Random) -> None:
    """Ticking any plan, in any way, makes nothing stale."""
    try:
        plan = _read(data)
    except PlanError:
        return
    marked = data
    boxes = [box for task in plan.tasks for box in task.boxes if data[box.end : box.end + 1] not in (b"(", b"[")]
    for box in sorted(boxes, key=lambda box: box.start, reverse=True):
        marked = marked[: box.start] + random.choice([b"[ ]", b"[x]", b"[X]", b"[~]"]) + marked[box.end :]
    again = _read(marked)
    assert [task.key for task in again.tasks] == [task.key for task in plan.tasks]
    assert [definition_digest(task) for task in again.tasks] == [definition_digest(task) for task in plan.tasks]


@given(messy_plans())
def test_numbering_a_plan_leaves_every_digest_unchanged(data: bytes) -> None:
    try:
        numbered, _ = number(data)
    except PlanError:
        return
    assert _digests(numbered) == _digests(data)


@given(WORDS, WORDS)
def test_other_words_are_other_work(one: str, two: str) -> None:
    assume(one.split() != two.split())
    assert _digests(f"- [ ] 1.1 Do {one}\n") != _digests(f"- [ ] 1.1 Do {two}\n")
    assert _digests(f"- [ ] 1.1 Do\n  {one}\n") != _digests(f"- [ ] 1.1 Do\n  {two}\n")
    assert _digests(f"- [ ] 1.1 Do\n  - [ ] so {one}\n") != _digests(f"- [ ] 1.1 Do\n  - [ ] so {two}\n")


@given(st.lists(WORDS, min_size=2, max_size=5, unique=True), st.randoms())
def test_moving_tasks_moves_their_digests_and_nothing_more(words: list[str], random: Random) -> None:
    lines = [f"- [ ] Do {text}\n" for text in words]
    moved = random.sample(lines, len(lines))
    assert sorted(_digests("".join(lines))) == sorted(_digests("## 3. New\n" + "".join(moved)))


def test_code_keeps_what_looks_like_a_note() -> None:
    assert plain_words("Say `(depends on 1.1)` and `[P]`") == "Say `(depends on 1.1)` and `[P]`"
