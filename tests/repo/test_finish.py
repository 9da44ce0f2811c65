"""Finish moves the user's branch and files together, or leaves both as they were."""

import os
import signal
import subprocess
import sys

import pytest

from baton_runner.base.crash import VARIABLE
from baton_runner.base.errors import ActionNeeded, RepositoryError
from baton_runner.repo import finish as finish_module
from baton_runner.repo.finish import DirtyPaths, Landing, MergeConflict, finish, undo_unfinished
from baton_runner.repo.refs import RefMoved, Refs, RefUpdate
from tests.repo.repo_space import RepoSpace

MAIN = "refs/heads/main"


@pytest.fixture
def verified(space: RepoSpace) -> str:
    """A commit on the integration branch: edits one file, adds one in a new folder, deletes one."""
    worktree = space.attempt()
    (worktree.path / "src/b.txt").unlink()
    commit = space.commit({"src/a.txt": "new\n", "lib/x/l.txt": "l\n"}, "verified", cwd=worktree.path)
    space.refs().create("refs/heads/baton/c", commit)
    return commit


def land(space: RepoSpace, commit: str) -> Landing:
    return finish(space.objects(), source=commit, branch=MAIN, message="Merge change c")


def state(space: RepoSpace) -> tuple[str, str, dict[str, bytes]]:
    files = {
        str(path.relative_to(space.top)): path.read_bytes()
        for path in space.top.rglob("*")
        if path.is_file() and not {".git", ".baton"} & set(path.relative_to(space.top).parts)
    }
    return space.head(), space.git("status", "--porcelain"), files


def test_a_fast_forward_moves_branch_and_files(space: RepoSpace, verified: str) -> None:
    """Files that the user edited elsewhere stay edited."""
    space.write({"tasks.md": "- [x] 1.1 one\n", "note": "mine"})
    landing = land(space, verified)
    assert (landing.new, landing.merged) == (verified, False)
    head, status, files = state(space)
    assert head == verified
    assert status.split() == ["M", "tasks.md", "??", "note"]
    assert files["src/a.txt"] == b"new\n"
    assert files["lib/x/l.txt"] == b"l\n"
    assert "src/b.txt" not in files
    assert not (space.top / ".baton/finish.json").exists()


def test_a_base_that_went_on_is_merged(space: RepoSpace, verified: str) -> None:
    mine = space.commit({"mine": "x"})
    landing = land(space, verified)
    assert landing.merged
    assert space.git("log", "-1", "--format=%P|%s") == f"{mine} {verified}|Merge change c"
    assert state(space)[1] == ""


def test_what_is_there_already_is_not_done_again(space: RepoSpace, verified: str) -> None:
    land(space, verified)
    before = state(space)
    assert land(space, verified).new == verified
    assert state(space) == before


@pytest.mark.parametrize(
    "dirt", ["edited", "staged", "untracked in the way", "ignored in the way", "deleted", "a folder's place"]
)
def test_paths_in_the_way_refuse_it_untouched(space: RepoSpace, verified: str, dirt: str) -> None:
    """Every way in which a path it would touch is not as committed: named, and not a byte is moved."""
    path = {"edited": "src/a.txt", "staged": "src/a.txt", "deleted": "src/a.txt", "a folder's place": "lib"}.get(
        dirt, "lib/x/l.txt"
    )
    if dirt == "deleted":
        (space.top / path).unlink()
    else:
        space.write({path: "mine"})
    if dirt == "staged":
        space.git("add", path)
    if dirt == "ignored in the way":
        (space.top / ".git/info/exclude").write_text("lib/\n")
    before = state(space)
    with pytest.raises(DirtyPaths, match=f"would be merged: {path}") as caught:
        land(space, verified)
    assert caught.value.paths == (path,)
    assert state(space) == before


def test_a_conflict_refuses_it_untouched(space: RepoSpace, verified: str) -> None:
    space.commit({"src/a.txt": "mine\n"})
    before = state(space)
    with pytest.raises(MergeConflict, match=r"conflicts in src/a\.txt"):
        land(space, verified)
    assert state(space) == before


