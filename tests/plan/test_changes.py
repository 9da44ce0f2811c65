"""Where plans live, and which change is meant."""

from pathlib import Path

import pytest

from baton_runner.base.errors import NothingCollected, UsageError
from baton_runner.plan.changes import context_files, find_changes, select_change


def _write(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("- [ ] 1.1 a\n")


def test_changes_of_openspec_win_and_archives_hidden_folders_and_empty_ones_are_none(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "openspec/changes/b/tasks.md",
        "openspec/changes/a/tasks.md",
        "openspec/changes/archive/tasks.md",
        "openspec/changes/archive/2026-01-01-old/tasks.md",
        "openspec/changes/.hidden/tasks.md",
        "openspec/changes/c/proposal.md",
        "openspec/changes/stray.md",
        "tasks/d/tasks.md",
    )
    found = find_changes(tmp_path)
    assert [(change.id, change.plan_path) for change in found] == [
        (name, tmp_path / "openspec/changes" / name / "tasks.md") for name in ("a", "b")
    ]


def test_tasks_folders_count_where_there_is_no_openspec(tmp_path: Path) -> None:
    _write(tmp_path, "tasks/d/tasks.md")
    (change,) = find_changes(tmp_path)
    assert (change.id, change.folder) == ("d", tmp_path / "tasks/d")
    assert find_changes(tmp_path / "nowhere") == ()


def test_the_only_change_needs_no_name(tmp_path: Path) -> None:
    _write(tmp_path, "tasks/add-rows/tasks.md")
    changes = find_changes(tmp_path)
    assert select_change(changes, None) == select_change(changes, "add-rows") == changes[0]


def test_no_change_names_the_folder() -> None:
    with pytest.raises(
        NothingCollected,
        match=r"openspec/changes: no change was found; write a plan to openspec/changes/<id>/tasks\.md",
    ):
        select_change((), None)


def test_several_changes_are_named_and_a_wrong_name_gets_a_guess(tmp_path: Path) -> None:
    _write(tmp_path, "tasks/add-rows/tasks.md", "tasks/fix-login/tasks.md")
    changes = find_changes(tmp_path)
    with pytest.raises(UsageError, match="there are 2 changes; name one of add-rows, fix-login"):
        select_change(changes, None)
    with pytest.raises(UsageError, match=r"there is no change add-row; did you mean add-rows\?"):
        select_change(changes, "add-row")
    with pytest.raises(UsageError, match="there is no change zzz; choose one of add-rows, fix-login"):
        select_change(changes, "zzz")


def test_context_files_are_the_proposal_the_design_and_the_specs(tmp_path: Path) -> None:
    base = "openspec/changes/a"
    names = ["proposal.md", "design.md", "specs/a/spec.md", "specs/b/c/spec.md"]
    _write(
        tmp_path,
        f"{base}/tasks.md",
        *(f"{base}/{name}" for name in names),
        f"{base}/specs/notes.md",
        f"{base}/other.md",
    )
    (change,) = find_changes(tmp_path)
    assert [str(path.relative_to(change.folder)) for path in context_files(change)] == names
