"""Worktrees are proven before they are handed out, reused, healed, and never lose anybody's work."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from baton_runner.base.crash import VARIABLE
from baton_runner.base.errors import ActionNeeded, BatonError
from baton_runner.repo.commits import capture
from baton_runner.repo.slots import Kind, Purpose, State
from baton_runner.repo.worktrees import Workspaces, WorktreeLost
from tests.repo.repo_space import MakeSpace, RepoSpace


def branch_heads(space: RepoSpace) -> str:
    return space.git("for-each-ref", "--format=%(refname)", "refs/heads")


def test_a_worktree_is_a_detached_checkout_outside_the_repository(space: RepoSpace) -> None:
    """What git itself sees from inside is the worktree, at the commit, on no branch; no shared setting was written."""
    before = space.shared_config()
    worktree = space.attempt()
    assert space.git("rev-parse", "--show-toplevel", cwd=worktree.path) == str(worktree.path)
    assert space.git("status", "--porcelain=v2", "--branch", cwd=worktree.path).splitlines()[:2] == [
        f"# branch.oid {space.head()}",
        "# branch.head (detached)",
    ]
    assert not worktree.path.is_relative_to(space.top)
    assert len(str(worktree.path.relative_to(space.folder / "state"))) <= 60
    assert branch_heads(space) == "refs/heads/main"
    assert space.shared_config() == before


def test_a_released_worktree_is_reused_clean_with_its_ignored_files(space: RepoSpace) -> None:
    """The next attempt finds the files of its commit; only what is ignored (installed packages) is still there."""
    worktree = space.attempt()
    space.write({"build/cache": "kept", "src/a.txt": "dirty", "stray/file": "x"}, worktree.path)
    worktree.release()
    head = space.commit({"src/b.txt": "new\n"})
    again = space.attempt(task="1.2")
    assert again.path == worktree.path
    assert again.head() == head
    assert space.git("status", "--porcelain", cwd=again.path) == ""
    assert (again.path / "build/cache").read_text() == "kept"
    assert (again.path / "src/b.txt").read_text() == "new\n"


def test_agents_and_checks_never_share_a_place(space: RepoSpace) -> None:
    """A verification worktree was never touched by an agent, also after release."""
    attempt = space.attempt()
    attempt.release()
    verify = space.verify()
    assert verify.path != attempt.path
    verify.release()
    assert space.attempt().path == attempt.path


def test_what_somebody_left_in_a_free_worktree_is_parked_before_it_is_reset(space: RepoSpace) -> None:
    """Dirty, untracked and detached commits: every byte is reachable after git gc --prune=now."""
    worktree = space.attempt()
    worktree.release()
    commit = space.commit({"src/a.txt": "committed by hand\n"}, cwd=worktree.path)
    space.write({"src/b.txt": "edited by hand\n", "untracked ü.txt": "new by hand\n"}, worktree.path)
    again = space.attempt()
    assert again.path == worktree.path
    space.git("gc", "--quiet", "--prune=now")
    (name,) = space.refs().read("refs/baton/kept")
    assert space.git("show", f"{name}:src/b.txt") == "edited by hand"
    assert space.git("show", f"{name}:untracked ü.txt") == "new by hand"
    assert space.git("rev-parse", f"{name}^") == commit


def test_a_kept_worktree_stays_as_it_is_and_its_content_is_parked(space: RepoSpace) -> None:
    """It is listed with its reason, nobody reuses it, and what was in it survives its removal."""
    workspaces = space.workspaces()
    worktree = space.attempt()
    space.write({"new.txt": "unfinished\n", "src/a.txt": "edited\n"}, worktree.path)
    name = worktree.keep("conflict")
    assert (worktree.path / "new.txt").read_text() == "unfinished\n"
    assert space.attempt(task="1.2").path != worktree.path
    (kept,) = workspaces.kept()
    assert (kept.record.reason, kept.record.purpose.key) == ("conflict", "1.1")
    workspaces.remove(kept.slot)
    assert not worktree.path.exists()
    assert str(worktree.path) not in space.git("worktree", "list")
    assert workspaces.kept() == ()
    assert space.git("show", f"{name}:new.txt") == "unfinished"


def test_a_worktree_in_use_cannot_be_removed(space: RepoSpace) -> None:
    worktree = space.attempt()
    with pytest.raises(ActionNeeded, match="is in use by process"):
        space.workspaces().remove(worktree.slot)
    assert worktree.path.exists()


def test_a_worktree_that_a_person_locked_is_not_removed(space: RepoSpace) -> None:
    worktree = space.attempt()
    worktree.keep("failed")
    space.git("worktree", "lock", "--reason", "looking at it", str(worktree.path))
    with pytest.raises(ActionNeeded, match=r"is locked \(looking at it\)"):
        space.workspaces().remove(worktree.slot)
    assert (worktree.path / "src/a.txt").exists()


def test_a_worktree_that_a_person_locks_goes_on_working(space: RepoSpace) -> None:
    """``git worktree lock`` protects from removal, also in the middle of a turn; it is no damage."""
    worktree = space.attempt()
    space.git("worktree", "lock", str(worktree.path))
    worktree.at(space.commit({"x": "1"}))
    worktree.release()
    assert space.attempt().path == worktree.path


def test_a_worktree_that_holds_a_repository_is_kept(space: RepoSpace) -> None:
    """Git cannot park the inside of a nested repository, so neither reuse nor removal touches it."""
    worktree = space.attempt()
    nested = worktree.path / "nested"
    nested.mkdir()
    space.git("init", "--quiet", cwd=nested)
    space.commit({"precious": "x"}, cwd=nested)
    worktree.release()
    assert space.attempt(task="1.2").path != worktree.path
    (kept,) = space.workspaces().kept()
    assert "holds a repository of its own: nested" in kept.record.reason
    with pytest.raises(ActionNeeded, match="holds a repository of its own"):
        space.workspaces().remove(kept.slot)
    assert (nested / "precious").exists()


def test_verification_files_are_exactly_a_tree(space: RepoSpace) -> None:
    """After a check that wrote everywhere, the next tree is exact; ignored files stay until they are scrubbed."""
    verify = space.verify()
    space.write(
        {"src/a.txt": "broken by a check\n", "out/log": "x", "build/cache": "kept", "src/new": "x"}, verify.path
    )
    (verify.path / "src/b.txt").unlink()
    read_only = verify.path / "readonly"
    read_only.mkdir()
    (read_only / "file").touch()
    read_only.chmod(0o500)
    head = space.commit({"src/c.txt": "c\n"})
    verify.at_tree(space.git("rev-parse", f"{head}^{{tree}}"))
    files = {str(path.relative_to(verify.path)) for path in verify.path.rglob("*") if path.is_file()}
    assert files == {".git", ".gitignore", "tasks.md", "src/a.txt", "src/b.txt", "src/c.txt", "build/cache"}
    assert (verify.path / "src/a.txt").read_text() == "a\n"
    verify.scrub()
    assert not (verify.path / "build").exists()


def test_a_change_of_same_size_and_time_is_undone(space: RepoSpace) -> None:
    """A check that rewrites a file within the clock's grain and puts its time back is still noticed."""
    verify = space.verify()
    path = verify.path / "src/a.txt"
    before = path.stat()
    path.write_text("b\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    verify.at_tree(space.git("rev-parse", "HEAD^{tree}"))
    assert path.read_text() == "a\n"


def test_leftovers_of_a_killed_agent_do_not_stop_the_next(space: RepoSpace) -> None:
    """An index lock, a half rebase, a switch to a branch: the next attempt starts from a plain detached checkout."""
    worktree = space.attempt()
    space.git("switch", "--quiet", "-c", "agent-branch", cwd=worktree.path)
    (worktree.git_dir / "rebase-merge").mkdir()
    (worktree.git_dir / "MERGE_HEAD").write_text(f"{space.head()}\n")
    (worktree.git_dir / "index.lock").touch()
    worktree.release()
    again = space.attempt()
    assert again.path == worktree.path
    assert again.unfinished() == ()
    assert space.git("branch", "--show-current", cwd=again.path) == ""
    assert space.git("status", "--porcelain", cwd=again.path) == ""


@pytest.mark.parametrize(
    "damage", ["folder removed", "pointer removed", "entry removed", "initializing", "index", "link"]
)
def test_a_damaged_free_worktree_is_healed(space: RepoSpace, damage: str) -> None:
    """Whatever happened to a free slot, the next acquire hands out a sound worktree in it."""
    worktree = space.attempt()
    worktree.release()
    if damage == "folder removed":
        shutil.rmtree(worktree.path)
    elif damage == "pointer removed":
        (worktree.path / ".git").unlink()
    elif damage == "entry removed":
        shutil.rmtree(worktree.git_dir)
    elif damage == "initializing":
        (worktree.git_dir / "locked").write_text("initializing")
        shutil.rmtree(worktree.path)
    elif damage == "index":
        (worktree.git_dir / "index").write_bytes(b"garbage")
    else:
        worktree.path.rename(space.folder / "moved")
        worktree.path.symlink_to(space.top)
    again = space.attempt()
    assert again.path == worktree.path
    assert not again.path.is_symlink()
    assert space.git("status", "--porcelain", cwd=again.path) == ""
    assert space.git("rev-parse", "--show-toplevel", cwd=again.path) == str(again.path)
    assert len(space.git("worktree", "list").splitlines()) == 2


def test_a_worktree_swapped_for_a_link_is_refused(space: RepoSpace) -> None:
    """Between two uses of one worktree the folder became a link: no git call runs there."""
    worktree = space.attempt()
    worktree.path.rename(space.folder / "moved")
    worktree.path.symlink_to(space.top)
    with pytest.raises(WorktreeLost, match="is no longer a worktree of this repository"):
        worktree.at(space.head())
    assert space.git("status", "--porcelain") == ""


def test_no_worktree_is_handed_out_when_it_cannot_be_made(space: RepoSpace) -> None:
    """Fail closed: an unknown commit is an error, and the slot is free for the next."""
    with pytest.raises(BatonError):
        space.attempt(commit="1" * 40)
    assert space.attempt().head() == space.head()


def test_a_dead_process_leaves_an_orphan_that_can_be_adopted(space: RepoSpace) -> None:
    """A used record with a free lock: not reused, listed, and its work is there for who goes on with it."""
    worktree = space.attempt()
    space.write({"half.txt": "done\n"}, worktree.path)
    worktree.lock.release()  # what the system does for a process that dies
    workspaces = space.workspaces()
    assert space.attempt(task="1.2").path != worktree.path
    (orphan,) = workspaces.orphans()
    assert orphan.record.purpose == Purpose(Kind.ATTEMPT, "change", "1.1", 1)
    adopted = workspaces.adopt(orphan.slot)
    assert adopted is not None
    assert (adopted.path / "half.txt").read_text() == "done\n"
    assert workspaces.adopt(orphan.slot) is None
    adopted.release()
    assert workspaces.orphans() == ()


def test_a_damaged_record_keeps_its_worktree(space: RepoSpace) -> None:
    worktree = space.attempt()
    worktree.release()
    (worktree.slot.folder / "owner.json").write_text("{")
    assert space.attempt().path != worktree.path
    (kept,) = space.workspaces().kept()
    assert kept.record.state is State.KEPT
    assert "damaged" in kept.record.reason


def test_many_at_once_never_share_and_leave_nothing_behind(space: RepoSpace) -> None:
    """Sixteen at once, three rounds: all succeed, all differ, no branch is left, the config is byte for byte the same."""
    before = space.shared_config()

    def take(number: int) -> tuple[Path, str]:
        worktree = space.attempt(task=str(number), workspaces=shared[number % 2])
        seen = space.git("rev-parse", "--show-toplevel", cwd=worktree.path)
        paths.append(worktree.path)
        barrier.append(worktree.release)
        return worktree.path, seen

    shared = (space.workspaces(), space.workspaces())
    for _ in range(3):
        paths: list[Path] = []
        barrier: list[object] = []
        with ThreadPoolExecutor(16) as pool:
            results = list(pool.map(take, range(16)))
        assert len({path for path, _ in results}) == 16
        assert all(str(path) == seen for path, seen in results)
        for release in barrier:
            assert callable(release)
            release()
    assert branch_heads(space) == "refs/heads/main"
    assert space.shared_config() == before


CHILD = """
import os, sys
from pathlib import Path
from baton_runner.repo.objects import Objects
from baton_runner.repo.repository import Repository
from baton_runner.repo.slots import Kind, Purpose
from baton_runner.repo.worktrees import Workspaces
objects = Objects(Repository.open(Path(sys.argv[1])))
workspaces = Workspaces(objects, Path(sys.argv[2]))
worktree = workspaces.acquire(Purpose(Kind[sys.argv[3]], "change", "1.1", 1), objects.repository.head())
(worktree.path / "work.txt").write_text("by the child")
worktree.keep("done") if sys.argv[4] == "keep" else worktree.release()
workspaces.remove(worktree.slot)
"""


def run_child(space: RepoSpace, workspaces: Workspaces, kind: str, crash: str, end: str = "release") -> int:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(space.top), str(workspaces.root), kind, end],
        env={**space.environ, VARIABLE: crash},
        check=False,
    ).returncode


