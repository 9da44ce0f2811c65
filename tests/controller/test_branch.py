"""The integration branch: made once, with a record of where it started, and never read from HEAD again."""

from pathlib import Path

import pytest

from baton_runner.base.errors import DamagedRecord
from baton_runner.controller.numbering import next_attempt
from baton_runner.repo.origins import Origin
from baton_runner.repo.refs import attempt_ref, change_ref
from tests.controller.publication import BRANCH, KEY, Scene

MAIN = "refs/heads/main"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.make(tmp_path)


def test_looking_makes_nothing(scene: Scene) -> None:
    branch = scene.controller().parts.branch
    assert (branch.tip(), branch.base(), branch.head()) == (None, None, scene.refs()[MAIN])
    assert BRANCH not in scene.refs()


def test_the_base_is_recorded_once_and_head_is_not_read_again(scene: Scene) -> None:
    """The user goes on to another branch: the change started where it started."""
    start = scene.refs()[MAIN]
    assert scene.controller().parts.branch.ensure() == start
    scene.git("checkout", "--quiet", "-b", "elsewhere")
    scene.commit({"else.txt": "else\n"}, "elsewhere")
    branch = scene.controller().parts.branch
    assert branch.ensure() == start
    assert branch.base() == Origin(MAIN, start, BRANCH)
    assert scene.refs()[BRANCH] == start


def test_a_branch_deleted_by_the_user_starts_again_from_its_base_branch(scene: Scene) -> None:
    scene.controller().parts.branch.ensure()
    scene.git("update-ref", "-d", BRANCH)
    landed = scene.commit({"more.txt": "more\n"}, "more")
    scene.git("checkout", "--quiet", "-b", "elsewhere")
    scene.commit({"else.txt": "else\n"}, "elsewhere")
    branch = scene.controller().parts.branch
    assert branch.ensure() == landed
    assert branch.base() == Origin(MAIN, landed, BRANCH)


def test_killed_before_anything_was_made_the_next_one_makes_it(scene: Scene) -> None:
    assert scene.dies("publish", "repo.refs_transaction")
    assert BRANCH not in scene.refs()
    scene.published()
    scene.check_agreement()


def test_a_damaged_record_says_what_to_do(scene: Scene) -> None:
    scene.git("update-ref", change_ref("demo"), scene.git("rev-parse", "main:a.txt"))
    with pytest.raises(DamagedRecord, match=r"refs/baton/changes/demo: is not a record of a change; look at it"):
        scene.controller()


def test_attempt_numbers_are_never_used_twice(scene: Scene) -> None:
    """One more than the largest of refs, packets and logs, whichever of them is left."""
    parts = scene.controller().parts
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, KEY) == 2
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, "1.2") == 1
    parts.layout.logs(KEY, 7).mkdir(parents=True)
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, KEY) == 8
    parts.layout.packets(KEY).mkdir(parents=True)
    parts.layout.packet(KEY, 11).touch()
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, KEY) == 12
    scene.git("update-ref", f"{attempt_ref('demo', KEY, 20)}.3", scene.work)
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, KEY) == 21
    assert next_attempt(parts.layout, parts.refs, parts.workspaces, "1.2") == 1
