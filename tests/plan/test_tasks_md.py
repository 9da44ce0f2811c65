"""Reading ``tasks.md``: one table of shapes seen in the wild, then the rules that a table cannot show."""

import time
from pathlib import Path

import pytest
from hypothesis import given

from baton_runner.base.digest import digest_bytes
from baton_runner.base.errors import NothingCollected, PlanError
from baton_runner.base.slug import slug
from baton_runner.plan.model import Counts, Flow, Mark, Plan, Source, Task
from baton_runner.plan.tasks_md import load_plan, read_plan
from tests.plan.openspec_counter import count
from tests.plan.plan_strategies import messy_plans

FIXTURES = Path(__file__).parent / "fixtures"

# shape -> ids of each section, a step being written behind its task as id+steps
SHAPES = {
    "plain": "1.1 1.2 | 2.1 2.2",
    "no_final_newline": "1.1 1.2",
    "crlf": "1.1 1.2",
    "double_cr": "1.1 1.2",
    "bom": "1.1 1.2",
    "tab_nested": "1.1+3 1.2",
    "open_step_under_tick": "1.1+2 1.2",
    "bold_ids": "1.1 1.2 1.3 1.4 1.5",
    "decorated_ids": "1.1 1.2 1.3 1.4 1.5 1.6",
    "three_levels_flat": "1.1 1.1.1 1.1.2 1.2",
    "letter_in_number": "2a.1 2a.1.1 2a.2b",
    "spec_kit": "T001 T002 T003 | T004 T005 T006 T007",
    "dashed_family": "TASK-101 TASK-102",
    "lettered": "A.1 A.2 | B.1 B.2.3",
    "words_like_ids": "s1.1 s1.2 s1.3 1.4 s1.5",
    "ranges": "s1.1 s1.2 s1.3 s1.4 1.8",
    "no_ids": "s1.1 s1.2 | s2.1 s2.2 s2.3",
    "no_headings": "s1.1 s1.2",
    "title_only": "1.1 1.2",
    "only_level_3": "1.1 | 2.1",
    "level_3_late": "1.1 2.1",
    "level_1_twice": "1.1 | 2.1",
    "labels_inside": "1.1 1.2 1.3",
    "keyword_headings": "1.1 | 2.1 | 3.1 | 4.1 | 5.1 | 5b.1 | 6.1.1",
    "chinese_headings": "1.1 1.2 | 2.1",
    "zero_section": "0.1 | 1.1",
    "sections_out_of_order": "1.1 | 2.1 | 5.1 | 3.1",
    "section_repeated": "1.1 | 2.1 | 2.2",
    "section_without_task": "1.1",
    "section_mismatch": "1.1 2.1",
    "duplicate_id": "1.1 1.2 | 1.2 2.2",
    "marks": "1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.11",
    "bullets": "1.1 1.2 1.3 1.4 1.5",
    "no_boxes_among": "1.1 s1.2",
    "fences": "1.1 1.2",
    "open_fence": "1.1 1.2 1.3",
    "fence_left_open_in_item": "1.1 1.2 1.3",
    "comments": "1.1 1.2 1.3 1.4 1.5",
    "no_text": "s1.1 s1.2 1.3",
    "kiro": "1.1 1.2 | 2.1 | 3",
    "manual_and_optional": "1.1 1.2 1.3 1.4 1.5",
    "red_green": "1.1 1.2 1.3 | 2.1 2.2",
    "follow_up": "1.1 1.2 | 2.1 2.2",
    "fifty": " ".join(f"1.{n}" for n in range(1, 51)),
    "steps_under_bullets": "s1.1 s1.2 s1.3+1",
    "depends": " ".join(f"1.{n}" for n in range(1, 12)) + " | 2.1 2.2 2.3 | 3.1 3.2 | 4.1 4.2",
    "verify": "1.1 1.2 1.3 1.4 1.5 1.6 1.7+1 1.8 1.9 1.10 1.11",
    "recipes": "1.1 1.2 1.3",
}
REFUSED = {"headings_only", "bullets_only", "only_hidden", "not_utf8", "empty"}
NUMBERS = {
    "keyword_headings": ["1", "2", "3", "4", "5", "5b", "6.1"],
    "chinese_headings": ["1", "2"],
    "lettered": ["A", "B"],
    "kiro": ["1", "2", "3"],
    "spec_kit": ["1", "3"],
    "no_ids": [None, None],
    "zero_section": ["0", "1"],
}
WARNINGS = {
    "open_step_under_tick": ["2: task 1.1 is ticked, its step at line 4 is not"],
    "sections_out_of_order": ["5: section numbers jump from 2 to 5", "7: section 3 stands behind section 5"],
    "section_repeated": ["5: section number 2 is used twice; first at line 3"],
    "section_mismatch": ["3: task 2.1 stands in section 1"],
    "duplicate_id": ["6: task 1.2 stands in section 2"],
    "red_green": ["2: [RED] and [GREEN] tasks run one after the other"],
    "no_boxes_among": ["6: [WIP] is no checkbox", "10: [🚧] is no checkbox"],
    "fences": [f"{line}: a checkbox inside a code fence or comment is no task" for line in (4, 8, 10)],
    "comments": ["2: a checkbox inside a code fence or comment is no task"],
    "spec_kit": ["9: section numbers jump from 1 to 3"],
    "no_text": [f"{line}: task {name} has no words" for line, name in ((2, "s1.1"), (3, "s1.2"), (4, "1.3"))],
    "verify": ["18: task 1.6: Run: `make f` is read as words, not as a check"],
}


