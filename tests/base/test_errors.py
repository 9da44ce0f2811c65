"""Errors: where, what, what to do, and a stable code."""

import pytest

from baton_runner.base import errors
from baton_runner.base.errors import BatonError, PlanError, Problems


@pytest.mark.parametrize(
    ("where", "todo", "text"),
    [
        ("", "", "it broke"),
        ("tasks.md:3", "", "tasks.md:3: it broke"),
        ("", "mend it", "it broke; mend it"),
        ("tasks.md:3", "mend it", "tasks.md:3: it broke; mend it"),
    ],
)
def test_a_message_says_what_is_known(where: str, todo: str, text: str) -> None:
    assert str(BatonError("it broke", where=where, todo=todo)) == text


def test_every_class_has_its_own_code_and_a_case_may_have_a_narrower_one() -> None:
    classes = [getattr(errors, name) for name in errors.__all__]
    assert len({each.code for each in classes}) == len(classes)
    assert BatonError("x", code="lock_timeout").code == "lock_timeout"
    assert BatonError.code == "error"


def test_several_problems_are_told_one_a_line_and_kept_apart() -> None:
    found = Problems(PlanError("bad", where=f"tasks.md:{line}") for line in (1, 2))
    assert str(found) == "tasks.md:1: bad\ntasks.md:2: bad"
    assert [error.where for error in found.errors] == ["tasks.md:1", "tasks.md:2"]
