"""What an agent changed in the files that steer git is reported by name."""

from baton_runner.repo.pins import ConfigPins
from tests.repo.repo_space import RepoSpace


def test_every_steering_file_is_seen(space: RepoSpace) -> None:
    """Config, a hook (its mode too), info and a worktree's own config; not the refs, objects or our own worktrees."""
    git = space.top / ".git"
    worktree = space.attempt()
    (git / "hooks").mkdir(exist_ok=True)
    (git / "hooks" / "pre-push").write_text("#!/bin/sh\n")
    pins = ConfigPins.take(space.repository)
    space.commit({"x": "1"})
    space.attempt(task="1.2").release()
    assert pins.changed() == ()
    space.git("config", "alias.x", "!evil")
    (git / "hooks" / "pre-push").chmod(0o755)
    (git / "hooks" / "post-commit").symlink_to("/bin/true")
    (git / "info").mkdir(exist_ok=True)
    (git / "info" / "attributes").write_text("* filter=x\n")
    (worktree.git_dir / "config.worktree").write_text("[core]\n")
    assert pins.changed() == (
        "config",
        "hooks/post-commit",
        "hooks/pre-push",
        "info/attributes",
        f"worktrees/{worktree.git_dir.name}/config.worktree",
    )


def test_a_worktree_that_went_away_is_no_change(space: RepoSpace) -> None:
    worktree = space.attempt()
    (worktree.git_dir / "config.worktree").write_text("[core]\n")
    pins = ConfigPins.take(space.repository)
    worktree.keep("x")
    space.workspaces().remove(worktree.slot)
    assert pins.changed() == ()