def _plan(shape: str) -> Plan:
    return load_plan(FIXTURES / f"{shape}.md", "add-rows", f"{shape}.md")


def _read(text: str) -> Plan:
    return read_plan(text.encode(), change="add-rows", path="tasks.md")


def _shape(plan: Plan) -> str:
    return " | ".join(
        " ".join(task.id + (f"+{len(task.steps)}" if task.steps else "") for task in section.tasks)
        for section in plan.sections
    )


def test_every_fixture_has_an_expectation() -> None:
    assert {path.stem for path in FIXTURES.glob("*.md")} == set(SHAPES) | REFUSED


@pytest.mark.parametrize("shape", SHAPES)
def test_sections_tasks_and_steps_of_every_shape(shape: str) -> None:
    assert _shape(_plan(shape)) == SHAPES[shape]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_exactly_its_warnings(shape: str) -> None:
    expected = [f"{shape}.md:{warning}" for warning in WARNINGS.get(shape, [])]
    found = _plan(shape).warnings
    assert len(found) == len(expected), found
    assert all(warning.startswith(start) for warning, start in zip(found, expected, strict=True)), found


@pytest.mark.parametrize("shape", NUMBERS)
def test_the_numbers_of_sections(shape: str) -> None:
    assert [section.number for section in _plan(shape).sections] == NUMBERS[shape]


@given(messy_plans())
def test_every_box_is_somewhere_once_and_counted_as_openspec_does(data: bytes) -> None:
    """Every checkbox of any file is a task, a step, a group's box or hidden; totals are OpenSpec's."""
    try:
        plan = read_plan(data, change="c", path="tasks.md")
    except PlanError as error:
        assert error.code == "no_tasks"  # noqa: PT017 - the error is one of two good ends
        return
    boxes = [box for task in plan.tasks for box in task.boxes] + list(plan.hidden)
    boxes += [section.box for section in plan.sections if section.box]
    assert len({box.start for box in boxes}) == len(boxes) == plan.counts.total
    assert (plan.counts.total, plan.counts.done) == count(data)
    assert plan.counts.held + plan.counts.open + plan.counts.done == plan.counts.total


