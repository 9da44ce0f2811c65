"""Marks written back: exactly the boxes of one task, atomically, whoever else writes."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.base.crash import VARIABLE, CrashPoint
from baton_runner.base.errors import ActionNeeded, PlanError
from baton_runner.base.files import rename
from baton_runner.plan import ticking
from baton_runner.plan.lines import read_lines
from baton_runner.plan.model import Box, Mark, Plan
from baton_runner.plan.tasks_md import read_plan
from baton_runner.plan.ticking import TICK, TICK_RENAME, mark, tick, tick_all, untick, write_plan
from tests.plan.openspec_counter import count
from tests.plan.plan_strategies import messy_plans, tidy_plans

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.md"))
TICKABLE = [
    path for path in FIXTURES if path.stem not in {"headings_only", "bullets_only", "only_hidden", "not_utf8", "empty"}
]
TEXT = b"# T\r\n\r\n- [ ] 1.1 Add\r\n  - [ ] step\r\n- [] 1.2 Read\r\n"


def _read(data: bytes) -> Plan:
    return read_plan(data, change="c", path="tasks.md")


def _ticked(data: bytes, id_: str) -> bytes:
    return mark(data, _read(data).task(id_), Mark.RESOLVED, path="tasks.md")


def _write(folder: Path, data: bytes = TEXT) -> Path:
    file = folder / "tasks.md"
    file.write_bytes(data)
    return file


def _check_ticks(data: bytes) -> None:
    """Tick every task that may be ticked: exactly its own open boxes change, and OpenSpec sees just that."""
    plan = _read(data)
    total, done = count(data)
    for task in plan.tasks:
        if task.duplicate or any(data[box.end : box.end + 1] in (b"(", b"[") for box in task.boxes):
            continue
        after = mark(data, task, Mark.RESOLVED, path="tasks.md")
        own = [task.box] if task.mark is not Mark.RESOLVED else []
        own += [step.box for step in task.steps if step.box.mark is Mark.READY]
        again = _read(after)
        section = plan.sections[task.section]
        if section.box and section.box.mark is Mark.READY and again.sections[task.section].box != section.box:
            own += [section.box] if all(t is task or t.mark is Mark.RESOLVED for t in section.tasks) else []
        assert _without(data, [(box.start, box.end) for box in own]) == _without(after, _moved(data, after, own))
        assert count(after) == (total, done + len(own))
        found = again.by_key[task.key]
        assert found.mark is Mark.RESOLVED
        assert again.counts.total == total


def _without(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + b"\0" + data[end:]
    return data


def _moved(data: bytes, after: bytes, boxes: list[Box]) -> list[tuple[int, int]]:
    """Where the same boxes stand in the new bytes: line by line, since a box may have grown by a byte."""
    lines = {box.line for box in boxes}
    new = [line.box for line in read_lines(after, "") if line.box and line.number in lines]
    return [(box.start, box.end) for box in new]


@pytest.mark.parametrize("path", TICKABLE, ids=lambda path: path.stem)
def test_ticking_any_task_of_any_fixture_changes_its_boxes_and_nothing_else(path: Path) -> None:
    _check_ticks(path.read_bytes())


@given(messy_plans() | tidy_plans())
def test_ticking_any_task_of_any_plan_changes_its_boxes_and_nothing_else(data: bytes) -> None:
    try:
        _read(data)
    except PlanError:
        return
    _check_ticks(data)


@given(tidy_plans(), st.data())
def test_unticking_is_the_way_back(data: bytes, draw: st.DataObject) -> None:
    plan = _read(data)
    ready = [task for task in plan.tasks if all(box.mark is Mark.READY for box in task.boxes)]
    if ready:
        task = draw.draw(st.sampled_from(ready))
        ticked = mark(data, task, Mark.RESOLVED, path="x")
        assert mark(ticked, _read(ticked).by_key[task.key], Mark.READY, path="x") == data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"- [ ] 1.1 a", b"- [x] 1.1 a"),
        (b"- [] 1.1 a", b"- [x] 1.1 a"),
        (b"- [  ] 1.1 a", b"- [x ] 1.1 a"),
        (b"- [\t] 1.1 a", b"- [x] 1.1 a"),
        (b"- [~] 1.1 a", b"- [x] 1.1 a"),
        (b"- [ \xe2\x9c\x93] 1.1 a", b"- [ x] 1.1 a"),
        (b"- [X] 1.1 a", b"- [X] 1.1 a"),
        (b"- [ ] 1.1 a\n  - [~] held\n  - [ ] b", b"- [x] 1.1 a\n  - [~] held\n  - [x] b"),
        (b"- [ ] 1. P\n  - [x] 1.1 a\n  - [ ] 1.2 b", b"- [x] 1. P\n  - [x] 1.1 a\n  - [x] 1.2 b"),
    ],
)
def test_only_the_marker_is_replaced(before: bytes, after: bytes) -> None:
    """A person's hold on a step stays; a group's box follows its last task."""
    assert _ticked(before, _read(before).tasks[-1].id) == after


def test_a_group_is_unticked_with_any_of_its_tasks() -> None:
    data = b"- [x] 1. P\n  - [x] 1.1 a\n  - [x] 1.2 b\n"
    assert mark(data, _read(data).task("1.1"), Mark.READY, path="x") == b"- [ ] 1. P\n  - [ ] 1.1 a\n  - [x] 1.2 b\n"


def test_a_step_that_came_later_is_not_ticked_with_the_others() -> None:
    task = _read(b"- [ ] 1.1 a\n  - [ ] b\n").task("1.1")
    assert (
        mark(b"- [ ] 1.1 a\n  - [ ] new\n  - [ ] b\n", task, Mark.RESOLVED, path="x")
        == b"- [x] 1.1 a\n  - [ ] new\n  - [x] b\n"
    )


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (b"- [ ] 1.2 b\n", "tasks.md:1: task 1.1 (a) is not there any more; nothing was written"),
        (b"- [ ] 1.1 a b\n", "tasks.md:1: task 1.1 was edited since it was read"),
        (b"x\n- [ ] 1.1 a\n- [ ] 1.1 b\n", "tasks.md:2: task 1.1 stands at lines 2 and 3"),
        (b"- [ ] 1.1 a\xff\n", "tasks.md:1: is not UTF-8"),
        (b"words\n", "tasks.md:1: has no checkbox"),
    ],
)
def test_what_is_not_as_it_was_is_refused(now: bytes, message: str) -> None:
    task = _read(b"- [ ] 1.1 a\n").task("1.1")
    with pytest.raises(PlanError) as caught:
        mark(now, task, Mark.RESOLVED, path="tasks.md")
    assert str(caught.value).startswith(message)


def test_a_box_that_would_become_a_link_is_refused() -> None:
    """OpenSpec counts ``[ ](x)`` and does not count ``[x](x)``: the total would fall."""
    with pytest.raises(PlanError, match="would become a link"):
        _ticked(b"- [ ](x) a\n", "s1.1")


def test_a_task_without_an_id_is_found_by_its_words_wherever_it_went() -> None:
    task = _read(b"## 1. A\n- [ ] first\n- [ ] second\n").task("s1.2")
    assert (
        mark(b"## 4. A\n- [ ] second\n- [ ] new\n", task, Mark.RESOLVED, path="x")
        == b"## 4. A\n- [x] second\n- [ ] new\n"
    )


def test_ticking_a_file_keeps_its_mode_and_says_whether_it_wrote(tmp_path: Path) -> None:
    file = _write(tmp_path)
    file.chmod(0o664)
    task = _read(TEXT).task("1.1")
    assert tick(file, task, tmp_path / "lock", root=tmp_path) is True
    assert file.read_bytes() == TEXT.replace(b"- [ ]", b"- [x]")
    assert stat.S_IMODE(file.stat().st_mode) == 0o664
    before = file.stat()
    assert tick(file, task, tmp_path / "lock", root=tmp_path) is False
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert untick(file, task, tmp_path / "lock", root=tmp_path) is True
    assert file.read_bytes() == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "tasks.md"]


def test_a_symlink_inside_the_root_is_followed_and_one_that_leaves_it_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "repo", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    task = _read(TEXT).task("1.1")
    inner = root / "inner.md"
    inner.symlink_to(_write(root / "real"))
    assert tick(inner, task, tmp_path / "lock", root=root)
    assert inner.is_symlink()
    leaving = root / "leaving.md"
    leaving.symlink_to(_write(outside))
    with pytest.raises(PlanError, match="nothing was written") as caught:
        tick(leaving, task, tmp_path / "lock", root=root)
    assert caught.value.code == "outside"
    assert (outside / "tasks.md").read_bytes() == TEXT


def test_a_write_of_somebody_else_before_ours_wins_and_ours_is_made_on_it(tmp_path: Path) -> None:
    """The editor saves between our reading and our writing: both changes are in the file."""
    file = _write(tmp_path)
    task = _read(TEXT).task("1.1")
    saves = iter([TEXT + b"- [ ] 1.3 Theirs\r\n"])

    def change(data: bytes) -> bytes:
        if (theirs := next(saves, None)) is not None:
            other = tmp_path / "editor.tmp"
            other.write_bytes(theirs)
            other.replace(file)
        return mark(data, task, Mark.RESOLVED, path="tasks.md")

    assert write_plan(file, change, tmp_path / "lock", root=tmp_path)
    assert file.read_bytes() == TEXT.replace(b"- [ ]", b"- [x]") + b"- [ ] 1.3 Theirs\r\n"


def test_a_task_that_vanishes_between_reading_and_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    file = _write(tmp_path)
    task = _read(TEXT).task("1.1")

    def change(data: bytes) -> bytes:
        new = mark(data, task, Mark.RESOLVED, path="tasks.md")
        file.write_bytes(b"- [ ] 1.2 Read\n")
        return new

    with pytest.raises(PlanError, match="is not there any more"):
        write_plan(file, change, tmp_path / "lock", root=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "tasks.md"]


def test_a_line_appended_while_ours_is_put_in_place_is_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody holds the old file open and writes into it right after it was replaced."""
    file = _write(tmp_path)
    late = iter([file.open("ab")])

    def rename_then_append(source: Path, target: Path, point: CrashPoint) -> None:
        rename(source, target, point)
        if (handle := next(late, None)) is not None:
            with handle:
                handle.write(b"- [ ] 1.3 Theirs\r\n")

    monkeypatch.setattr(ticking, "rename", rename_then_append)
    assert tick(file, _read(TEXT).task("1.1"), tmp_path / "lock", root=tmp_path)
    assert file.read_bytes() == TEXT.replace(b"- [ ]", b"- [x]") + b"- [ ] 1.3 Theirs\r\n"


