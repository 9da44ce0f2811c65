"""What an agent leaves becomes one commit; the plan files never change in its history."""

import subprocess

import pytest

from baton_runner.repo.commits import (
    Captured,
    CommitMode,
    StrayedHead,
    UncommittedWork,
    UnfinishedOperation,
    capture,
)
from baton_runner.repo.worktrees import Worktree, WorktreeLost
from tests.repo.repo_space import RepoSpace

PLAN = ("tasks.md",)


def take(space: RepoSpace, worktree: Worktree, base: str = "", mode: CommitMode = CommitMode.AUTO) -> Captured:
    return capture(worktree, base=base or space.head(), plan_paths=PLAN, message="Task 1.1", mode=mode)


def touched_in_history(space: RepoSpace, base: str, commit: str | None) -> str:
    return space.git("log", "--full-history", "--format=%H", f"{base}..{commit}", "--", *PLAN)


def test_uncommitted_work_is_committed_by_the_harness(space: RepoSpace) -> None:
    """Edits, new files and deletions, not what is ignored; the worktree ends clean at that commit."""
    worktree = space.attempt()
    space.write({"src/a.txt": "edited\n", "new/ü file.txt": "new\n", "build/out": "x", ".env": "SECRET"}, worktree.path)
    (worktree.path / "src/b.txt").unlink()
    result = take(space, worktree)
    assert result.by_harness
    assert result.left_behind == ()
    assert [change.path for change in result.changes] == ["new/ü file.txt", "src/a.txt", "src/b.txt"]
    assert space.git("log", "-1", "--format=%an|%s|%P", str(result.commit)) == f"A User|Task 1.1|{space.head()}"
    assert worktree.head() == result.commit
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""
    assert space.git("fsck", "--strict") == ""


def test_an_agents_own_commits_are_taken_as_they_are(space: RepoSpace) -> None:
    """Its commits keep their ids; the harness adds none when nothing is left."""
    worktree = space.attempt()
    commit = space.commit({"new": "x"}, "by the agent", cwd=worktree.path)
    result = take(space, worktree)
    assert (result.commit, result.by_harness, result.left_behind) == (commit, False, ())


def test_committed_and_uncommitted_work_come_together(space: RepoSpace) -> None:
    worktree = space.attempt()
    commit = space.commit({"new": "x"}, cwd=worktree.path)
    space.write({"rest": "y"}, worktree.path)
    result = take(space, worktree)
    assert result.by_harness
    assert space.git("rev-parse", f"{result.commit}^") == commit
    assert {change.path for change in result.changes} == {"new", "rest"}


def test_nothing_done_is_no_commit(space: RepoSpace) -> None:
    worktree = space.attempt()
    result = take(space, worktree)
    assert (result.commit, result.changes, result.by_harness) == (None, (), False)


def test_work_that_was_undone_again_is_no_commit(space: RepoSpace) -> None:
    worktree = space.attempt()
    space.commit({"src/a.txt": "x\n"}, cwd=worktree.path)
    space.commit({"src/a.txt": "a\n"}, cwd=worktree.path)
    assert take(space, worktree).commit is None


def test_a_plan_edit_left_uncommitted_is_dropped(space: RepoSpace) -> None:
    """The commit has the plan as at the base, the edit is reported, the worktree's plan is the base's again."""
    worktree = space.attempt()
    space.write({"tasks.md": "- [x] 1.1 one\n", "work": "x"}, worktree.path)
    result = take(space, worktree)
    assert result.left_behind == ("tasks.md",)
    assert [change.path for change in result.changes] == ["work"]
    assert (worktree.path / "tasks.md").read_text() == "- [ ] 1.1 one\n"
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""
    assert touched_in_history(space, space.head(), result.commit) == ""


def test_a_plan_edit_alone_is_no_commit(space: RepoSpace) -> None:
    worktree = space.attempt()
    space.write({"tasks.md": "- [x] 1.1 one\n"}, worktree.path)
    result = take(space, worktree)
    assert (result.commit, result.left_behind) == (None, ("tasks.md",))


