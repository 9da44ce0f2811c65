"""Which commands a task names, and which backticks are only prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.plan.model import Source, Verification
from baton_runner.plan.tasks_md import read_plan
from baton_runner.plan.verification import resolve, split, unique


@pytest.mark.parametrize(
    "label",
    ["Verify", "verification", "VALIDATION", "Gate", "Test", "Command", "Acceptance", "Done when", "Test command"],
)
@pytest.mark.parametrize(
    "form", ["{}: `make`", "**{}**: `make`", "**{}:** `make`", "- {}: `make`", "Words. {}: `make`", "_{}_: `make`"]
)
def test_every_label_in_every_form(label: str, form: str) -> None:
    assert split(form.format(label)).spans == ("make",)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Verify: `a` and `b`", ["a", "b"]),
        ("Verify: ``echo `x` ``", ["echo `x`"]),
        ("Verify: `a`. Notes: run `git push`", ["a"]),
        ("Verify: `a`; Test: `b`", ["a", "b"]),
        ("(verify: `a`)", ["a"]),
        ("Verify:\n`a`\n`b`\n\n`c`", ["a", "b"]),
        ("Verify:\n- `a`", ["a"]),
        ("Verify:\n- `a`\n- `b`.\n- see `c`", ["a", "b"]),
        ("Verify:\n\n1. `a`\n2. `b`\n\n`c`", ["a", "b"]),
        ("- Verify:\n  - `a`\n- `b`", ["a"]),
        ("- Verify:\n- `a`", []),
        ("Verify:\n- run `git push`", []),
        ("Two **Verify:** `a`", ["a"]),
        ("Five verify: `a`", ["a"]),
        ("Nobody re-verify: `a`", []),
        ("Add it Test: `a`", ["a"]),
        ("Add it **test:** `a`", ["a"]),
        ("Add it _gate_: `a`", ["a"]),
        ("Add the test: `a`", []),
        ("Run test:unit with `a`", []),
        ("Port Test::More to `a`", []),
        ("Run: `a`", []),
        ("Tests: `a`", []),
        ("Write a unit test: `a`", []),
        ("Verify that `a` works", []),
        ("`Verify: x` and `y`", []),
        ("Uses `git push`.\nVerify: `a`\nThen `firebase deploy`", ["a"]),
        ("```\nVerify: `a`\n```", []),
    ],
)
def test_spans_of_labels(text: str, spans: list[str]) -> None:
    assert list(split(text).spans) == spans


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Verify:\n```bash\na\n\n# no\n$ b\n```", ["a", "b"]),
        ("Verify with this:\n```sh\na\n```", []),
        ("Verify: as below\n\n```sh\na \\\n  --b \\\n  c\n```", ["a --b c"]),
        ("Verify:\n~~~console\n$ a\nout\n$ b \\\n> c\n~~~", ["a", "b c"]),
        ("Verify:\n```python\na\n```", []),
        ("Verify:\n```\na\n```", []),
        ("Verify:\nwords between\n\nmore words\n```bash\na\n```", []),
        ("```bash\na\n```", []),
    ],
)
def test_fences_right_under_a_label(text: str, commands: list[str]) -> None:
    assert list(split(text).fences) == commands


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Add it. Verify: `a`", "Add it."),
        ("Add it. Verify: `a` prints 3", "Add it. Verify:  prints 3"),
        ("one\n- Test: `a`, `b`\ntwo", "one\ntwo"),
        ("one\nTest:\n```bash\na\n```\ntwo", "one\ntwo"),
        ("one\nTest:\nsome words\ntwo", "one\nTest:\nsome words\ntwo"),
        ("plain `code` words", "plain `code` words"),
    ],
)
def test_what_remains_without_the_commands(text: str, rest: str) -> None:
    assert split(text).rest.rstrip() == rest


@given(st.lists(st.text(alphabet="abc `$\\", min_size=1, max_size=8), min_size=2, max_size=2))
def test_other_commands_leave_the_same_words(commands: list[str]) -> None:
    texts = ["Add it\nVerify: `" + command.replace("`", "").strip() + "`" for command in commands]
    if all(not text.endswith("``") for text in texts):
        assert split(texts[0]).rest == split(texts[1]).rest


def test_a_command_named_twice_runs_once_where_it_was_found_first() -> None:
    found = [Verification("a", Source.LABEL), Verification("b", Source.FENCE), Verification("a", Source.COMMENT)]
    assert unique(found) == (Verification("a", Source.LABEL), Verification("b", Source.FENCE))


def test_the_policy_comes_last_by_all_by_task_and_by_section() -> None:
    plan = read_plan(b"## 1. Storage\n- [ ] 1.1 Add. Verify: `own`\n- [ ] 1.2 b\n", change="c", path="x")
    policy = {
        "commands": ["all"],
        "tasks": {"1.1": ["task"], "2.*": ["no"]},
        "sections": {"1": ["number"], "*Stor*": ["title", "own"], "2": ["no"]},
    }
    first, second = (resolve(task, plan.sections[0], **policy) for task in plan.tasks)  # type: ignore[arg-type]
    assert [(item.command, item.source) for item in first] == [
        ("own", Source.LABEL),
        ("all", Source.POLICY_ALL),
        ("task", Source.POLICY_TASK),
        ("number", Source.POLICY_SECTION),
        ("title", Source.POLICY_SECTION),
    ]
    assert [item.command for item in second] == ["all", "number", "title", "own"]