@given(messy_plans())
def test_keys_are_distinct_and_made_keys_are_their_own_slugs(data: bytes) -> None:
    try:
        plan = read_plan(data, change="c", path="tasks.md")
    except PlanError:
        return
    assert len(plan.by_key) == len(plan.tasks)
    assert all(slug(task.key) == task.key for task in plan.tasks if task.synthetic)
    assert all(task.key == task.id for task in plan.tasks if not task.synthetic and not task.duplicate)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("headings_only", "headings_only.md:1: has no checkbox; write each task as `- [ ] 1.1 What to do`"),
        ("empty", "empty.md:1: has no checkbox"),
        ("bullets_only", "bullets_only.md:3: has list items without a checkbox (lines 3, 4)"),
        ("only_hidden", "only_hidden.md:2: has checkboxes only inside code fences or comments"),
        ("not_utf8", "not_utf8.md:3: is not UTF-8"),
    ],
)
def test_a_file_that_says_nothing_is_an_error_never_an_empty_plan(shape: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        _plan(shape)
    assert str(caught.value).startswith(message)


def test_a_missing_file_is_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"^shown/tasks\.md: is not there; "):
        load_plan(tmp_path / "tasks.md", "c", "shown/tasks.md")


def test_the_same_id_twice_names_both_lines_and_the_way_out() -> None:
    """Neither of them may be dispatched, and each has a key of its own."""
    plan = _plan("duplicate_id")
    assert [str(problem) for problem in plan.problems] == [
        "duplicate_id.md:6: task 1.2 appears twice; first at line 3; give each its own id, or run `baton plan number`"
    ]
    assert [(task.key, task.duplicate) for task in plan.tasks] == [
        ("1.1", False), ("1.2#1", True), ("1.2#2", True), ("2.2", False)
    ]  # fmt: skip
    with pytest.raises(PlanError, match="stands at lines 3 and 6"):
        plan.task("1.2")


def test_a_task_is_found_by_id_and_by_key_or_named_missing() -> None:
    plan = _plan("no_ids")
    assert plan.task("s2.1").key == plan.task(plan.task("s2.1").key).key
    with pytest.raises(NothingCollected, match=r"has no task 7\.7; choose one of s1\.1, "):
        plan.task("7.7")
    assert plan.task("s2.1").name("add-rows") == "add-rows:s2.1"


def test_marks_are_resolved_ready_or_held() -> None:
    plan = _plan("marks")
    by_mark = {mark: [task.id for task in plan.tasks if task.mark is mark] for mark in Mark}
    assert by_mark[Mark.RESOLVED] == ["1.1", "1.6"]
    assert by_mark[Mark.HELD] == ["1.2", "1.3", "1.7", "1.10"]
    assert by_mark[Mark.READY] == ["1.4", "1.5", "1.8", "1.9", "1.11"]
    assert plan.counts == Counts(total=11, done=2, held=4, open=5)


def test_tags_and_stars_say_manual_optional_red_and_green() -> None:
    """A tag inside a code span is only text."""
    plan = _plan("manual_and_optional")
    assert [task.manual for task in plan.tasks] == [True, True, False, False, False]
    assert [task.optional for task in plan.tasks] == [False, False, True, True, False]
    assert plan.task("1.5").title == "Describe `[MANUAL]` in the docs"
    red = _plan("red_green")
    assert [section.flow for section in red.sections] == [Flow.SEQUENTIAL, None]
    assert red.task("1.1").directives.verify_once
    assert (red.task("1.1").red, red.task("1.2").green, red.task("1.2").directives.verify_once) == (True, True, False)


def test_a_ticked_parent_with_an_open_step_is_reported_not_guessed() -> None:
    task = _plan("open_step_under_tick").task("1.1")
    assert (task.inconsistent, task.mark) == (True, Mark.RESOLVED)


