"""A worktree is prepared with what is ignored, never through a link, and again only when something changed."""

import os
from pathlib import Path

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.repo.checkout import Watch
from baton_runner.repo.setup import Brought, SetupFailed, bring, place_context, run_setup, setup_digest
from baton_runner.repo.worktrees import Worktree
from baton_runner.workflow.build_settings import WorkspaceSettings
from baton_runner.workflow.shapes import SetupStep
from tests.repo.repo_space import RepoSpace


def watch(space: RepoSpace) -> Watch:
    return Watch(space.objects(), space.top, space.repository.git_dir)


def run(space: RepoSpace, worktree: Worktree, *steps: SetupStep) -> tuple[str, ...]:
    return run_setup(
        worktree, steps, environ=space.environ, log_folder=space.folder / "logs", timeout=60, marker="test-setup"
    )


def test_ignored_files_named_by_the_policy_or_the_include_file_are_copied(space: RepoSpace) -> None:
    """Gitignore syntax, negation included; tracked and merely untracked files never; owner-only modes."""
    space.commit({".gitignore": "build/\n.env*\nconf/local/\n", ".worktreeinclude": "conf/local/**\n!conf/local/no\n"})
    space.write(
        {".env": "SECRET=1\n", "conf/local/a": "a", "conf/local/no": "no", "untracked.env": "u", "build/x": "x"}
    )
    (space.top / "conf/local/a").chmod(0o755)
    worktree = space.attempt()
    brought = bring(worktree, watch(space), WorkspaceSettings(copy=(".env", "untracked.env", "src/*")))
    assert brought.copied == (".env", "conf/local/a")
    assert brought.skipped == ()
    assert (worktree.path / ".env").read_text() == "SECRET=1\n"
    assert (worktree.path / ".env").stat().st_mode & 0o777 == 0o600
    assert (worktree.path / "conf/local/a").stat().st_mode & 0o777 == 0o700
    assert not (worktree.path / "conf/local/no").exists()
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""


def test_files_in_an_ignored_folder_are_found_by_name(space: RepoSpace) -> None:
    space.write({"build/deep/key.pem": "k", "build/deep/other": "o"})
    brought = bring(space.attempt(), watch(space), WorkspaceSettings(copy=("*.pem",)))
    assert brought.copied == ("build/deep/key.pem",)


def test_a_second_time_only_what_changed_is_written(space: RepoSpace) -> None:
    """Equal files keep their times; the digest follows the bytes."""
    space.write({".env": "one"})
    worktree, settings = space.attempt(), WorkspaceSettings(copy=(".env",))
    first = bring(worktree, watch(space), settings)
    before = (worktree.path / ".env").stat().st_ino
    assert bring(worktree, watch(space), settings) == first
    assert (worktree.path / ".env").stat().st_ino == before
    space.write({".env": "two"})
    assert bring(worktree, watch(space), settings).digest != first.digest
    assert (worktree.path / ".env").read_text() == "two"


def test_links_are_never_followed_in_or_out(space: RepoSpace) -> None:
    """A linked source, a source behind a linked folder, and a linked target folder: nothing is copied, each is named."""
    secret = space.folder / "outside"
    space.write({"outside/passwd": "root"}, space.folder)
    (space.top / ".env").symlink_to(secret / "passwd")
    (space.top / "build").symlink_to(secret)
    worktree = space.attempt()
    brought = bring(worktree, watch(space), WorkspaceSettings(copy=(".env",)))
    assert brought.copied == ()
    assert brought.skipped[0].startswith(".env: is a link")
    (space.top / ".env").unlink()
    (space.top / "build").unlink()
    space.write({"build/out/x": "mine"})
    (worktree.path / "build").mkdir()
    (worktree.path / "build/out").symlink_to(secret)
    brought = bring(worktree, watch(space), WorkspaceSettings(copy=("build/out/x",)))
    assert brought.skipped[0].startswith("build/out/x: cannot be placed")
    assert sorted(path.name for path in secret.iterdir()) == ["passwd"]


def test_a_linked_target_file_is_replaced_not_written_through(space: RepoSpace) -> None:
    space.write({".env": "SECRET"})
    outside = space.folder / "outside.txt"
    outside.write_text("mine")
    worktree = space.attempt()
    (worktree.path / ".env").symlink_to(outside)
    bring(worktree, watch(space), WorkspaceSettings(copy=(".env",)))
    assert outside.read_text() == "mine"
    assert not (worktree.path / ".env").is_symlink()


