"""Nothing an agent plants in shared configuration, hooks, attributes or worktree settings runs in a call of ours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from baton_runner.repo.checkout import Watch
from baton_runner.repo.commits import capture
from baton_runner.repo.finish import finish
from baton_runner.repo.objects import Merged
from baton_runner.repo.pins import ConfigPins
from baton_runner.repo.refs import RefUpdate
from baton_runner.repo.slots import Kind, Purpose
from tests.repo.repo_space import RepoSpace

HOOKS = (
    "pre-commit", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-merge-commit", "post-rewrite",
    "reference-transaction", "post-index-change", "prepare-commit-msg", "fsmonitor-watchman", "pre-auto-gc",
)  # fmt: skip


def config(*pairs: tuple[str, str]) -> Callable[[RepoSpace, Path, Path], None]:
    def plant(space: RepoSpace, script: Path, _: Path) -> None:
        for key, value in pairs:
            space.git("config", key, value.replace("SCRIPT", str(script)))

    return plant


def hooks(space: RepoSpace, script: Path, _: Path) -> None:
    for name in HOOKS:
        hook = space.top / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(script.read_bytes())
        hook.chmod(0o755)


def hooks_path(space: RepoSpace, script: Path, _: Path) -> None:
    folder = space.folder / "evil-hooks"
    folder.mkdir()
    for name in HOOKS:
        (folder / name).write_bytes(script.read_bytes())
        (folder / name).chmod(0o755)
    space.git("config", "core.hooksPath", str(folder))


def attribute_filter(space: RepoSpace, script: Path, _: Path) -> None:
    config(("filter.evil.clean", "SCRIPT"), ("filter.evil.smudge", "SCRIPT"))(space, script, _)
    attributes = space.top / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("* filter=evil\n")


def tree_filter(space: RepoSpace, script: Path, worktree: Path) -> None:
    config(("filter.evil.process", "SCRIPT"), ("filter.evil.required", "true"))(space, script, worktree)
    (worktree / ".gitattributes").write_text("* filter=evil merge=evil diff=evil\n")


def worktree_config(space: RepoSpace, script: Path, worktree: Path) -> None:
    space.git("config", "extensions.worktreeConfig", "true")
    space.git("config", "--worktree", "core.fsmonitor", str(script), cwd=worktree)
    space.git("config", "--worktree", "filter.evil.clean", str(script), cwd=worktree)
    (worktree / ".gitattributes").write_text("* filter=evil\n")


def included(space: RepoSpace, script: Path, _: Path) -> None:
    (space.folder / "evil.config").write_text(
        f'[core]\n\tfsmonitor = "{script}"\n[filter "evil"]\n\tclean = "{script}"\n'
    )
    space.git("config", "include.path", str(space.folder / "evil.config"))
    (space.top / ".git" / "info" / "attributes").write_text("* filter=evil\n")


def nested_repository(space: RepoSpace, script: Path, worktree: Path) -> None:
    nested = worktree / "nested"
    nested.mkdir()
    space.git("init", "--quiet", cwd=nested)
    space.commit({"x": "x", ".gitattributes": "* filter=evil\n"}, cwd=nested)
    space.git("config", "filter.evil.clean", str(script), cwd=nested)
    space.git("config", "core.fsmonitor", str(script), cwd=nested)
    space.git("-c", "advice.addEmbeddedRepo=false", "add", "nested", cwd=worktree)
    (nested / "x").write_text("y")


SINKS: dict[str, Callable[[RepoSpace, Path, Path], None]] = {
    "hooks": hooks,
    "hooks path": hooks_path,
    "fsmonitor": config(("core.fsmonitor", "SCRIPT")),
    "external diff": config(("diff.external", "SCRIPT"), ("diff.evil.command", "SCRIPT"), ("diff.evil.textconv", "SCRIPT")),
    "merge driver": config(("merge.evil.driver", "SCRIPT"), ("merge.default", "evil")),
    "filter by info/attributes": attribute_filter,
    "filter by the tree": tree_filter,
    "worktree config": worktree_config,
    "include": included,
    "nested repository": nested_repository,
    "signing program": config(("gpg.program", "SCRIPT"), ("commit.gpgSign", "true"), ("user.signingKey", "x")),
    "editor, pager, helpers": config(
        ("core.editor", "SCRIPT"), ("core.pager", "SCRIPT"), ("credential.helper", "SCRIPT"), ("core.askPass", "SCRIPT"),
        ("core.sshCommand", "SCRIPT"), ("core.alternateRefsCommand", "SCRIPT"), ("sequence.editor", "SCRIPT"),
    ),
    "aliases": config(*((f"alias.{name}", "!SCRIPT") for name in ("status", "add", "checkout", "merge-tree", "clean"))),
    "gc and maintenance": config(("gc.auto", "1"), ("maintenance.auto", "true"), ("gc.recentObjectsHook", "SCRIPT")),
}  # fmt: skip


@pytest.mark.parametrize("sink", SINKS)
def test_a_planted_program_never_runs(space: RepoSpace, sink: str) -> None:
    """A whole task, from capture to finish, with the sink armed after the first call of ours: no marker appears."""
    marker = space.folder / "PWNED"
    script = space.folder / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat 2>/dev/null\n")
    script.chmod(0o755)
    base = space.head()
    workspaces, refs = space.workspaces(), space.refs()
    objects = workspaces.objects
    worktree = space.attempt(workspaces=workspaces)
    pins = ConfigPins.take(objects.repository)
    SINKS[sink](space, script, worktree.path)
    marker.unlink(missing_ok=True)  # planting may run it: that is the agent's own git
    if sink != "nested repository":
        assert pins.changed()

    space.write({"src/a.txt": "work\n", "new": "x"}, worktree.path)
    result = capture(worktree, base=base, plan_paths=("tasks.md",), message="m")
    assert result.commit
    refs.create("refs/baton/attempts/c/1.1/1", result.commit)
    merged = objects.merge(base, result.commit)
    assert isinstance(merged, Merged)
    commit = objects.commit(merged.tree, [base, result.commit], "Merge")
    verify = workspaces.acquire(Purpose(Kind.VERIFY, "c", "v"), commit)
    assert (verify.path / "src/a.txt").read_text() == "work\n"
    space.write({"src/a.txt": "broken\n"}, verify.path)
    verify.at_tree(merged.tree)
    verify.scrub()
    assert (verify.path / "src/a.txt").read_text() == "work\n"
    objects.make_durable(commit, base)
    refs.transaction([RefUpdate("refs/heads/baton/c", commit, None)])
    worktree.release()
    space.attempt(task="1.2", commit=commit, workspaces=workspaces).keep("look")
    Watch(objects, space.top, objects.repository.git_dir).status()
    finish(objects, source=commit, branch="refs/heads/main", message="m")
    assert (space.top / "src/a.txt").read_text() == "work\n"
    for kept in workspaces.kept():
        if sink != "nested repository":
            workspaces.remove(kept.slot)
    assert not marker.exists()


def test_replace_refs_do_not_change_what_we_see(space: RepoSpace) -> None:
    """An agent cannot make us see another commit in place of one it replaced."""
    base = space.head()
    evil = space.git("commit-tree", "HEAD^{tree}", "-m", "evil")
    space.git("replace", base, evil)
    space.git("gc", "--quiet")
    assert space.objects().read_commit(base).message == "first\n"


def test_filters_of_before_the_first_agent_do_run(space: RepoSpace) -> None:
    """A filter the user had is pinned with its value of then; a later change of it has no effect."""
    space.git("config", "filter.upper.smudge", "tr a-z A-Z")
    space.git("config", "filter.upper.clean", "tr A-Z a-z")
    space.commit({".gitattributes": "*.up filter=upper\n", "x.up": "text\n"})
    worktree = space.attempt()
    assert (worktree.path / "x.up").read_text() == "TEXT\n"
    space.git("config", "filter.upper.clean", "echo evil; cat")
    space.write({"x.up": "OTHER\n"}, worktree.path)
    result = capture(worktree, base=space.head(), plan_paths=(), message="m")
    assert space.objects().read_blob(result.changes[0].new_blob) == b"other\n"


def test_users_ignore_rules_and_line_ends_hold(space: RepoSpace) -> None:
    """The global excludes file, info/exclude and autocrlf of the user are honoured in our calls."""
    home = Path(space.environ["HOME"])
    (home / "ignore").write_text("*.bak\n")
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {home / 'ignore'}\n\tautocrlf = input\n")
    (space.top / ".git/info/exclude").write_text("*.mine\n")
    worktree = space.attempt()
    (worktree.path / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    space.write({"a.bak": "x", "b.mine": "x"}, worktree.path)
    result = capture(worktree, base=space.head(), plan_paths=(), message="m")
    assert [change.path for change in result.changes] == ["crlf.txt"]
    assert space.objects().read_blob(result.changes[0].new_blob) == b"one\ntwo\n"


def test_a_later_change_of_settings_is_named_and_taken_over_only_when_asked(space: RepoSpace) -> None:
    """Drift names keys, renewing makes the settings count; LFS finds its objects and remote through ours."""
    own = space.objects().own_git
    assert own.drift() == ()
    space.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    space.git("config", "remote.origin.url", "https://example.org/x.git")
    later = space.objects().own_git
    assert later.drift() == ("filter.lfs.clean", "remote.origin.url")
    assert later.bare().try_run("config", "filter.lfs.clean").code == 1
    later.renew()
    assert later.drift() == ()
    assert later.bare().line("config", "filter.lfs.clean") == "git-lfs clean -- %f"
    assert later.bare().line("config", "lfs.storage") == str(space.top / ".git/lfs")