def test_a_branch_that_moves_meanwhile_undoes_it(
    space: RepoSpace, verified: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and index are back at the old commit when the compare-and-swap fails; the user's other edits stay."""
    space.write({"tasks.md": "- [x] 1.1 one\n"})
    before = state(space)
    old = space.head()
    moved = space.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "moved meanwhile")

    def race(point: str) -> None:
        if point == finish_module._FILES_MOVED:
            Refs(space.repository).transaction([RefUpdate(MAIN, moved, old)])

    monkeypatch.setattr("baton_runner.base.crash.reach", race)
    with pytest.raises(RefMoved):
        land(space, verified)
    monkeypatch.undo()
    space.git("update-ref", MAIN, old)
    assert state(space) == before


def test_a_branch_that_is_checked_out_nowhere_just_moves(space: RepoSpace, verified: str) -> None:
    space.git("checkout", "--quiet", "-b", "elsewhere")
    before = state(space)
    land(space, verified)
    assert space.refs().get(MAIN) == verified
    assert state(space) == before


def test_a_rebase_in_the_way_refuses_it(space: RepoSpace, verified: str) -> None:
    space.git("checkout", "--quiet", "--detach")
    (space.top / ".git/rebase-merge").mkdir()
    (space.top / ".git/rebase-merge/head-name").write_text(f"{MAIN}\n")
    with pytest.raises(ActionNeeded, match="in the middle of a rebase"):
        land(space, verified)


def test_an_unknown_branch_is_said(space: RepoSpace, verified: str) -> None:
    with pytest.raises(RepositoryError, match="refs/heads/none: does not exist"):
        finish(space.objects(), source=verified, branch="refs/heads/none", message="m")


def test_a_sparse_checkout_of_the_users_stays_sparse(space: RepoSpace, verified: str) -> None:
    """Files outside the cone are not written, and the status is clean afterwards."""
    space.git("sparse-checkout", "set", "--cone", "src")
    land(space, verified)
    _, status, files = state(space)
    assert status == ""
    assert set(files) == {".gitignore", "tasks.md", "src/a.txt"}


CHILD = """
import sys
from pathlib import Path
from baton_runner.repo.finish import finish
from baton_runner.repo.objects import Objects
from baton_runner.repo.repository import Repository
finish(Objects(Repository.open(Path(sys.argv[1]))), source=sys.argv[2], branch="refs/heads/main", message="m")
"""


@pytest.mark.parametrize("point", ["repo.finish_journal", "repo.finish_files_moved", "repo.finish_journal_end"])
def test_a_kill_half_way_is_undone_or_completed(space: RepoSpace, verified: str, point: str) -> None:
    """After kill -9 an undo gives the state of before (or the finished one), and finishing again succeeds."""
    before = state(space)
    killed = subprocess.run(
        [sys.executable, "-c", CHILD, str(space.top), verified], env={**space.environ, VARIABLE: point}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    undo_unfinished(space.objects())
    after = state(space)
    assert after == before or (after[0] == verified and after[1] == "")
    land(space, verified)
    assert state(space)[:2] == (verified, "")


def test_files_half_written_by_a_killed_git_are_put_back(space: RepoSpace, verified: str) -> None:
    """Killed inside the file update: what equals the new commit is put back, an edit made since then stays."""
    before = state(space)
    objects = space.objects()
    journal = f'{{"top": "{space.top}", "branch": "{MAIN}", "old": "{space.head()}", "new": "{verified}"}}'
    space.repository.ensure_baton()
    (space.top / ".baton/finish.json").write_text(journal)
    space.write({"src/a.txt": "new\n", "lib/x/l.txt": "edited since\n"})
    os.unlink(space.top / "src/b.txt")  # noqa: PTH108
    assert undo_unfinished(objects)
    after = state(space)
    assert after[2] == {**before[2], "lib/x/l.txt": b"edited since\n"}
    assert not undo_unfinished(objects)