def test_a_file_that_never_rests_ends_in_an_error_not_in_a_loop(tmp_path: Path) -> None:
    file = _write(tmp_path)

    def change(data: bytes) -> bytes:
        file.write_bytes(data + b"\n")
        return data + b"x"

    with pytest.raises(ActionNeeded, match="was changed by somebody else 50 times"):
        write_plan(file, change, tmp_path / "lock", root=tmp_path)


_PROGRAM = """
import sys
import tempfile
from pathlib import Path
from baton_runner.plan.tasks_md import load_plan
from baton_runner.plan.ticking import tick
folder = Path(sys.argv[1])
file = folder / "tasks.md"
plan = load_plan(file, "c", "tasks.md")
for id in sys.argv[2:]:
    tick(file, plan.task(id), folder / "lock", root=folder)
"""

_EDITOR = """
import sys
import tempfile
for n in range(150):
    with open(sys.argv[1], "ab") as file:
        file.write(b"- note %d\\n" % n)
"""


@pytest.mark.parametrize("point", [TICK, TICK_RENAME])
def test_a_kill_while_writing_leaves_the_old_bytes_and_the_next_tick_goes_through(point: str, tmp_path: Path) -> None:
    file = _write(tmp_path)
    argv = [sys.executable, "-c", _PROGRAM, str(tmp_path), "1.1"]
    killed = subprocess.run(argv, env={**os.environ, VARIABLE: point}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert file.read_bytes() == TEXT
    subprocess.run(argv, check=True)
    assert file.read_bytes() == TEXT.replace(b"- [ ]", b"- [x]")


def test_two_hundred_ticks_at_once_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    """Eight processes tick 25 tasks each while a program without our lock appends lines to the same file."""
    ids = [f"{n % 4 + 1}.{n}" for n in range(200)]
    lines = [f"- [ ] {id_} Do it" for id_ in sorted(ids, key=lambda id_: id_.partition(".")[0])]
    file = _write(tmp_path, "\n".join([*lines, ""]).encode())
    argv = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    running = [subprocess.Popen([*argv, *ids[n::8]]) for n in range(8)]
    running.append(subprocess.Popen([sys.executable, "-c", _EDITOR, str(file)]))
    assert [process.wait() for process in running] == [0] * 9
    after = file.read_text().split("\n")
    assert after[:200] == [line.replace("[ ]", "[x]") for line in lines]
    assert after[200:-1] == [f"- note {n}" for n in range(150)]


def test_ticking_all_is_one_write_and_a_refused_task_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"## 1. A\n- [ ] 1.1 a\n  - [ ] step\n- [x] 1.2 b\n- [] 1.3 c\n- [ ](x) d\n- [ ] 1.4 e\n"
    tasks = _read(data).tasks
    file = _write(tmp_path, data.replace(b"1.2 b", b"1.2 b c").replace(b"- [ ] 1.4 e\n", b""))
    writes: list[Path] = []

    def counted(source: Path, target: Path, point: CrashPoint) -> None:
        writes.append(target)
        rename(source, target, point)

    monkeypatch.setattr(ticking, "rename", counted)
    refused = tick_all(file, tasks, tmp_path / "lock", root=tmp_path)
    assert {tasks[n].key: refused[tasks[n].key].code for n in (1, 3, 4)} == {
        "1.2": "task_edited",
        tasks[3].key: "box_or_link",
        "1.4": "task_gone",
    }
    assert len(refused) == 3
    assert file.read_bytes() == b"## 1. A\n- [x] 1.1 a\n  - [x] step\n- [x] 1.2 b c\n- [x] 1.3 c\n- [ ](x) d\n"
    assert writes == [file]


def test_what_concerns_the_whole_file_is_raised_by_ticking_all(tmp_path: Path) -> None:
    file = _write(tmp_path, b"- [ ] 1.1 a\xff\n")
    with pytest.raises(PlanError, match="is not UTF-8"):
        tick_all(file, _read(TEXT).tasks, tmp_path / "lock", root=tmp_path)
    assert file.read_bytes() == b"- [ ] 1.1 a\xff\n"


@given(messy_plans() | tidy_plans())
def test_ticking_all_equals_ticking_each(data: bytes) -> None:
    """Group boxes above them included."""
    try:
        tasks = _read(data).tasks
    except PlanError:
        return
    one_by_one = data
    for task in tasks:
        try:
            one_by_one = mark(one_by_one, task, Mark.RESOLVED, path="x")
        except PlanError:
            continue
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = _write(folder, data)
        tick_all(file, tasks, folder / "lock", root=folder)
        assert file.read_bytes() == one_by_one
