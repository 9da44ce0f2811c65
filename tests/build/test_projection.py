"""The files that doit sees: written where bytes differ, and only there."""

import json
from pathlib import Path

from baton_runner.build.projection import write_projection
from baton_runner.controller.controller import Controller
from baton_runner.evidence.outcome import accepted_outcome
from tests.build.recording import BuildSpace

PLAN = "- [ ] 1.1 First\n- [x] 1.2 Second\n"


def _project(space: BuildSpace) -> dict[str, tuple[int, bytes]]:
    project = space.project()
    write_projection(Controller(project, project.changes[0]))
    files = [path for path in (space.repo / ".baton").rglob("*.json") if path.is_file()]
    return {path.relative_to(space.repo / ".baton").as_posix(): _seen(path) for path in files}


def _seen(path: Path) -> tuple[int, bytes]:
    return path.stat().st_ino, path.read_bytes()


def test_definitions_and_accepted_outcomes_are_written_once(space: BuildSpace) -> None:
    space.start(PLAN)
    first = _project(space)
    assert set(first) == {"definitions/demo/1.1.json", "definitions/demo/1.2.json", "outcomes/demo/1.2.json"}
    assert json.loads(first["outcomes/demo/1.2.json"][1]) == {"outcome": accepted_outcome("1.2")}
    assert _project(space) == first


def test_ticking_rewrites_nothing_and_an_edit_rewrites_one_definition(space: BuildSpace) -> None:
    space.start(PLAN)
    first = _project(space)
    space.edit_plan("[ ] 1.1", "[~] 1.1")
    assert _project(space) == first
    space.edit_plan("1.1 First", "1.1 Else")
    changed = {name for name, seen in _project(space).items() if seen != first[name]}
    assert changed == {"definitions/demo/1.1.json"}


def test_a_gate_file_keeps_its_bytes_until_an_outcome_changes(space: BuildSpace) -> None:
    """Rewording a task that changes nothing in the tree costs what comes after it nothing."""
    space.start("## 1. A\n- [ ] 1.1 First <!-- baton: allow-empty -->\n## 2. B\n- [ ] 2.1 Third\n")
    space.script("1.1", "[ -e 1.1.txt ] || echo x > 1.1.txt")
    space.build()
    gate = _seen(space.repo / ".baton/outcomes/demo/@gate-1.json")
    space.edit_plan("1.1 First", "1.1 First of all")
    space.build()
    assert space.agent_turns() == {"demo:1.1": 2, "demo:2.1": 1}
    assert _seen(space.repo / ".baton/outcomes/demo/@gate-1.json") == gate
