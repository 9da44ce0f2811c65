"""``baton init``: writes what is missing, touches nothing that is there."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import World


def _front_matter(world: World) -> dict[str, object]:
    text = world.read("WORKFLOW.md")
    value: dict[str, object] = yaml.safe_load(text.split("---\n")[1])
    return value


def test_a_first_init_writes_a_policy_that_lint_accepts(empty: World) -> None:
    """WORKFLOW.md holds the detected command; together with the example there is something to run."""
    empty.write("Makefile", "test:\n\ttrue\n")
    text = empty.ok("init", "--example", "--agent", "terminal")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("wrote")] == [
        "WORKFLOW.md", "dodo.py", "tasks/say-hello/tasks.md",
    ]  # fmt: skip
    assert _front_matter(empty)["verify"] == {"commands": ["make test"]}
    listed = empty.ok("list")
    assert "say-hello" in listed
    assert "terminal.command" in empty.call("lint").out


def test_the_example_is_ready_to_run(empty: World) -> None:
    """Nothing of what init writes is an error."""
    empty.ok("init", "--example")
    assert "1 plan checked: 0 errors" in empty.ok("lint")


@pytest.mark.parametrize("name", ["WORKFLOW.md", "dodo.py", "noxfile.py", "Makefile", ".github/workflows/baton.yml"])
def test_a_file_that_is_there_stays_byte_for_byte(empty: World, name: str) -> None:
    """What would have been written is printed instead."""
    empty.write(name, "mine\r\n")
    before = (empty.repo / name).read_bytes()
    text = empty.ok("init", "--nox", "--make", "--ci")
    assert (empty.repo / name).read_bytes() == before
    assert f"{name} exists; what belongs into it:" in text
    assert text.count("wrote") == 4


def test_every_extra_is_written_when_asked(empty: World) -> None:
    """noxfile, Makefile target, CI workflow: the workflow fetches receipts first and pushes them in any case."""
    empty.ok("init", "--nox", "--make", "--ci")
    assert "session_baton" in empty.read("noxfile.py")
    assert "\tbaton run\n" in empty.read("Makefile")
    workflow = yaml.safe_load(empty.read(".github/workflows/baton.yml"))
    steps = workflow["jobs"]["baton"]["steps"]
    runs = [step.get("run", "") for step in steps]
    fetch, push = (
        [n for n, run in enumerate(runs) if word in run and "refs/baton/*" in run] for word in ("fetch", "push")
    )
    run = runs.index("baton run")
    assert fetch[0] < run < push[0]
    assert steps[push[0]]["if"] == "always()"


@pytest.mark.parametrize(("name", "expected"), [("dodo.py", "task_baton"), ("noxfile.py", "session_baton")])
def test_what_doit_and_nox_load_can_be_loaded(empty: World, name: str, expected: str) -> None:
    """The written files are Python that finds what it names."""
    empty.ok("init", "--nox")
    code = f"import runpy; print(runpy.run_path('{name}')['{expected}'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=empty.repo, env=empty.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_second_init_changes_nothing(empty: World) -> None:
    """What is there already as it would be written is said to be so."""
    empty.ok("init")
    text = empty.ok("init")
    assert "wrote" not in text
    assert text.count("(as it would be written)") == 2


def test_a_repository_with_openspec_gets_its_example_there(empty: World) -> None:
    """The example lies where plans are looked for."""
    (empty.repo / "openspec" / "changes").mkdir(parents=True)
    empty.ok("init", "--example")
    assert "say-hello" in empty.ok("list")


def test_files_are_written_at_the_top(empty: World) -> None:
    """From a folder inside, the files still land at the repository's top."""
    inside = empty.repo / "src"
    inside.mkdir()
    assert empty.baton("init", cwd=inside).code == 0
    assert (empty.repo / "WORKFLOW.md").is_file()
    assert list(inside.iterdir()) == []


def test_a_bare_repository_is_refused(empty: World, tmp_path: Path) -> None:
    """There is no checkout to write into."""
    bare = tmp_path / "bare.git"
    empty.git("clone", "--quiet", "--bare", str(empty.repo), str(bare))
    done = empty.baton("init", cwd=bare)
    assert done.code == 4
    assert "run baton init in a checkout" in done.err


def test_the_workflow_shares_what_is_proven(finished: World, tmp_path: Path) -> None:
    """Its git commands work as they are written: a second machine fetches the proof, runs nothing, pushes its own."""
    finished.ok("init", "--ci")
    steps = yaml.safe_load(finished.read(".github/workflows/baton.yml"))["jobs"]["baton"]["steps"]
    fetch, push = [step["run"] for step in steps if "refs/baton" in step.get("run", "")]
    origin, clone = tmp_path / "origin.git", tmp_path / "clone"
    finished.git("commit", "--quiet", "--all", "-m", "ticks")
    finished.git("clone", "--quiet", "--bare", str(finished.repo), str(origin))
    finished.git("remote", "add", "origin", str(origin))
    _sh(finished, push, finished.repo)
    finished.git("clone", "--quiet", str(origin), str(clone))
    _sh(finished, fetch, clone)
    before = finished.agent_turns()
    done = finished.baton("run", cwd=clone)
    assert done.code == 0, done.text
    assert finished.agent_turns() == before
    _sh(finished, push, clone)


def test_the_workflow_works_before_anything_was_proven(empty: World, tmp_path: Path) -> None:
    """The first run on a CI machine finds no refs to fetch and may have none to push."""
    empty.ok("init", "--ci")
    steps = yaml.safe_load(empty.read(".github/workflows/baton.yml"))["jobs"]["baton"]["steps"]
    origin = tmp_path / "origin.git"
    empty.git("clone", "--quiet", "--bare", str(empty.repo), str(origin))
    empty.git("remote", "add", "origin", str(origin))
    for step in steps:
        if "refs/baton" in step.get("run", ""):
            _sh(empty, step["run"], empty.repo)


def _sh(world: World, command: str, folder: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=world.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("agent", "key"), [("command", "command.run"), ("terminal", "terminal.command")])
def test_the_next_step_is_one_that_works(empty: World, agent: str, key: str) -> None:
    """An agent without a program of its own needs one first; an example that is there is not offered."""
    last = empty.ok("init", "--agent", agent, "--example").splitlines()[-1]
    assert last.startswith(f"next: set {key} in WORKFLOW.md")
    assert "--example" not in last


def test_an_example_is_offered_where_there_is_none(empty: World) -> None:
    """A first plan is easier to write after one that works."""
    last = empty.ok("init").splitlines()[-1]
    assert "baton init --example shows one" in last
    assert "command.run" not in last