POINTS = (
    "repo.before_worktree_add", "repo.after_worktree_add", "repo.slot_record", "repo.own_git_config",
    "repo.own_git_placed", "repo.before_worktree_remove", "repo.baton_gitignore",
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "point"),
    [(kind, point) for kind in ("ATTEMPT", "VERIFY") for point in POINTS],
)
def test_a_kill_at_any_point_leaves_a_pool_that_works(space: RepoSpace, kind: str, point: str) -> None:
    """After kill -9 the next acquire succeeds, and whatever the dead one had is removable."""
    workspaces = space.workspaces()
    end = "keep" if point == "repo.slot_record" else "release"
    assert run_child(space, workspaces, kind, point, end) == -signal.SIGKILL
    worktree = workspaces.acquire(Purpose(Kind[kind], "change", "1.2", 1), space.head())
    assert space.git("rev-parse", "--show-toplevel", cwd=worktree.path) == str(worktree.path)
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""
    worktree.release()
    for orphan in workspaces.orphans():
        workspaces.remove(orphan.slot)
    workspaces.remove(worktree.slot)
    assert len(space.git("worktree", "list").splitlines()) == 1
    assert workspaces.orphans() == ()


def test_a_kill_while_parking_or_removing_loses_no_work(space: RepoSpace) -> None:
    """Killed right before the removal: the content is parked already, and the files are still there."""
    workspaces = space.workspaces()
    assert run_child(space, workspaces, "ATTEMPT", "repo.before_worktree_remove", "keep") == -signal.SIGKILL
    (name,) = space.refs().read("refs/baton/kept")
    assert space.git("show", f"{name}:work.txt") == "by the child"
    (kept,) = workspaces.kept()
    assert (kept.slot.tree / "work.txt").exists()
    workspaces.remove(kept.slot)
    assert list(space.refs().read("refs/baton/kept")) == [name]
    assert not list((workspaces.root / "w").glob(".gone-*"))


