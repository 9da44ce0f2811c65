"""Ids written into a plan once: only ids are inserted, keys map to them, duplicates are gone."""

import pytest
from hypothesis import given

from baton_runner.base.errors import PlanError
from baton_runner.plan.number import number
from baton_runner.plan.tasks_md import read_plan
from tests.plan.plan_strategies import messy_plans


def _number(text: str) -> str:
    return number(text.encode())[0].decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## 1. A\n- [ ] a\n- [x] b\n", "## 1. A\n- [ ] 1.1 a\n- [x] 1.2 b\n"),
        ("## 1. A\n- [ ] a\n- [ ] 1.1 b\n- [ ] c\n", "## 1. A\n- [ ] 1.2 a\n- [ ] 1.1 b\n- [ ] 1.3 c\n"),
        ("## 1. A\n- [ ] 1.1 a\n- [ ] **1.1** b\n", "## 1. A\n- [ ] 1.1 a\n- [ ] **1.2** b\n"),
        ("## 2. A\n- [ ] a\n## 2. B\n- [ ] b\n", "## 2. A\n- [ ] 2.1 a\n## 2. B\n- [ ] 2.2 b\n"),
        ("- [ ] T001 a\n- [ ] b\n- [ ] T002 c\n", "- [ ] T001 a\n- [ ] T003 b\n- [ ] T002 c\n"),
        ("- [ ]\n- [x]done\n- [ ]* later\n", "- [ ] 1.1\n- [x] 1.2 done\n- [ ]* 1.3 later\n"),
        ("- [ ] - 1.3 or so\n", "- [ ] 1.1: - 1.3 or so\n"),
        ("## A\n- [ ] a\n## 1. B\n- [ ] b\n", "## A\n- [ ] 2.1 a\n## 1. B\n- [ ] 1.1 b\n"),
        ("\ufeff- [ ] ä\r\n  - [ ] ö\r\n- [ ] ü", "\ufeff- [ ] 1.1 ä\r\n  - [ ] ö\r\n- [ ] 1.2 ü"),
    ],
)
def test_what_is_written(before: str, after: str) -> None:
    assert _number(before) == after


def test_the_mapping_takes_receipts_along() -> None:
    text = "## 1. A\n- [ ] 1.1 a\n- [ ] 1.1 b\n- [ ] c\n- [ ] 1.5 d\n"
    old = read_plan(text.encode(), change="", path="")
    new, renamed = number(text.encode())
    assert renamed == {"1.1#1": "1.1", "1.1#2": "1.6", old.tasks[2].key: "1.7"}
    assert [task.key for task in read_plan(new, change="", path="").tasks] == ["1.1", "1.6", "1.7", "1.5"]


@given(messy_plans())
def test_a_numbered_plan_has_one_id_per_task_and_is_left_alone_then(data: bytes) -> None:
    try:
        old = read_plan(data, change="", path="")
    except PlanError:
        return
    data_after, renamed = number(data)
    new = read_plan(data_after, change="", path="")
    assert not any(task.synthetic or task.duplicate for task in new.tasks)
    assert [renamed.get(task.key, task.key) for task in old.tasks] == [task.key for task in new.tasks]
    assert [task.box.mark for task in old.tasks] == [task.box.mark for task in new.tasks]
    assert number(data_after) == (data_after, {})
