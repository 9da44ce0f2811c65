"""Facts: what is on disk about each task, read so that what only helps never stands in the way."""

from pathlib import Path

import pytest

from baton_runner.base.errors import DamagedRecord
from baton_runner.controller.records import Records
from baton_runner.controller.states import Facts
from baton_runner.evidence.decisions import Failure, Redo, TickMark
from tests.controller.publication import KEY, Scene
from tests.controller.worlds import AT


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.make(tmp_path)


def _both(scene: Scene) -> Facts:
    """The facts of 1.1, which are the same one by one and all at once."""
    controller = scene.controller()
    records = Records(controller.parts.layout, controller.parts.refs, controller.parts.objects)
    all_at_once = records.all(controller.plan.tasks)
    assert {key: records.one(key) for key in all_at_once} == all_at_once
    assert all_at_once["1.2"] == Facts()
    return all_at_once[KEY]


def test_nothing_is_known_of_a_task_that_was_never_touched(scene: Scene) -> None:
    assert _both(scene) == Facts()


def test_everything_on_disk_is_a_fact(scene: Scene) -> None:
    receipt = scene.published()
    redo, failure, tick = Redo("redo", "", AT), Failure("red", "red", 1, AT), TickMark(receipt.seal)
    redo.write(scene.file("redo"))
    failure.write(scene.file("failures"))
    tick.write(scene.file("ticks"))
    assert _both(scene) == Facts(receipt=receipt, redo=redo, failure=failure, tick=tick, named=True)


def test_a_ref_or_a_tick_mark_alone_names_a_task(scene: Scene) -> None:
    """So that a box that we ticked is never taken for a person's."""
    receipt = scene.published()
    scene.file("receipts").unlink()
    blob = scene.git("hash-object", "-w", "--stdin").strip()
    scene.git("update-ref", f"refs/baton/receipts/demo/{KEY}", blob)
    assert _both(scene) == Facts(named=True)
    scene.git("update-ref", "-d", f"refs/baton/receipts/demo/{KEY}")
    assert _both(scene) == Facts()
    TickMark(receipt.seal).write(scene.file("ticks"))
    assert _both(scene) == Facts(tick=TickMark(receipt.seal), named=True)


@pytest.mark.parametrize("damage", ["lost", "cut"])
def test_a_file_that_is_lost_or_damaged_is_read_from_its_ref(scene: Scene, damage: str) -> None:
    """The file is a cache: whoever only looks sees what the next run will restore."""
    receipt = scene.published()
    if damage == "lost":
        scene.file("receipts").unlink()
    else:
        scene.file("receipts").write_bytes(receipt.encoded[:-3])
    assert _both(scene) == Facts(receipt=receipt, named=True)


def test_a_damaged_receipt_is_told_and_one_of_another_task_is_damaged(scene: Scene) -> None:
    scene.published()
    whole = scene.file("receipts").read_bytes()
    scene.git("update-ref", "-d", f"refs/baton/receipts/demo/{KEY}")
    scene.file("receipts").write_bytes(whole[:-3])
    assert "seal" in _both(scene).damage
    layout = scene.controller().parts.layout
    scene.file("receipts").write_bytes(whole)
    layout.receipt("1.2").write_bytes(whole)
    other = Records(layout, scene.controller().parts.refs, scene.controller().parts.objects).one("1.2")
    assert (other.receipt, other.damage) == (None, "its receipt is that of demo:1.1")


@pytest.mark.parametrize("kind", ["ticks", "failures"])
def test_a_damaged_record_that_only_helps_is_none(scene: Scene, kind: str) -> None:
    scene.file(kind).parent.mkdir(parents=True)
    scene.file(kind).write_bytes(b"{")
    assert _both(scene) == Facts()


def test_a_damaged_decision_is_an_error_and_not_forgotten(scene: Scene) -> None:
    """A person asked for something: that it cannot be read must not mean that it was not asked."""
    controller = scene.controller()
    scene.file("redo").parent.mkdir(parents=True)
    scene.file("redo").write_bytes(b"{")
    with pytest.raises(DamagedRecord, match=r"redo/demo/1\.1\.json"):
        Records(controller.parts.layout, controller.parts.refs, controller.parts.objects).one(KEY)