def test_a_nested_plan_has_its_parents_as_sections() -> None:
    """Parents ``1.`` with children ``1.1``: the children are the tasks, the parent's box is the section's."""
    plan = _plan("kiro")
    assert [section.box is not None for section in plan.sections] == [True, True, False]
    assert plan.sections[0].body == "- words about it"
    assert plan.task("1.1").body == "- columns first\n- _Requirements: 1.1, 2.3_"
    assert plan.task("1.1").waits is None
    assert plan.task("1.2").optional


def test_follow_ups_do_not_keep_a_change_from_being_complete() -> None:
    """A task that can only be done after all others would wait for itself."""
    plan = _plan("follow_up")
    assert [task.id for task in plan.follow_ups] == ["2.1", "2.2"]
    assert plan.complete
    assert not _read("- [x] 1.1 a\n- [ ] 1.2 b\n- [ ] Archive the change\n").complete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Archive the change", True),
        ("Archive this change", True),
        ("Finally, archive the proposal", True),
        ("Run `openspec archive x`", True),
        ("/opsx:archive", True),
        ("Archive `add-rows`", True),
        ("Archive change logs older than a year", False),
        ("Archive old log files", False),
        ("Document the openspec archive command", False),
        ("Add a change archive", False),
    ],
)
def test_which_tasks_are_follow_ups(text: str, expected: bool) -> None:
    assert _read(f"- [x] a\n- [ ] {text}\n").tasks[1].follow_up is expected


@pytest.mark.parametrize("mark", ["[ ]", "[~]"])
def test_an_open_box_that_is_no_task_keeps_a_change_from_being_complete(mark: str) -> None:
    assert not _read(f"- [x] 1.1 a\n```\n- {mark} example\n```\n").complete
    assert _read("- [x] 1.1 a\n```\n- [x] example\n```\n").complete


def test_a_body_is_what_is_indented_deeper_blank_lines_inside_included() -> None:
    plan = _read(
        "- [ ] 1.1 a\n  one\n\n    two\nlazy\n  three\n\nnew paragraph\n  four\n"
        "- [ ] 1.2 b\n  - [ ] step\n    of two lines\n  - after the step\n    - deeper\n- bullet\n  words of the bullet\n"
    )
    assert plan.task("1.1").body == "one\n\n  two\nthree"
    assert plan.task("1.2").body == "- after the step\n  - deeper"
    assert [step.text for step in plan.task("1.2").steps] == ["step\nof two lines"]


def test_a_box_below_a_plain_bullet_is_a_task_of_its_own() -> None:
    assert _shape(_read("- [ ] a\n- Group\n  - [ ] b\n  - [ ] c\n")) == "s1.1 s1.2 s1.3"


def test_a_slip_of_one_blank_makes_no_step() -> None:
    assert _shape(_read("- [ ] 1.1 a\n - [ ] 1.2 b\n  - [ ] c\n")) == "1.1 1.2 s1.3"


def test_comments_are_no_words_and_a_fence_keeps_them() -> None:
    task = _read("- [ ] 1.1 a <!-- id: 3 -->\n  b <!-- c\n  d --> e\n  ```html\n  <!-- kept -->\n  ```\n").task("1.1")
    assert (task.text, task.body) == ("a", "b  e\n```html\n<!-- kept -->\n```")


def test_a_directive_outside_of_a_task_is_said_to_do_nothing() -> None:
    assert any("tasks.md:2: a directive outside" in w for w in _read("- [ ] 1.1 a\n<!-- verify: make -->\n").warnings)
    assert not _read("- [ ] 1.1 a\n<!-- a remark -->\n").warnings


