"""The fast answer never differs from the slow one."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.build.fingerprint import locate, recall
from baton_runner.controller.controller import Controller
from baton_runner.controller.project import Project
from tests.scenarios.space import Space

PLAN = "## 1. A\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n\n## 2. B\n\n- [ ] 2.1 Three\n"
WORDS = ("run", "-k", "", "--agent", "", "--skip-held", "False")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Space:
    """A repository for the tests that leave it as good as they found it."""
    space = Space(tmp_path_factory.mktemp("fast") / "space")
    space.start(PLAN)
    return space


@pytest.fixture
def built(shared: Space) -> Space:
    """Everything is done, whatever the test before this one did, and the fast answer is kept."""
    shared.run()
    shared.run()
    return shared


def _fast(space: Space) -> object:
    place = locate(space.repo, space.environ)
    assert place is not None
    return recall(place, WORDS, space.environ)


def _slow(space: Space) -> bool:
    """Whether there is nothing to do, by everything that there is to know."""
    project = Project.open(space.repo, space.environ)
    controllers = [Controller(project, change) for change in project.changes]
    return all(
        controller.is_closed() and all(state.state.finished for state in controller.states().values())
        for controller in controllers
    )


def _edit(path: str, old: bytes, new: bytes) -> Callable[[Space], None]:
    """An edit that keeps size and modification time, as careless and as malicious tools do."""

    def edit(space: Space) -> None:
        file = space.repo / path
        before = file.stat()
        data = file.read_bytes()
        assert old in data
        file.write_bytes(data.replace(old, new, 1))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    return edit


def _remove(path: str) -> Callable[[Space], None]:
    return lambda space: (space.repo / path).unlink()


def _git(*args: str) -> Callable[[Space], None]:
    return lambda space: void(space.git(*args))


def void(_value: object) -> None:
    """Drop a value."""


def _baton(*args: str) -> Callable[[Space], None]:
    return lambda space: void(space.baton(*args))


CHANGES: dict[str, Callable[[Space], None]] = {
    "a word of the plan": _edit("tasks/demo/tasks.md", b"One", b"Onf"),
    "a tick taken back": _edit("tasks/demo/tasks.md", b"[x] 1.1", b"[ ] 1.1"),
    "a hold": _edit("tasks/demo/tasks.md", b"[x] 2.1", b"[~] 2.1"),
    "the policy": _edit("WORKFLOW.md", b'["true"]', b'["tru_"]'),
    "a receipt": _edit(".baton/receipts/demo/1.1.json", b"demo", b"dema"),
    "a receipt gone": _remove(".baton/receipts/demo/1.1.json"),
    "a receipt ref gone": _git("update-ref", "-d", "refs/baton/receipts/demo/1.1"),
    "the branch moved": _git("branch", "-f", "baton/demo", "baton/demo~1"),
    "the branch gone": _git("branch", "-D", "baton/demo"),
    "a redo": _baton("redo", "1.1"),
    "a forgotten proof": _baton("forget", "1.1"),
    "the closing fact gone": _remove(".baton/complete/demo.json"),
    "another change": lambda space: void(space.write("tasks/other/tasks.md", "- [ ] 1.1 New\n")),
    "a pending record": lambda space: void(space.write(".baton/pending/demo/1.1.json", "{}")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_matters_is_noticed(tmp_path: Path, name: str) -> None:
    """Each thing that an answer rests on, changed as unobtrusively as it can be."""
    space = Space(tmp_path / "space")
    space.start(PLAN)
    space.run()
    space.run()
    assert _fast(space) == 3
    CHANGES[name](space)
    assert _fast(space) is None


def test_it_is_given_only_where_the_slow_one_agrees(built: Space) -> None:
    """And again after things that do not matter to a plan: sources, an untracked file, the reading of everything."""
    assert _fast(built) == 3
    assert _slow(built)
    built.write("src/other.py", "x = 1\n")
    assert _fast(built) == 3
    assert "nothing was touched" in built.run().out


def test_packed_refs_are_looked_at_anew(built: Space) -> None:
    """A gc moves the refs, the next run looks, and the one after it is fast again."""
    built.git("pack-refs", "--all")
    assert _fast(built) is None
    built.run()
    assert _fast(built) == 3


def test_words_variables_and_an_assignment_are_part_of_it(built: Space) -> None:
    place = locate(built.repo, built.environ)
    assert place is not None
    assert recall(place, (*WORDS, "other"), built.environ) is None
    assert locate(built.repo, {**built.environ, "BATON_TASK_ID": "demo:1.1"}) is None
    assert locate(built.repo, {**built.environ, "GIT_DIR": "/elsewhere"}) is None


def test_list_and_status_say_the_same_fast_and_slow(built: Space) -> None:
    """What was kept is what is printed anew; while something is open, nothing is kept."""
    for command in (("list",), ("list", "--all", "--json"), ("status",), ("status", "--json")):
        first, second = built.baton(*command), built.baton(*command)
        assert first == second
        slow = built.baton(*command, env={"GIT_CEILING_DIRECTORIES": "/nowhere"})
        assert slow == second
    kept = built.repo / ".baton" / "answers" / "list.json"
    assert kept.exists()
    built.baton("redo", "1.1")
    assert "redo" in built.baton("list").out
    built.baton("tick", "1.1")
    assert "redo" not in built.baton("list").out


def test_a_file_written_in_the_same_tick_is_compared_by_its_bytes(built: Space) -> None:
    """Times cannot be trusted within their own granularity."""
    built.run()
    assert _fast(built) == 3
    file = built.repo / "WORKFLOW.md"
    moment = time.time_ns()
    os.utime(file, ns=(moment, moment))
    assert _fast(built) is None
    built.run()
    assert _fast(built) == 3
