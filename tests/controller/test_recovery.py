"""Recovery: whatever an earlier process left, the records agree again, and nothing is integrated twice."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from baton_runner.controller.integration import Integrated
from baton_runner.controller.publishing import Pending
from baton_runner.controller.states import State
from baton_runner.evidence.outcome import outcome_bytes
from baton_runner.repo.refs import receipt_ref
from tests.controller.publication import BRANCH, KEY, Scene

REF = receipt_ref("demo", KEY)
RECOVERING = ["publish.refs", "publish.moved", "publish.outcome", "publish.receipt", "publish.finished"]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.make(tmp_path)


def _commit_on_top(scene: Scene, tree: str) -> str:
    """Another commit on top of the integration branch, by somebody else."""
    head = scene.refs()[BRANCH]
    return scene.git("commit-tree", tree, "-p", head, "-m", "by somebody else")


# -- unfinished publications


@pytest.mark.parametrize("second", RECOVERING)
def test_killed_again_while_recovering_the_third_run_finishes(scene: Scene, second: str) -> None:
    """Promise 3, two kills in a row: recovery is itself made of steps that can be repeated."""
    assert scene.dies("publish", "publish.refs")
    assert scene.dies("recover", second)
    assert scene.recover() == ("finished the publication of demo:1.1",)
    scene.check_agreement()
    assert scene.recover() == ()


def test_a_branch_that_moved_elsewhere_gets_the_work_merged_and_verified_anew(scene: Scene) -> None:
    """The old merge is dropped, the receipt kept: its commit is not integrated, and no agent is needed."""
    assert scene.dies("publish", "publish.refs")
    moved = _commit_on_top(scene, scene.git("rev-parse", "main^{tree}"))
    scene.git("update-ref", BRANCH, moved)
    scene.recover()
    assert scene.refs()[BRANCH] == moved
    assert scene.merges() == 0
    assert scene.controller().assess(KEY).state is State.NOT_INTEGRATED
    assert isinstance(scene.integrate(scene.controller()), Integrated)
    receipt = scene.check_agreement()
    assert receipt.supersedes is not None
    assert scene.controller().assess(KEY).state is State.RESOLVED


def test_a_branch_that_moved_on_from_the_merge_is_left_where_it_is(scene: Scene) -> None:
    """Killed after the branch moved, then somebody committed on top: the work is in, once."""
    assert scene.dies("publish", "publish.moved")
    moved = _commit_on_top(scene, scene.git("rev-parse", f"{BRANCH}^{{tree}}"))
    scene.git("update-ref", BRANCH, moved)
    scene.recover()
    assert scene.refs()[BRANCH] == moved
    scene.check_agreement()


def test_only_the_branch_moved(scene: Scene) -> None:
    """Git's transaction is not atomic across a kill: the receipt ref is set although the branch has the merge already."""
    assert scene.dies("publish", "publish.moved")
    scene.git("update-ref", "-d", REF)
    scene.recover()
    scene.check_agreement()


def test_only_the_receipt_ref_moved(scene: Scene) -> None:
    assert scene.dies("publish", "publish.refs")
    data = Pending.read(scene.file("pending"))
    assert data is not None
    (scene.folder / "receipt").write_bytes(data.receipt.encoded)
    scene.git("update-ref", REF, scene.git("hash-object", "-w", str(scene.folder / "receipt")))
    scene.recover()
    scene.check_agreement()


def test_a_branch_deleted_meanwhile_is_made_again_with_the_work(scene: Scene) -> None:
    assert scene.dies("publish", "publish.refs")
    scene.git("update-ref", "-d", BRANCH)
    scene.recover()
    assert scene.controller().assess(KEY).state is State.NOT_INTEGRATED
    scene.integrate(scene.controller())
    scene.check_agreement()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_record_is_set_aside_and_the_task_worked_on_again(scene: Scene, damage: str) -> None:
    """Promise 2: what does not match its seal publishes nothing, and is kept for a person to look at."""
    assert scene.dies("publish", "publish.refs")
    data = scene.file("pending").read_bytes()
    damaged = {"cut": data[:-9], "flip": data.replace(b"demo", b"dema", 1), "empty": b""}[damage]
    scene.file("pending").write_bytes(damaged)
    (line,) = scene.recover()
    assert "set aside" in line
    assert scene.file("pending").with_suffix(".damaged").read_bytes() == damaged
    assert scene.merges() == 0
    assert scene.controller().assess(KEY).state is State.READY
    assert scene.recover() == ()
    scene.integrate(scene.controller())
    scene.check_agreement()