def test_links_are_made_when_git_ignores_them(space: RepoSpace) -> None:
    """A link to the checkout's folder, once; what exists or leads out is named; what git would commit is refused."""
    space.commit({".gitignore": "node_modules\nbuild/\n"})
    space.write({"node_modules/pkg/x": "x", "build/x": "x"})
    worktree = space.attempt()
    settings = WorkspaceSettings(link=("node_modules", "src", "../outside", "nothing"))
    for _ in range(2):
        brought = bring(worktree, watch(space), settings)
        assert brought.linked == ("node_modules",)
        assert [text.partition(":")[0] for text in brought.skipped] == ["src", "../outside", "nothing"]
    assert (worktree.path / "node_modules/pkg/x").read_text() == "x"
    with pytest.raises(PolicyError, match="build is not ignored by git as a link"):
        bring(worktree, watch(space), WorkspaceSettings(link=("build",)))
    assert space.git("status", "--porcelain", cwd=worktree.path) == ""


def test_a_bare_repository_brings_nothing(space: RepoSpace) -> None:
    assert bring(space.attempt(), None, WorkspaceSettings(copy=("*",))) == Brought()


def test_setup_runs_before_the_first_use_and_when_its_files_change(space: RepoSpace) -> None:
    """Not again on reuse; from the changed step on when a named file changed; anew in a worktree made anew."""
    steps = (
        SetupStep("mkdir -p build && echo one >> build/log", ()),
        SetupStep("echo two >> build/log", ("src/a.txt",)),
        SetupStep("echo three >> build/log", ()),
    )
    worktree = space.attempt()
    assert run(space, worktree, *steps) == tuple(step.run for step in steps)
    assert run(space, worktree, *steps) == ()
    worktree.release()
    space.commit({"src/a.txt": "changed\n"})
    again = space.attempt()
    assert again.path == worktree.path
    assert run(space, again, *steps) == tuple(step.run for step in steps[1:])
    assert (again.path / "build/log").read_text().split() == ["one", "two", "three", "two", "three"]
    again.scrub()
    assert len(run(space, again, *steps)) == 3
    again.keep("x")
    space.workspaces().remove(again.slot)
    assert len(run(space, space.attempt(), *steps)) == 3


def test_a_failing_setup_says_what_failed_and_runs_again(space: RepoSpace) -> None:
    """The steps before it are not repeated, it and the later ones are."""
    steps = (SetupStep("mkdir -p build; echo x >> build/log"), SetupStep("echo broken >&2; test -e build/ok"))
    worktree = space.attempt()
    with pytest.raises(SetupFailed, match=r"failed \(exit code 1\): broken; repair the command"):
        run(space, worktree, *steps)
    (worktree.path / "build/ok").touch()
    assert run(space, worktree, *steps) == (steps[1].run,)
    assert (worktree.path / "build/log").read_text() == "x\n"


def test_the_setup_digest_follows_commands_files_and_copies(space: RepoSpace) -> None:
    worktree, step = space.attempt(), SetupStep("true", ("src/a.txt", "nothing"))
    one = setup_digest(worktree, (step,), Brought())
    assert one == setup_digest(worktree, (step,), Brought())
    assert one != setup_digest(worktree, (SetupStep("false", step.files),), Brought())
    assert one != setup_digest(worktree, (step,), Brought(digest="sha256:x"))
    space.write({"src/a.txt": "other"}, worktree.path)
    assert one != setup_digest(worktree, (step,), Brought())


def test_the_context_folder_is_beside_the_worktree_and_read_only(space: RepoSpace) -> None:
    """Replaced at each use, readable, not writable, without what a link would bring in."""
    source = space.folder / "change"
    space.write({"proposal.md": "p", "specs/a/spec.md": "s"}, source)
    (source / "link.md").symlink_to("/etc/hostname")
    worktree = space.attempt()
    folder = place_context(worktree, source, ["proposal.md", "specs/a/spec.md", "link.md", "../escape"])
    assert folder.parent == worktree.path.parent
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"proposal.md", "specs/a/spec.md"}
    modes = {Path(parent).stat().st_mode & 0o222 for parent, _, _ in os.walk(folder)}
    assert modes == {0}
    assert (folder / "proposal.md").stat().st_mode & 0o222 == 0
    assert list(place_context(worktree, source, ["proposal.md"]).iterdir()) == [folder / "proposal.md"]
    worktree.keep("x")
    space.workspaces().remove(worktree.slot)
    assert not folder.exists()