@pytest.mark.parametrize("end", ["left", "reverted"])
def test_plan_edits_in_the_agents_history_are_rewritten_away(space: RepoSpace, end: str) -> None:
    """No commit from base to result touches the plan, even where a later one undid it; authors, dates, texts stay."""
    worktree = space.attempt()
    space.commit({"one": "1", "tasks.md": "hacked\n"}, "work and plan", cwd=worktree.path)
    space.commit({"tasks.md": "again\n"}, "plan only", cwd=worktree.path)
    if end == "reverted":
        space.commit({"tasks.md": "- [ ] 1.1 one\n"}, "plan back", cwd=worktree.path)
    space.commit({"two": "2"}, "more work", cwd=worktree.path)
    before = space.git("log", "--format=%an %ad %s", "-1", cwd=worktree.path)
    result = take(space, worktree)
    assert result.left_behind == ("tasks.md",)
    assert not result.by_harness
    assert touched_in_history(space, space.head(), result.commit) == ""
    log = space.git("log", "--format=%an %ad %s", f"{space.head()}..{result.commit}").splitlines()
    assert [line.rsplit(" ", 2)[-2:] for line in log] == [["more", "work"], ["and", "plan"]]
    assert log[0] == before
    assert {change.path for change in result.changes} == {"one", "two"}
    assert space.git("fsck", "--strict") == ""


def test_a_merge_in_the_agents_history_stays_a_merge_when_rewritten(space: RepoSpace) -> None:
    base, worktree = space.head(), space.attempt()
    left = space.commit({"left": "1", "tasks.md": "x\n"}, "left", cwd=worktree.path)
    space.git("checkout", "--quiet", "--detach", base, cwd=worktree.path)
    space.commit({"right": "1"}, "right", cwd=worktree.path)
    space.git("merge", "--quiet", "-m", "both", left, cwd=worktree.path)
    result = take(space, worktree)
    assert len(space.git("log", "-1", "--format=%P", str(result.commit)).split()) == 2
    assert touched_in_history(space, base, result.commit) == ""
    assert {change.path for change in result.changes} == {"left", "right"}


def test_a_plan_that_is_not_in_the_base_does_not_come_in(space: RepoSpace) -> None:
    """A plan the user has not committed yet is not committed by an agent either."""
    worktree = space.attempt()
    space.write({"new/tasks.md": "x", "work": "x"}, worktree.path)
    result = capture(worktree, base=space.head(), plan_paths=("tasks.md", "new/tasks.md"), message="m")
    assert result.left_behind == ("new/tasks.md",)
    assert [change.path for change in result.changes] == ["work"]


def test_work_on_a_branch_of_the_agents_own_is_found(space: RepoSpace) -> None:
    """HEAD on a branch is followed; afterwards the worktree is detached, so that the branch is free."""
    worktree = space.attempt()
    space.git("switch", "--quiet", "-c", "feature/x", cwd=worktree.path)
    commit = space.commit({"new": "x"}, cwd=worktree.path)
    result = take(space, worktree)
    assert result.commit == commit
    assert space.git("branch", "--show-current", cwd=worktree.path) == ""
    assert worktree.head() == commit


def test_a_head_that_does_not_descend_from_the_base_is_reported(space: RepoSpace) -> None:
    """The commit is named, and nothing in the worktree is changed."""
    old = space.head()
    base = space.commit({"x": "1"})
    worktree = space.attempt()
    space.git("checkout", "--quiet", "--detach", old, cwd=worktree.path)
    commit = space.commit({"y": "1"}, cwd=worktree.path)
    with pytest.raises(StrayedHead, match=f"is at {commit}, which does not descend from {base}"):
        take(space, worktree, base)
    assert worktree.head() == commit
    space.git("checkout", "--quiet", "--detach", old, cwd=worktree.path)
    with pytest.raises(StrayedHead):
        take(space, worktree, base)


def test_an_operation_that_was_not_ended_is_reported(space: RepoSpace) -> None:
    worktree = space.attempt()
    base = space.head()
    one = space.commit({"src/a.txt": "one\n"}, cwd=worktree.path)
    space.git("checkout", "--quiet", "--detach", base, cwd=worktree.path)
    space.commit({"src/a.txt": "two\n"}, cwd=worktree.path)
    subprocess.run(
        ["git", "merge", "--quiet", one], cwd=worktree.path, env=dict(space.environ), check=False, capture_output=True
    )
    with pytest.raises(UnfinishedOperation, match="MERGE_HEAD"):
        take(space, worktree)


def test_the_policy_can_want_the_agent_to_commit(space: RepoSpace) -> None:
    """Uncommitted work is refused with its paths, and left as it is; committed work passes."""
    worktree = space.attempt()
    space.write({"new": "x", "src/a.txt": "y"}, worktree.path)
    with pytest.raises(UncommittedWork, match=r"src/a\.txt, new; commit it"):
        take(space, worktree, mode=CommitMode.AGENT)
    commit = space.commit({}, cwd=worktree.path)
    assert take(space, worktree, mode=CommitMode.AGENT).commit == commit