@pytest.mark.parametrize("lost", ["merge", "tree", "blob"])
def test_a_merge_that_a_power_cut_lost_does_not_stop_the_next_run(scene: Scene, lost: str) -> None:
    """The record is on disk before the objects are made durable: it may name what is not there any more."""
    assert scene.dies("publish", "publish.refs")
    pending = Pending.read(scene.file("pending"))
    assert pending is not None
    assert pending.merge is not None
    oid = {
        "merge": pending.merge,
        "tree": pending.receipt.tree,
        "blob": scene.git("rev-parse", f"{scene.work}:b.txt"),
    }[lost]
    (scene.top / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    (line,) = scene.recover()
    assert "not in the object database" in line
    assert not scene.file("pending").exists()
    assert scene.recover() == ()


def test_a_stale_lock_of_a_killed_git_is_removed_and_the_publication_finished(scene: Scene) -> None:
    assert scene.dies("publish", "publish.refs")
    lock = scene.top / ".git" / f"{BRANCH}.lock"
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    assert scene.recover()[0] == f"removed the stale lock of {BRANCH}"
    scene.check_agreement()


def test_a_lock_of_a_moment_ago_is_waited_for_and_then_removed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run right after a kill goes on, too; a git that outlived its harness by a moment is not pushed aside."""
    monkeypatch.setattr("baton_runner.controller.recovery._STALE_LOCK_SECONDS", 0.5)
    assert scene.dies("publish", "publish.refs")
    (scene.top / ".git" / f"{BRANCH}.lock").write_bytes(b"")
    assert scene.recover()[0] == f"removed the stale lock of {BRANCH}"
    scene.check_agreement()


# -- receipts, refs and outcomes


@pytest.mark.parametrize("damage", ["lost", "cut", "flip", "empty", "older", "of another task"])
def test_a_receipt_file_that_is_not_its_ref_comes_back_from_it(scene: Scene, damage: str) -> None:
    """The ref is the truth; the file is a cache of it. An older receipt, whole as it is, is older."""
    receipt = scene.published()
    file = scene.file("receipts")
    data = file.read_bytes()
    older = replace(receipt, outcome="sha256:older", attempt=0)
    other = replace(receipt, key="1.2", task="1.2")
    if damage == "lost":
        file.unlink()
    else:
        file.write_bytes(
            {
                "cut": data[:-9],
                "flip": data.replace(b"demo", b"dema", 1),
                "empty": b"",
                "older": older.encoded,
                "of another task": other.encoded,
            }[damage]
        )
    assert scene.recover() == ("restored the receipt of demo:1.1 from its ref",)
    assert file.read_bytes() == data
    scene.check_agreement()
    assert scene.controller().assess(KEY).state is State.RESOLVED


def test_a_lost_ref_comes_back_from_a_whole_file(scene: Scene) -> None:
    receipt = scene.published()
    scene.git("update-ref", "-d", REF)
    assert scene.recover() == ("restored the receipt ref of demo:1.1 from its file",)
    assert scene.check_agreement() == receipt


def test_a_ref_to_something_else_comes_back_from_a_whole_file(scene: Scene) -> None:
    """The ref names a blob that is no receipt: the file proves, the ref does not."""
    receipt = scene.published()
    scene.git("update-ref", REF, scene.git("rev-parse", "main:a.txt"))
    scene.recover()
    assert scene.check_agreement() == receipt


def test_without_a_whole_receipt_anywhere_the_task_is_broken_and_never_accepted(scene: Scene) -> None:
    """A ticked box does not replace the proof that was there."""
    scene.published()
    plan = scene.top / "tasks/demo/tasks.md"
    plan.write_text(plan.read_text().replace("- [ ] 1.1", "- [x] 1.1"))
    scene.git("update-ref", "-d", REF)
    scene.file("receipts").write_bytes(b"{}")
    assert scene.recover() == ()
    assert scene.controller().assess(KEY).state is State.BROKEN
    assert scene.controller().assess("1.2").ready


def test_everything_of_ours_can_be_deleted_without_losing_finished_work(scene: Scene) -> None:
    """All of ``.baton`` is a cache of refs."""
    receipt = scene.published()
    shutil.rmtree(scene.top / ".baton")
    scene.recover()
    assert scene.check_agreement() == receipt
    assert scene.controller().assess(KEY).state is State.RESOLVED


@pytest.mark.parametrize("damage", [None, b"", b"something else"])
def test_a_lost_or_changed_outcome_comes_back_from_its_receipt(scene: Scene, damage: bytes | None) -> None:
    receipt = scene.published()
    before = scene.file("receipts").stat().st_mtime_ns
    if damage is None:
        scene.file("outcomes").unlink()
    else:
        scene.file("outcomes").write_bytes(damage)
    scene.recover()
    assert scene.file("outcomes").read_bytes() == outcome_bytes(receipt.outcome)
    assert scene.file("receipts").stat().st_mtime_ns == before


def test_a_recovery_that_finds_all_well_writes_nothing(scene: Scene) -> None:
    """Time stamps mean something: an up-to-date run leaves every target as it was."""
    scene.published()
    files = [scene.file("receipts"), scene.file("outcomes")]
    before = [file.stat().st_mtime_ns for file in files]
    refs = scene.refs()
    assert scene.recover() == ()
    assert [file.stat().st_mtime_ns for file in files] == before
    assert scene.refs() == refs
