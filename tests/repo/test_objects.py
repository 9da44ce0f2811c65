"""Merges, commits and blobs without a checkout."""

import shutil

import pytest

from baton_runner.base.errors import DamagedRecord
from baton_runner.repo.git import GitError
from baton_runner.repo.objects import Conflict, Merged
from tests.repo.repo_space import MakeSpace, RepoSpace


def test_a_clean_merge_gives_the_tree_of_both(space: RepoSpace) -> None:
    """Two branches that change different files merge without any checkout being touched."""
    base = space.head()
    ours = space.commit({"src/a.txt": "ours\n"})
    space.git("checkout", "--quiet", "--detach", base)
    theirs = space.commit({"new.txt": "theirs\n"})
    objects = space.objects()
    merged = objects.merge(ours, theirs)
    assert isinstance(merged, Merged)
    commit = objects.commit(merged.tree, [ours, theirs], "Merge")
    assert {change.path for change in objects.changes(base, commit)} == {"src/a.txt", "new.txt"}
    assert space.git("log", "-1", "--format=%P%n%an%n%s", commit) == f"{ours} {theirs}\nA User\nMerge"
    space.git("fsck", "--strict")
    assert space.head() == theirs


def test_a_conflict_names_every_path_and_says_why(space: RepoSpace) -> None:
    base = space.head()
    ours = space.commit({"src/a.txt": "ours\n", "src/b.txt": "ours\n"})
    space.git("checkout", "--quiet", "--detach", base)
    theirs = space.commit({"src/a.txt": "theirs\n", "src/b.txt": "theirs\n"})
    conflict = space.objects().merge(ours, theirs)
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("src/a.txt", "src/b.txt")
    assert any("Merge conflict in src/a.txt" in message for message in conflict.messages)


def test_unrelated_histories_are_an_error_not_a_merge(space: RepoSpace) -> None:
    stranger = space.git("commit-tree", space.git("write-tree"), "-m", "alone")
    with pytest.raises(GitError, match="unrelated histories"):
        space.objects().merge(space.head(), stranger)


def test_merge_drivers_and_attributes_in_the_tree_take_no_part(space: RepoSpace) -> None:
    """A planted driver does not run, and merge=union in the tree does not hide a conflict."""
    marker = space.folder / "PWNED"
    base = space.commit({".gitattributes": "src/a.txt merge=evil\nsrc/b.txt merge=union\n"})
    space.git("config", "merge.evil.driver", f"touch {marker}")
    ours = space.commit({"src/a.txt": "ours\n", "src/b.txt": "ours\n"})
    space.git("checkout", "--quiet", "--detach", base)
    theirs = space.commit({"src/a.txt": "theirs\n", "src/b.txt": "theirs\n"})
    conflict = space.objects().merge(ours, theirs)
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("src/a.txt", "src/b.txt")
    assert not marker.exists()


def test_changes_have_full_ids_modes_and_no_renames(space: RepoSpace) -> None:
    base = space.head()
    (space.top / "src" / "a.txt").rename(space.top / "src" / "ä b.txt")
    (space.top / "src" / "b.txt").chmod(0o755)
    changes = space.objects().changes(base, space.commit({}))
    assert [(c.path, c.old_mode, c.new_mode) for c in changes] == [
        ("src/a.txt", "100644", "000000"),
        ("src/b.txt", "100644", "100755"),
        ("src/ä b.txt", "000000", "100644"),
    ]
    assert changes[0].old_blob == changes[2].new_blob
    assert len(changes[0].old_blob) == 40


@pytest.mark.parametrize("packed", ["loose", "packed"])
def test_blobs_read_back_loose_or_packed(space: RepoSpace, packed: str) -> None:
    """What was written is read the same, before and after git packed it."""
    objects = space.objects()
    contents = [b"", b"one\n", b"\0\xff" * 1000, b"x" * 200_000]
    ids = [objects.blob(data) for data in contents]
    assert ids[1] == space.git("hash-object", "--stdin", input="one\n")
    if packed == "packed":
        for n, oid in enumerate(ids):
            space.git("update-ref", f"refs/baton/test/{n}", oid)
        space.git("gc", "--quiet", "--prune=now")
        assert not objects.loose.path(ids[1]).exists()
    assert [objects.read_blob(oid) for oid in ids] == contents
    assert objects.read_blobs([*ids, ids[0]]) == dict(zip(ids, contents, strict=True))
    assert objects.read_commit(space.head()).message == "first\n"
    assert objects.tree_of(space.head()) == space.git("rev-parse", "HEAD^{tree}")


def test_a_missing_blob_is_named(space: RepoSpace) -> None:
    with pytest.raises(DamagedRecord, match=r"1{40}: is not in the object database"):
        space.objects().read_blobs(["1" * 40])