def test_a_worktree_with_submodules_is_removed_only_when_they_hold_no_work(space: RepoSpace) -> None:
    """Clean submodules go with the worktree; one with a commit or a file of its own keeps it."""
    other = space.folder / "other"
    space.git("clone", "--quiet", str(space.top), str(other))
    space.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    space.commit({}, "with submodule")
    update = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    for work in ("none", "file", "commit"):
        worktree = space.attempt()
        space.git(*update, cwd=worktree.path)
        sub = worktree.path / "sub"
        if work == "file":
            space.write({"new": "x"}, sub)
        elif work == "commit":
            space.commit({"new": "x"}, cwd=sub)
        worktree.keep("look")
        if work == "none":
            space.workspaces().remove(worktree.slot)
            assert not worktree.path.exists()
        else:
            with pytest.raises(ActionNeeded, match=r"repository of its own with work in it \(sub"):
                space.workspaces().remove(worktree.slot)
            assert (sub / "new").exists()


def test_sparse_worktrees_hold_the_named_folders_only(space: RepoSpace) -> None:
    """The files at the top and the cone; the agent's own git sees a clean tree, and no shared setting is written."""
    before = space.shared_config()
    space.commit({"docs/guide/a.md": "a", "docs/other.md": "o", "docs/deep/x/y.md": "y", "lib/l.py": "l"})
    worktree = space.attempt(workspaces=space.workspaces(sparse=("src", "docs/deep")))
    files = {str(path.relative_to(worktree.path)) for path in worktree.path.rglob("*") if path.is_file()}
    assert files == {".git", ".gitignore", "tasks.md", "src/a.txt", "src/b.txt", "docs/other.md", "docs/deep/x/y.md"}
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""
    assert space.shared_config() == before
    worktree.release()
    assert (space.attempt(workspaces=space.workspaces()).path / "lib/l.py").exists()