def test_recipes_and_directives() -> None:
    plan = _plan("recipes")
    assert plan.task("1.1").recipe == ("cp a b",)
    assert plan.task("1.2").recipe == ("make x", "set -e\n  make y")
    asked = plan.task("1.2").directives
    assert (asked.allow_empty, asked.agent, asked.timeout, asked.resources) == (True, "copilot", 1200.0, ("db", "gpu"))
    assert (asked.verify_once, asked.protect) == (True, False)
    assert [str(problem) for problem in plan.problems] == [
        "recipes.md:9: task 1.3: directive alow-empty is not known; did you mean allow-empty?",
        "recipes.md:9: task 1.3: directive timeout cannot be soon; write it as timeout=90s, 20m or 1h",
    ]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("- [ ] 1.1 a\n  words\n  Acceptance criteria: `make`\n", "3: task 1.1: Acceptance criteria: `make` is read"),
        (
            "- [ ] 1.1 a; add the test: `make`\n",
            "1: task 1.1: a; add the test: `make` is read as words, not as a check",
        ),
        ("- [ ] 1.1 a\n  Verify:\n  ```python\n  x\n  ```\n", "2: task 1.1: Verify: is read as words"),
        ("- [ ] 1.1 a. Verify:\n  ```\n  x\n  ```\n", "1: task 1.1: a. Verify: is read as words"),
        ("- [ ] 1.1 a\n  - Verify:\n    - see `x`\n", "2: task 1.1: - Verify: is read as words"),
        ("- [ ] 1.1 a\n  Verify: as follows\n  - `x`\n", "2: task 1.1: Verify: as follows is read as words"),
        ("- [ ] 1.1 a\n  Verify:\n  - `x`\n  - see `y`\n", "4: task 1.1: - see `y` is read as words"),
        ("- [ ] 1.1 a\n  - [ ] b\n    run: `x`\n", "3: task 1.1: run: `x` is read as words"),
        ("- [ ] 1.1 a\nVerify: `x`\n", "2: Verify: `x` stands outside of any task, so it is no check of one; indent"),
        ("- [ ] 1.1 a\nVerify:\n```sh\nx\n```\n", "2: Verify: stands outside of any task"),
        ("- [ ] 1. a\n  Verify: `x`\n  - [ ] 1.1 b\n", "2: Verify: `x` stands outside of any task"),
        ("- [ ] 1.1 a\n  - [ ]\n", "2: a step of task 1.1 has no words"),
        ("- [ ] 1.1 a\n- [ ]\n", "2: task s1.2 has no words; say what is to be done, or delete the box"),
    ],
)
def test_what_reads_like_a_check_and_is_none_is_a_warning_with_its_line(text: str, warning: str) -> None:
    """A check that is lost in silence turns its task green without it."""
    (found,) = _read(text).warnings
    assert found.startswith(f"tasks.md:{warning}")


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] 1.1 Two **Verify:** `x`\n",
        "- [ ] 1.1 Four <!-- baton: allow-empty --> Verify: `x`\n",
        "- [ ] 1.1 Five verify: `x`\n",
        "- [ ] 1.1 Six\n  Verify:\n  - `x`\n",
        "- [ ] 1.1 Six\n\n  - **Verify**:\n\n    - `x`.\n",
        "- [ ] 1.1 Seven. Verify:\n  - `x`\n",
        "- [ ] 1.1 Seven. Verify:\n  ```bash\n  x\n  ```\n",
        "- [ ] 1.1 Eight\n  - [ ] a step to verify: `x`\n",
    ],
)
def test_a_label_counts_wherever_it_stands(text: str) -> None:
    plan = _read(text)
    assert [item.command for item in plan.tasks[0].verification] == ["x"]
    assert plan.warnings == ()


def test_prose_with_code_is_neither_a_check_nor_a_warning() -> None:
    plan = _read("- [ ] 1.1 Run `git push`; `Verify: x` is a label. Use `test: a`\n  Then `firebase deploy`\n")
    assert (plan.tasks[0].verification, plan.warnings) == ((), ())


