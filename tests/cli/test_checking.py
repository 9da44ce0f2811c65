"""``baton verify`` notices a changed byte; ``baton doctor`` finds what would spoil a run, with its remedy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import World

RECEIPT = ".baton/receipts/demo/1.1.json"
PACKET = ".baton/packets/demo/1.1/1.json"
OUTCOME = ".baton/outcomes/demo/1.1.json"


# -- verify


def test_whole_records_are_whole(finished: World) -> None:
    """Everything a real run wrote passes, without a network or a command of the plan."""
    assert finished.ok("verify") == "3 receipts, 3 packets: all whole\n"


def test_nothing_is_whole_too(world: World) -> None:
    """A repository that was never run has nothing to damage."""
    assert world.ok("verify") == "0 receipts, 0 packets: all whole\n"


def _edit(path: str, old: str, new: str) -> Callable[[World], None]:
    def edit(world: World) -> None:
        file = world.repo / path
        text = file.read_text()
        assert old in text
        file.chmod(0o644)
        file.write_text(text.replace(old, new, 1))

    return edit


def _swap(world: World) -> None:
    one, two = world.repo / RECEIPT, world.repo / ".baton/receipts/demo/1.2.json"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _lose_ref(world: World) -> None:
    world.git("update-ref", "-d", "refs/baton/receipts/demo/1.1")


def _point_elsewhere(world: World) -> None:
    world.git("update-ref", "refs/baton/receipts/demo/1.1", "refs/baton/receipts/demo/1.2")


def _move_packet(world: World) -> None:
    (world.repo / PACKET).rename(world.repo / ".baton/packets/demo/1.1/9.json")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_edit(RECEIPT, '"attempt":1', '"attempt":2'), "receipts/demo/1.1.json: does not match its seal"),
        (_edit(RECEIPT, '"seal"', '"seel"'), "receipts/demo/1.1.json: has no seal"),
        (_edit(PACKET, "Write one", "Write two"), "is not the packet that the receipt of demo:1.1 names"),
        (_edit(PACKET, "{", "{ "), "is not a packet as it was written"),
        (_edit(OUTCOME, "sha256:", "sha256:0"), "is not the outcome that the receipt of demo:1.1 seals"),
        (_swap, "is the receipt of demo:1.2"),
        (_lose_ref, "has no ref"),
        (_point_elsewhere, "refs/baton/receipts/demo/1.1: is the receipt of demo:1.2"),
        (_move_packet, "9.json: is the packet of demo/1.1/1.json"),
    ],
)
def test_damage_is_noticed(finished: World, damage: Callable[[World], None], said: str) -> None:
    """A changed byte, a swapped, moved or lost record: each is named with its place, and the exit code is 1."""
    damage(finished)
    done = finished.call("verify")
    assert done.code == 1
    assert said in done.out
    assert "problem" in done.out.splitlines()[-1]


@pytest.mark.parametrize("position", [0, 40, 200, -2])
def test_a_receipt_cut_or_flipped_anywhere_is_noticed(finished: World, position: int) -> None:
    """Torn writes and flipped bits never pass."""
    file = finished.repo / RECEIPT
    data = file.read_bytes()
    for damaged in (data[:position], data[:position] + bytes([data[position] ^ 1]) + data[position:][1:]):
        file.write_bytes(damaged)
        assert finished.call("verify").code == 1, damaged


def test_a_fresh_clone_has_refs_and_no_files(finished: World, tmp_path: Path) -> None:
    """Receipts travel as refs; what a clone does not have is no damage, what it lacks of git is."""
    clone = tmp_path / "clone"
    finished.git("clone", "--quiet", str(finished.repo), str(clone))
    finished.git("fetch", "--quiet", "origin", "refs/baton/*:refs/baton/*", cwd=clone)
    done = finished.baton("verify", cwd=clone)
    assert (done.code, done.out) == (0, "3 receipts, 0 packets: all whole\n")
    (clone / ".git" / "baton-only").mkdir()
    bare = tmp_path / "receipts-only"
    finished.git("init", "--quiet", str(bare))
    finished.git(
        "fetch", "--quiet", "--depth=1", str(finished.repo), "refs/baton/receipts/*:refs/baton/receipts/*", cwd=bare
    )
    done = finished.baton("verify", cwd=bare)
    assert done.code == 1
    assert "demo:1.1: its commit" in done.out
    assert "is not in this repository; fetch refs/baton/*" in done.out


# -- doctor


def _doctor(world: World, code: int = 0, **environ: str) -> str:
    done = world.call("doctor", **environ)
    assert done.code == code, done.text
    return done.out


def test_a_sound_machine_is_told_so(world: World) -> None:
    """Nothing to mend: every line is ok, exit code 0."""
    text = _doctor(world)
    assert all(line.startswith("ok") for line in text.splitlines()), text
    assert {"git", "identity", "policy", "agent", "worktrees", "disk"} <= set(text.split())


def test_an_agent_that_is_not_there_is_bad(world: World) -> None:
    """A run would end at once: exit code 1, and the remedy stands below."""
    policy = "---\nverify: {commands: ['true']}\nagent: {kind: command}\ncommand: {run: no-such-agent --go}\n---\n"
    world.write("WORKFLOW.md", policy)
    text = _doctor(world, 1)
    assert "bad   agent" in text
    assert "no-such-agent" in text
    assert "-> " in text


def test_a_policy_without_agent_or_command_is_noted(empty: World) -> None:
    """Without WORKFLOW.md a run may still do tasks with a recipe: a note each, not an error."""
    text = _doctor(empty)
    assert "there is no WORKFLOW.md" in text
    assert "baton init writes one" in text
    empty.write("WORKFLOW.md", "---\nagent: {kind: session}\n---\n")
    assert "names no command that proves a task" in empty.call("doctor").out


def test_no_identity_is_noted(world: World) -> None:
    """Commits are made under our own name then."""
    world.git("config", "--unset", "user.name")
    assert "git config --global user.name" in _doctor(world)


def test_a_repository_without_commit_is_bad(tmp_path: Path) -> None:
    """There is nothing to start from."""
    world = World(tmp_path / "space")
    assert "has no commit yet" in _doctor(world, 1)


def test_a_shallow_clone_is_noted(world: World, tmp_path: Path) -> None:
    """Merges may lack their base."""
    clone = tmp_path / "clone"
    world.commit("second")
    world.git("clone", "--quiet", "--depth=1", f"file://{world.repo}", str(clone))
    assert "git fetch --unshallow" in world.baton("doctor", cwd=clone).out


def test_a_missing_login_of_claude_code_is_noted(world: World, tmp_path: Path) -> None:
    """Any sign of credentials counts; without one the remedy is named."""
    program = world.root / "claude"
    program.write_text("#!/bin/sh\necho 2.1.0\n")
    program.chmod(0o755)
    world.write(
        "WORKFLOW.md",
        f"---\nverify: {{commands: ['true']}}\nagent: {{kind: claude_code}}\nclaude_code: {{command: {program}}}\n---\n",
    )
    assert "no login of Claude Code was found" in _doctor(world)
    assert "no login" not in _doctor(world, ANTHROPIC_API_KEY="x")
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude.json").write_text('{"oauthAccount": {}}')
    assert "no login" not in _doctor(world, HOME=str(home))
    (home / ".claude.json").unlink()
    (home / ".claude" / ".credentials.json").write_text("{}")
    assert "no login" not in _doctor(world, HOME=str(home))


def test_a_root_inside_the_repository_is_noted(world: World) -> None:
    """Watchers and test runners of the checkout would find the worktrees."""
    world.write(
        "WORKFLOW.md",
        "---\nverify: {commands: ['true']}\nagent: {kind: command}\ncommand: {run: 'true'}\nworkspace: {root: .w}\n---\n",
    )
    assert "lies inside the repository" in _doctor(world)


def test_a_root_that_is_no_folder_is_bad(world: World) -> None:
    """No worktree could be made there."""
    (world.root / "state").write_text("a file\n")
    assert "cannot be written" in _doctor(world, 1)


def test_an_editable_install_of_the_checkout_is_noted(world: World, tmp_path: Path) -> None:
    """Tests in a worktree would import the main checkout's code; one of another project does not matter."""
    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    record = site / "shop-1.0.dist-info" / "direct_url.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"dir_info": {"editable": True}, "url": "file:///elsewhere/shop"}))
    (site / "other.pth").write_text("/elsewhere/src\nimport something\n")
    env = str(tmp_path / "env")
    assert "installed from this checkout" not in _doctor(world, VIRTUAL_ENV=env)
    record.write_text(json.dumps({"dir_info": {"editable": True}, "url": world.repo.as_uri()}))
    text = _doctor(world, VIRTUAL_ENV=env)
    assert "shop is installed from this checkout" in text
    assert "PYTHONPATH" in text
    record.unlink()
    (site / "__editable__.shop-1.0.pth").write_text(f"{world.repo}/src\n")
    assert "shop is installed from this checkout" in _doctor(world, VIRTUAL_ENV=env)