def test_lfs_without_its_program_says_what_to_install(space: RepoSpace) -> None:
    """A required filter whose program is missing stops with the name of the program."""
    space.commit({".gitattributes": "*.bin filter=lfs\n"})
    space.git("config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    space.git("config", "filter.lfs.required", "true")
    blob = space.git("hash-object", "-w", "--stdin", input="version https://git-lfs.github.com/spec/v1\n")
    space.git("update-index", "--add", "--cacheinfo", f"100644,{blob},big.bin")
    space.git("commit", "--quiet", "-m", "lfs")
    with pytest.raises(BatonError, match="install git-lfs"):
        space.attempt()


def test_the_same_works_in_a_bare_repository(make_space: MakeSpace) -> None:
    """Worktrees, reuse and removal need no checkout of the user's."""
    space = make_space()
    bare = space.folder / "bare.git"
    space.git("clone", "--quiet", "--bare", str(space.top), str(bare))
    in_bare = RepoSpace(space.folder, bare, space.environ)
    worktree = in_bare.attempt()
    assert (worktree.path / "src/a.txt").read_text() == "a\n"
    worktree.release()
    in_bare.attempt().release()
    in_bare.workspaces().remove(worktree.slot)
    assert "w/a1" not in in_bare.git("worktree", "list")


def test_a_captured_commit_is_not_parked_again_but_any_other_is(space: RepoSpace) -> None:
    """Releasing with the commit that a ref holds parks nothing; an uncaptured commit of an agent is not lost."""
    worktree = space.attempt()
    captured = space.commit({"x": "1"}, cwd=worktree.path)
    space.refs().create("refs/baton/attempts/change/1.1/1", captured)
    worktree.release(captured)
    again = space.attempt()
    assert space.refs().read("refs/baton/kept") == {}
    lost = space.commit({"y": "1"}, cwd=again.path)
    again.release()
    space.attempt()
    assert list(space.refs().read("refs/baton/kept").values()) == [lost]


def test_planted_lock_files_of_others_do_not_stop_a_worktree(space: RepoSpace) -> None:
    """A stale config.lock, packed-refs.lock or main index.lock belongs to the user; we need none of them."""
    for name in ("config.lock", "packed-refs.lock", "index.lock", "HEAD.lock"):
        (space.top / ".git" / name).touch()
    worktree = space.attempt()
    (worktree.git_dir / "HEAD.lock").touch()
    worktree.release()
    space.attempt().release()
    assert (space.top / ".git/index.lock").exists()


@pytest.mark.parametrize("shape", ["linked worktree", "submodule", "separate git directory"])
def test_every_shape_of_repository_has_working_worktrees(make_space: MakeSpace, shape: str) -> None:
    """Acquire, capture, reuse and remove, from wherever the repository was opened."""
    space = make_space()
    top = space.folder / "opened here"
    if shape == "linked worktree":
        space.git("worktree", "add", "--quiet", "--detach", str(top))
    elif shape == "submodule":
        other = space.folder / "other"
        space.git("clone", "--quiet", str(space.top), str(other))
        space.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
        top = space.top / "sub"
    else:
        space.git("clone", "--quiet", f"--separate-git-dir={space.folder / 'git dir'}", str(space.top), str(top))
    opened = RepoSpace(space.folder, top, space.environ)
    worktree = opened.attempt()
    opened.write({"new": "x"}, worktree.path)
    result = capture(worktree, base=opened.head(), plan_paths=("tasks.md",), message="m")
    assert [change.path for change in result.changes] == ["new"]
    worktree.release(result.commit)
    again = opened.attempt()
    assert opened.git("rev-parse", "--show-toplevel", cwd=again.path) == str(worktree.path)
    assert not (again.path / "new").exists()
    again.release()
    opened.workspaces().remove(again.slot)
    assert opened.git("status", "--porcelain") == ""


HOLDER = """
import sys
from pathlib import Path
from baton_runner.repo.objects import Objects
from baton_runner.repo.repository import Repository
from baton_runner.repo.slots import Kind, Purpose
from baton_runner.repo.worktrees import Workspaces
objects = Objects(Repository.open(Path(sys.argv[1])))
worktree = Workspaces(objects, Path(sys.argv[2])).acquire(Purpose(Kind.ATTEMPT, "c", sys.argv[3]), objects.repository.head())
print(worktree.path, flush=True)
sys.stdin.read()
worktree.release()
"""


def test_processes_never_share_a_worktree_and_a_killed_one_is_not_reused(space: RepoSpace) -> None:
    """Six processes at once hold six worktrees; of one killed with -9 only the orphan is left, the others are free."""
    root = space.workspaces().root
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(space.top), str(root), str(number)],
            env=dict(space.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(6)
    ]  # fmt: skip
    paths = [holder.stdout.readline().strip() for holder in holders if holder.stdout]
    assert len(set(paths)) == 6
    holders[0].kill()
    for holder in holders:
        holder.communicate()
    assert [holder.returncode for holder in holders] == [-signal.SIGKILL, 0, 0, 0, 0, 0]
    (orphan,) = space.workspaces().orphans()
    assert str(orphan.slot.tree) == paths[0]
    assert str(space.attempt().path) in paths[1:]