def test_commands_come_from_every_accepted_place_and_from_no_other() -> None:
    found = {task.id: [(v.command, v.source) for v in task.verification] for task in _plan("verify").tasks}
    label, fence, comment = Source.LABEL, Source.FENCE, Source.COMMENT
    assert found == {
        "1.1": [("make a", label)],
        "1.2": [("make b", label), ("make b2", label)],
        "1.3": [("make c", label)],
        "1.4": [("make d --fast", fence), ("make d2", fence)],
        "1.5": [("make e", comment)],
        "1.6": [],
        "1.7": [("make g", label)],
        "1.8": [("make h", label)],
        "1.9": [("make i", fence), ("make i2", comment)],
        "1.10": [("make j", label)],
        "1.11": [],
    }


def test_a_title_is_short_and_clean() -> None:
    text = "- [ ] 1.1 **Add** the index (depends on 1.2) [MANUAL]. Verify: `make` <!-- id: 1 -->\n- [ ] 1.2 b"
    assert _read(text).task("1.1").title == "Add the index."


def _keys(text: str) -> dict[str, str]:
    return {task.text: task.key for task in _read(text).tasks}


def test_a_made_key_survives_moves_renumbering_and_checks() -> None:
    """``s2.3`` is only shown; the key comes from section title and text."""
    before = _keys("## 1. Storage\n- [ ] Add the table\n- [ ] Add the index\n## 2. Service\n- [ ] Read rows\n")
    after = _keys(
        "## 1. Service\n- [x] Read rows <!-- verify: make -->\n## 2. Storage (sequential)\n- [ ] New\n- [ ] Add the index\n- [ ] Add the table\n"
    )
    assert before.items() <= after.items()


def test_twins_without_ids_have_keys_of_their_own() -> None:
    one, two = _read("- [ ] Same\n- [ ] Same\n").tasks
    assert one.key != two.key
    assert one.key == _read("- [ ] Same\n").tasks[0].key


def test_the_plan_names_its_bytes_and_place() -> None:
    data = (FIXTURES / "plain.md").read_bytes()
    plan = read_plan(data, change="add-rows", path="x/tasks.md")
    assert (plan.change, plan.path, plan.digest) == ("add-rows", "x/tasks.md", digest_bytes(data))
    assert [section.index for section in plan.sections] == [0, 1]
    assert [task.section for task in plan.tasks] == [0, 0, 1, 1]
    assert isinstance(plan.tasks[0], Task)


@pytest.mark.parametrize(
    "unit",
    [
        "- [ ] 1.1 a\n",
        "- [ ] same words\n",
        "## 1. A\n- [ ] 1.1 a\n",
        "- [ ] a\n  - [ ] b\n",
        "- [ ] a\n  Verify: `b` (depends on 1.1)\n  <!-- run: c -->\n",
        "  ```bash\n  x\n",
        "(depends on 1.1, ",
        "Verify: ` ",
        "Verify: `a` ",
        "tests ok: ` ",
        "  Verify:\n  - `a`\n",
        "  - Verify:\n  - a\n",
    ],
)
def test_reading_takes_linear_time_whatever_is_repeated(unit: str) -> None:
    """Four times the file takes about four times as long, not sixteen."""

    def seconds(size: int) -> float:
        data = ("- [ ] 0.1 first " + unit * (size // len(unit))).encode()
        start = time.process_time()
        read_plan(data, change="c", path="tasks.md")
        return time.process_time() - start

    small, large = (min(seconds(size) for _ in range(2)) for size in (30_000, 120_000))
    assert large < 10 * small + 0.05


def test_ten_thousand_tasks_are_read_at_once() -> None:
    """Well under a second of processor time even where tests share a busy machine."""
    text = "".join(
        f"## {s}. Part\n" + "".join(f"- [ ] {s}.{t} Do the thing {t}\n" for t in range(1, 11)) for s in range(1, 1001)
    )
    start = time.process_time()
    assert len(_read(text).tasks) == 10_000
    assert time.process_time() - start < 3