def test_hooks_and_signing_of_the_user_do_not_stop_the_harness(space: RepoSpace) -> None:
    """A pre-commit hook that fails and a signing key that does not exist play no part in harness commits."""
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout"):
        hook = space.top / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {space.folder}/RAN\nexit 1\n")
        hook.chmod(0o755)
    space.git("config", "commit.gpgSign", "true")
    space.git("config", "user.signingKey", "nobody")
    worktree = space.attempt()
    space.write({"new": "x"}, worktree.path)
    assert take(space, worktree).by_harness
    assert not (space.folder / "RAN").exists()


def test_a_repository_inside_the_worktree_is_left_behind(space: RepoSpace) -> None:
    """A nested repository would become a link to a commit that nobody else has: dropped, reported, not deleted."""
    worktree = space.attempt()
    nested = worktree.path / "nested"
    nested.mkdir()
    space.git("init", "--quiet", cwd=nested)
    space.commit({"precious": "x"}, cwd=nested)
    space.write({"work": "x"}, worktree.path)
    result = take(space, worktree)
    assert result.left_behind == ("nested",)
    assert [change.path for change in result.changes] == ["work"]
    assert (nested / "precious").exists()


def test_a_new_submodule_is_taken(space: RepoSpace) -> None:
    other = space.folder / "other"
    space.git("clone", "--quiet", str(space.top), str(other))
    worktree = space.attempt()
    space.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub", cwd=worktree.path)
    result = take(space, worktree)
    assert result.left_behind == ()
    assert {change.path for change in result.changes} == {".gitmodules", "sub"}


def test_the_next_turn_goes_on_from_the_captured_commit(space: RepoSpace) -> None:
    base, worktree = space.head(), space.attempt()
    space.write({"one": "1"}, worktree.path)
    first = take(space, worktree, base)
    space.write({"two": "2"}, worktree.path)
    second = take(space, worktree, base)
    assert space.git("rev-parse", f"{second.commit}^") == first.commit
    assert {change.path for change in second.changes} == {"one", "two"}


def test_a_lock_left_by_a_killed_git_does_not_lose_the_work(space: RepoSpace) -> None:
    worktree = space.attempt()
    space.write({"new": "x"}, worktree.path)
    (worktree.git_dir / "index.lock").touch()
    assert take(space, worktree).commit


def test_a_worktree_that_the_agent_replaced_is_not_committed(space: RepoSpace) -> None:
    """The pointer leads to another repository now: no commit is made anywhere."""
    worktree = space.attempt()
    (worktree.path / ".git").write_text(f"gitdir: {space.top / '.git'}\n")
    with pytest.raises(WorktreeLost):
        take(space, worktree)
    assert space.git("status", "--porcelain") == ""


def test_sparse_work_outside_the_cone_is_captured_too(space: RepoSpace) -> None:
    space.commit({"docs/d.md": "d"})
    worktree = space.attempt(workspaces=space.workspaces(sparse=("src",)))
    space.write({"src/a.txt": "x\n", "docs/new.md": "n"}, worktree.path)
    assert [change.path for change in take(space, worktree).changes] == ["docs/new.md", "src/a.txt"]


def test_a_submodule_moved_by_the_agent_is_taken_at_its_new_commit(space: RepoSpace) -> None:
    """A populated submodule is staged by the commit it is at; what is uncommitted inside stays there."""
    other = space.folder / "other"
    space.git("clone", "--quiet", str(space.top), str(other))
    allow = ("-c", "protocol.file.allow=always")
    space.git(*allow, "submodule", "--quiet", "add", str(other), "sub")
    space.commit({}, "with submodule")
    worktree = space.attempt()
    space.git(*allow, "submodule", "--quiet", "update", "--init", cwd=worktree.path)
    moved = space.commit({"inside": "x"}, cwd=worktree.path / "sub")
    space.write({"work": "x", "sub/loose": "y"}, worktree.path)
    result = take(space, worktree)
    assert {(change.path, change.new_mode) for change in result.changes} == {("sub", "160000"), ("work", "100644")}
    assert next(change for change in result.changes if change.path == "sub").new_blob == moved
    assert (worktree.path / "sub/loose").exists()
