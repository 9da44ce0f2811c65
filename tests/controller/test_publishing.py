"""Publish: the order of durable writes, killed at every step of it (design 4.4)."""

from dataclasses import replace
from pathlib import Path

import pytest

from baton_runner.base import crash
from baton_runner.base.errors import DamagedRecord
from baton_runner.controller.integration import Integrated
from baton_runner.controller.publishing import Pending
from baton_runner.controller.states import State
from baton_runner.evidence import sealed
from baton_runner.evidence.decisions import Failure, Redo
from baton_runner.evidence.outcome import task_outcome
from baton_runner.evidence.receipt import Inputs
from baton_runner.repo.refs import RefMoved, receipt_ref
from tests.controller.publication import BRANCH, KEY, Scene
from tests.controller.worlds import AT, receipt_of

REDO = Redo("redo", "do it better", AT)

BEFORE_PENDING = ["repo.refs_transaction", "publish.pending"]
STEPS = sorted(point for point in crash.declared() if point.startswith("publish.") and point != "publish.pending")
STEPS += ["repo.refs_transaction@2"]  # the first one makes the branch


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.make(tmp_path)


def _asked_again(scene: Scene) -> None:
    """A redo decision and a failure on record, so that every step of a publication has something to do."""
    layout = scene.controller().parts.layout
    REDO.write(layout.redo(KEY))
    Failure("red", "it was red", 1, AT).write(layout.failure(KEY))


def test_the_steps_are_those_of_the_design() -> None:
    assert {"publish.refs", "publish.moved", "publish.outcome", "publish.receipt", "publish.finished"} <= set(STEPS)


def test_a_publication_leaves_receipt_ref_outcome_and_branch_in_agreement(scene: Scene) -> None:
    _asked_again(scene)
    controller = scene.controller()
    ending = scene.integrate(controller, redo=REDO)
    assert isinstance(ending, Integrated)
    receipt = scene.check_agreement()
    assert receipt == ending.receipt
    assert receipt.commit == scene.work
    assert scene.refs()[BRANCH] == ending.head
    assert not scene.file("failures").exists()
    assert controller.look(KEY).state.finished


def test_the_outcome_is_what_the_merge_changed(scene: Scene) -> None:
    controller = scene.controller()
    receipt = scene.published()
    changes = controller.parts.objects.changes(scene.refs()["refs/heads/main"], scene.refs()[BRANCH])
    assert [change.path for change in changes] == ["b.txt"]
    assert receipt.outcome == task_outcome(None, changes)


@pytest.mark.parametrize("point", BEFORE_PENDING)
def test_killed_before_its_record_nothing_happened_and_the_work_is_there(scene: Scene, point: str) -> None:
    _asked_again(scene)
    assert scene.dies("publish", point)
    scene.recover()
    assert not scene.file("receipts").exists()
    assert BRANCH not in scene.refs() or scene.merges() == 0
    assert Redo.read(scene.file("redo")) == REDO
    scene.integrate(scene.controller(), redo=REDO)
    scene.check_agreement()


@pytest.mark.parametrize("point", STEPS)
def test_killed_at_any_step_recovery_finishes_it_once(scene: Scene, point: str) -> None:
    """Promise 3: nothing is lost, nothing is integrated twice, and a second recovery finds nothing to do."""
    _asked_again(scene)
    assert scene.dies("publish", point)
    assert scene.file("pending").exists()
    assert scene.recover() == ("finished the publication of demo:1.1",)
    scene.check_agreement()
    assert not scene.file("failures").exists()
    assert scene.facts().integrated
    assert scene.recover() == ()


def test_a_redo_decision_made_meanwhile_is_left_alone(scene: Scene) -> None:
    """The work answers the decision it was started for, not one that came later."""
    _asked_again(scene)
    later = replace(REDO, feedback="no, like this")
    later.write(scene.file("redo"))
    scene.integrate(scene.controller(), redo=REDO)
    assert Redo.read(scene.file("redo")) == later


def test_a_branch_moved_by_somebody_else_is_not_overwritten(scene: Scene) -> None:
    """Compare and swap: what was verified against another head is not published."""
    controller = scene.controller()
    objects, branch = controller.parts.objects, controller.parts.branch
    head = branch.ensure()
    moved = objects.commit(objects.tree_of(head), (head,), "by somebody else")
    scene.git("update-ref", BRANCH, moved)
    tree = objects.tree_of(scene.work)
    receipt = replace(receipt_of(controller.task(KEY), Inputs()), change="demo", commit=scene.work, tree=tree)
    merge = objects.commit(receipt.tree, (head, scene.work), "merge")
    with pytest.raises(RefMoved):
        controller.parts.publisher.publish(Pending(receipt, head, merge))
    assert scene.refs()[BRANCH] == moved
    assert receipt_ref("demo", KEY) not in scene.refs()
    assert not scene.file("receipts").exists()


def test_what_the_branch_contains_is_forgotten_when_somebody_moved_it(scene: Scene) -> None:
    """A branch set back by hand no longer has the work, whatever was published through this very process before."""
    controller = scene.controller()
    start = controller.parts.branch.ensure()
    ending = scene.integrate(controller)
    assert isinstance(ending, Integrated)
    assert controller.parts.branch.contains(scene.work, ending.head)
    other = controller.parts.objects.commit(controller.parts.objects.tree_of(start), (start,), "elsewhere")
    scene.git("update-ref", BRANCH, other)
    next_head = controller.parts.objects.commit(controller.parts.objects.tree_of(start), (other,), "ours again")
    controller.parts.branch.advanced(other, next_head, other)
    assert not controller.parts.branch.contains(scene.work, next_head)
    assert controller.look(KEY).state is State.NOT_INTEGRATED


def test_a_pending_record_comes_back_whole(scene: Scene) -> None:
    receipt = scene.published()
    pending = Pending(receipt, "a" * 40, "b" * 40, REDO)
    scene.file("pending").write_bytes(pending.encode())
    assert Pending.read(scene.file("pending")) == pending
    assert Pending(receipt, "a" * 40, None).new_head == "a" * 40


@pytest.mark.parametrize("content", [b"", b"{}", sealed.sealed({"schema": "baton.pending/9"}), sealed.sealed({})])
def test_a_pending_record_of_another_kind_is_refused(scene: Scene, content: bytes) -> None:
    scene.file("pending").parent.mkdir(parents=True)
    scene.file("pending").write_bytes(content)
    with pytest.raises(DamagedRecord, match=r"pending/demo/1\.1\.json"):
        Pending.read(scene.file("pending"))
