"""The user's checkout is watched without a trace, and a branch's places are found."""

from pathlib import Path

from baton_runner.repo.checkout import Watch, landed_files, worktrees_with
from tests.repo.repo_space import RepoSpace


def watch(space: RepoSpace) -> Watch:
    return Watch(space.objects(), space.top, space.repository.git_dir)


def changed(before: frozenset[object], after: frozenset[object]) -> set[str]:
    return {getattr(seen, "path", "") for seen in before ^ after}


def test_a_clean_checkout_has_no_status_and_stays_byte_equal(space: RepoSpace) -> None:
    """Looking does not even refresh the index."""
    (space.top / "src/a.txt").touch()
    index = (space.top / ".git/index").read_bytes()
    assert watch(space).status() == frozenset()
    assert (space.top / ".git/index").read_bytes() == index


def test_each_kind_of_change_is_seen(space: RepoSpace) -> None:
    """Edited, staged, new, deleted; ignored files are not; and a further edit of a dirty file is a change too."""
    space.write({"src/a.txt": "edited", "new ü": "x", "staged": "s", ".env": "ignored"})
    space.git("add", "staged")
    (space.top / "src/b.txt").unlink()
    before = watch(space).status()
    assert {seen.path for seen in before} == {"src/a.txt", "new ü", "staged", "src/b.txt"}
    space.write({"src/a.txt": "edited again"})
    assert changed(before, watch(space).status()) == {"src/a.txt"}


def test_a_repository_without_commit_can_be_watched(space: RepoSpace) -> None:
    empty = space.folder / "empty"
    empty.mkdir()
    space.git("init", "--quiet", cwd=empty)
    other = RepoSpace(space.folder, empty, space.environ)
    other.write({"x": "1"})
    assert {seen.path for seen in watch(other).status()} == {"x"}


def test_files_an_attempt_wrote_in_the_wrong_place_are_told_from_the_users(space: RepoSpace) -> None:
    """Only what equals the attempt's own result counts, by content as git would store it."""
    base = space.head()
    commit = space.commit({"src/a.txt": "made\n", "src/b.txt": "made\n", "c": "made\n"})
    changes = space.objects().changes(base, commit)
    space.git("checkout", "--quiet", base)
    space.write({"src/a.txt": "made\n", "src/b.txt": "the user's\n", "other": "made\n"})
    assert landed_files(watch(space), ["src/a.txt", "src/b.txt", "other", "c"], changes) == ("src/a.txt",)


def test_the_places_of_a_branch_are_found(space: RepoSpace) -> None:
    """The main checkout, linked worktrees, one in the middle of a rebase; not one whose folder is gone."""
    objects = space.objects()
    assert worktrees_with(objects, "refs/heads/main") == (space.top,)
    assert worktrees_with(objects, "refs/heads/baton/c") == ()
    linked = space.folder / "linked tree"
    space.git("worktree", "add", "--quiet", "-b", "baton/c", str(linked))
    assert worktrees_with(objects, "refs/heads/baton/c") == (linked,)
    space.git("checkout", "--quiet", "--detach", cwd=linked)
    (admin,) = (space.top / ".git/worktrees").iterdir()
    (admin / "rebase-merge").mkdir()
    (admin / "rebase-merge/head-name").write_text("refs/heads/baton/c\n")
    assert worktrees_with(objects, "refs/heads/baton/c") == (linked,)
    linked.rename(space.folder / "moved")
    assert worktrees_with(objects, "refs/heads/baton/c") == ()


def test_a_bare_repository_has_nothing_checked_out(space: RepoSpace) -> None:
    bare = space.folder / "bare.git"
    space.git("clone", "--quiet", "--bare", str(space.top), str(bare))
    assert worktrees_with(RepoSpace(space.folder, bare, space.environ).objects(), "refs/heads/main") == ()


def test_the_checkout_with_a_separate_git_directory_is_found(tmp_path: Path, space: RepoSpace) -> None:
    top = space.folder / "apart"
    space.git("clone", "--quiet", f"--separate-git-dir={space.folder / 'apart-git'}", str(space.top), str(top))
    other = RepoSpace(space.folder, top, space.environ)
    assert worktrees_with(other.objects(), "refs/heads/main") == (top,)