def test_lfs_without_its_program_is_bad(world: World, tmp_path: Path) -> None:
    """Files would be pointers."""
    world.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(_which(world, name))
    assert "install git-lfs" in _doctor(world, 1, PATH=str(programs))
    (programs / "git-lfs").write_text("#!/bin/sh\n")
    (programs / "git-lfs").chmod(0o755)
    assert "git-lfs was found" in _doctor(world, PATH=str(programs))


def _which(world: World, name: str) -> Path:
    folders = (Path(folder) for folder in world.environ["PATH"].split(":"))
    return next(folder / name for folder in folders if (folder / name).exists())


def test_submodules_are_noted_until_setup_fetches_them(world: World) -> None:
    """Worktrees start with empty submodules."""
    world.write(".gitmodules", "")
    assert "git submodule update --init" in _doctor(world)
    policy = world.read("WORKFLOW.md").replace("verify:", "workspace: {setup: git submodule update --init}\nverify:")
    world.write("WORKFLOW.md", policy)
    assert "workspace.setup fetches them" in _doctor(world)


def test_boxes_that_disagree_with_receipts_are_noted(finished: World) -> None:
    """Proven but not ticked, ticked but not proven: each is named with what the next run does."""
    finished.write("tasks/demo/tasks.md", finished.plan().replace("[x] 1.1", "[ ] 1.1"))
    assert "demo: proven but not ticked: 1.1" in _doctor(finished)
    finished.edit_plan("Write two", "Write something else")
    assert "demo: ticked but not proven: 1.2" in _doctor(finished)


def test_a_plan_that_cannot_be_read_is_bad(world: World) -> None:
    """A run could not start."""
    world.write("tasks/demo/tasks.md", "nothing\n")
    assert "bad   plan" in _doctor(world, 1)


def test_a_finish_that_died_is_noted(world: World) -> None:
    """What it had begun is undone or ended by the next one."""
    world.write(".baton/finish.json", "{}")
    assert "baton finish died half way" in _doctor(world)