def test_the_blob_at_a_path_is_found_literally(space: RepoSpace) -> None:
    """A name with glob characters is a name, not a pattern; a folder is no blob."""
    head = space.commit({"a*.md": "star\n", "ab.md": "b\n"})
    objects = space.objects()
    assert objects.read_blob(objects.blob_at(head, "a*.md") or "") == b"star\n"
    assert objects.blob_at(head, "src") is None
    assert objects.blob_at(head, "nothing") is None


def test_ancestry(space: RepoSpace) -> None:
    base = space.head()
    head = space.commit({"x": "1"})
    objects = space.objects()
    assert objects.is_ancestor(base, head)
    assert objects.is_ancestor(head, head)
    assert not objects.is_ancestor(head, base)
    assert objects.commits_between(base, head) == {head}
    assert objects.commits_between(None, head) == {base, head}
    assert objects.merge_base(base, head) == base
    with pytest.raises(GitError):
        objects.is_ancestor("1" * 40, head)


def test_the_own_repository_is_made_again_when_deleted_or_damaged(space: RepoSpace) -> None:
    """Any of its files lost or cut short, or all of .baton gone: the next call works."""
    objects, head = space.objects(), space.head()
    own = objects.own_git.folder
    assert objects.changes(head, head) == ()
    for damage in ("config", "HEAD", "info/exclude"):
        (own / damage).unlink()
        assert objects.changes(head, head) == ()
    (own / "config").write_bytes((own / "config").read_bytes()[:-5])
    assert objects.changes(head, head) == ()
    (own / "HEAD").write_bytes(b"")
    assert objects.changes(head, head) == ()
    shutil.rmtree(space.top / ".baton")
    assert objects.changes(head, head) == ()


def test_everything_that_only_the_tip_reaches_is_synced(space: RepoSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loose object between base and tip, and no other, is put on disk."""
    base = space.head()
    tip = space.commit({"deep/er/file": "new\n"})
    synced: list[str] = []
    monkeypatch.setattr(
        "baton_runner.repo.objects._sync_file", lambda path: synced.append(path.parent.name + path.name)
    )
    objects = space.objects()
    assert objects.make_durable(tip, base) == 5
    merge = objects.commit(objects.tree_of(tip), [base, tip], "durable when written")
    assert objects.make_durable(merge, base) == 0
    expected = {
        space.git("rev-parse", name)
        for name in (tip, f"{tip}^{{tree}}", f"{tip}:deep", f"{tip}:deep/er", f"{tip}:deep/er/file")
    }
    assert set(synced) == expected


@pytest.mark.parametrize("change", ["edited", "deleted", "became a folder", "untouched"])
def test_a_tree_with_paths_of_the_base(space: RepoSpace, change: str) -> None:
    """The named paths are as in the base, all others as in the tree, whatever happened to the path."""
    base = space.head()
    plan = space.top / "tasks.md"
    if change == "edited":
        plan.write_text("hacked\n")
    elif change != "untouched":
        plan.unlink()
    files = {"src/a.txt": "work\n"} | ({"tasks.md/inner": "x"} if change == "became a folder" else {})
    head = space.commit(files)
    objects = space.objects()
    tree = objects.tree_with(objects.tree_of(head), base, ["tasks.md"])
    assert [c.path for c in objects.changes(base, tree)] == ["src/a.txt"]


def test_a_tree_loses_a_path_that_the_base_does_not_have(space: RepoSpace) -> None:
    base = space.head()
    head = space.commit({"extra/plan.md": "new\n"})
    objects = space.objects()
    assert objects.tree_with(objects.tree_of(head), base, ["extra"]) == objects.tree_of(base)


def test_a_sha256_repository_works_throughout(make_space: MakeSpace) -> None:
    """Ids of 64 digits: blobs, commits, merges and worktrees."""
    space = make_space("sha256", "--object-format=sha256")
    objects, base = space.objects(), space.head()
    assert len(base) == 64
    assert objects.blob(b"x\n") == space.git("hash-object", "--stdin", input="x\n")
    worktree = space.attempt()
    commit = objects.commit(objects.tree_of(base), [base], "empty")
    assert objects.merge(base, commit) == Merged(objects.tree_of(base))
    worktree.at(commit)
    worktree.release()
    space.git("fsck", "--strict")


def test_a_shallow_clone_answers_within_its_depth(space: RepoSpace) -> None:
    """The missing past of a shallow clone is no damage."""
    space.commit({"x": "1"})
    head = space.commit({"y": "1"})
    shallow = space.folder / "shallow"
    space.git("clone", "--quiet", "--depth", "1", f"file://{space.top}", str(shallow))
    clone = RepoSpace(space.folder, shallow, space.environ)
    tip = clone.commit({"z": "1"})
    assert clone.objects().commits_between(None, tip) == {head, tip}
    assert clone.objects().is_ancestor(head, tip)
