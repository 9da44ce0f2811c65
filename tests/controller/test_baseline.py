"""The base first: what each command said before any work, remembered, and a red base stops the run."""

from pathlib import Path

import pytest

from baton_runner.base.errors import ActionNeeded
from baton_runner.controller.baseline import Baseline
from baton_runner.controller.verification import Check
from baton_runner.plan.model import Source
from tests.controller.publication import Scene

GREEN = Check("test -f a.txt", Source.LABEL.value, 60)
RED = Check("test -f b.txt", Source.LABEL.value, 60)
RED_FOR_ALL = Check("test -f b.txt", Source.POLICY_ALL.value, 60)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.make(tmp_path)


def _baseline(scene: Scene, *, stops: bool = True, said: list[str] | None = None) -> Baseline:
    parts = scene.controller().parts
    return Baseline(
        record=parts.layout.baseline(), logs=parts.layout.change_logs("base"), objects=parts.objects, branch=parts.branch,
        verifier=parts.verifier, stops=stops, warn=(said if said is not None else []).append,
    )  # fmt: skip


def test_what_was_red_before_is_newly_proven_later(scene: Scene) -> None:
    baseline = _baseline(scene)
    assert baseline.before(GREEN.command) == "unknown"
    baseline.require(lambda: (GREEN, RED))
    assert [baseline.before(check.command) for check in (GREEN, RED)] == ["green", "red"]
    again = _baseline(scene)
    assert [again.before(check.command) for check in (GREEN, RED)] == ["green", "red"]


def test_a_command_of_the_policy_that_is_red_on_the_base_stops_the_run(scene: Scene) -> None:
    """No agent is paid for what was broken before it came."""
    with pytest.raises(ActionNeeded, match=r"red before any work.*test -f b\.txt.*exit 1") as caught:
        _baseline(scene).require(lambda: (GREEN, RED_FOR_ALL))
    assert caught.value.code == "base_red"


def test_or_warns_where_the_policy_says_so(scene: Scene) -> None:
    said: list[str] = []
    _baseline(scene, stops=False, said=said).require(lambda: (RED_FOR_ALL,))
    assert len(said) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"5", b"{}", b'{"before": 5}', b'{"tree": "other", "before": {}}']
)
def test_a_damaged_record_is_asked_for_again(scene: Scene, content: bytes) -> None:
    """It only saves runs."""
    path = scene.controller().parts.layout.baseline()
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    baseline = _baseline(scene)
    assert baseline.before(GREEN.command) == "unknown"
    baseline.require(lambda: (GREEN,))
    assert baseline.before(GREEN.command) == "green"
