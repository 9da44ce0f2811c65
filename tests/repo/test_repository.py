"""Finding a repository from every place and in every shape git knows."""

from pathlib import Path

import pytest

from baton_runner.base.errors import RepositoryError
from baton_runner.repo.git import oldest_supported
from baton_runner.repo.repository import Repository
from tests.repo.repo_space import MakeSpace, RepoSpace, clean_environ


def test_a_checkout_is_found_from_a_folder_inside(space: RepoSpace) -> None:
    """Top, common directory and .baton are those of the checkout around."""
    found = Repository.open(space.top / "src", space.environ)
    assert found.top == space.top
    assert found.common_dir == space.top / ".git"
    assert found.baton == space.top / ".baton"
    assert found.head() == space.head()
    assert found.head_branch() == "refs/heads/main"


def test_linked_worktrees_share_baton_and_locks(space: RepoSpace) -> None:
    """A linked worktree has its own top, and the same .baton, locks and state root."""
    space.git("worktree", "add", "--quiet", "--detach", str(space.folder / "linked"))
    main, linked = space.repository, Repository.open(space.folder / "linked", space.environ)
    assert linked.top == space.folder / "linked"
    assert linked.head_branch() is None
    assert linked.head() == space.head()
    assert (linked.baton, linked.locks, linked.hash8) == (main.baton, main.locks, main.hash8)


def test_a_bare_repository_keeps_baton_inside(space: RepoSpace) -> None:
    """There is no checkout to lie beside, so .baton is in the repository and top is None."""
    bare = space.folder / "bare.git"
    space.git("clone", "--quiet", "--bare", str(space.top), str(bare))
    found = Repository.open(bare, space.environ)
    assert found.top is None
    assert found.baton == bare / ".baton"
    assert found.name == "bare"
    assert found.head() == space.head()


def test_a_separate_git_directory_keeps_baton_inside(make_space: MakeSpace, tmp_path: Path) -> None:
    """With --separate-git-dir the state lies in that directory, not in the checkout."""
    space = make_space("project", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    assert space.repository.top == space.top
    assert space.repository.baton == (tmp_path / "elsewhere").resolve() / ".baton"


def test_a_submodule_keeps_baton_in_its_own_git_directory(space: RepoSpace) -> None:
    """A submodule is a repository of its own; its state does not litter the superproject's tree."""
    other = space.folder / "other"
    space.git("clone", "--quiet", str(space.top), str(other))
    space.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    found = Repository.open(space.top / "sub", space.environ)
    assert found.top == space.top / "sub"
    assert found.baton == space.top / ".git" / "modules" / "sub" / ".baton"


def test_baton_ignores_itself(space: RepoSpace) -> None:
    """The state folder never shows up in the user's status."""
    (space.repository.ensure_baton() / "file").write_text("x")
    assert space.git("status", "--porcelain") == ""


def test_no_repository_is_said_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match=r"is not in a git repository; run git init"):
        Repository.open(tmp_path, clean_environ(tmp_path))


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="does not exist"):
        Repository.open(tmp_path / "nowhere", clean_environ(tmp_path))


def test_a_missing_git_is_said(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match=r"git: was not found .*install git 2\.38"):
        Repository.open(tmp_path, {"PATH": str(tmp_path)})


@pytest.mark.parametrize("version", ["git version 2.37.9", "git version 1.8.3.1", "git version 2.9.0"])
def test_an_old_git_is_refused(version: str) -> None:
    with pytest.raises(RepositoryError, match=r"is too old .*; install git 2\.38"):
        oldest_supported(version)


@pytest.mark.parametrize("version", ["git version 2.38.0", "git version 2.39.5 (Apple Git-154)", "git version 3.0.rc1"])
def test_a_recent_git_is_taken(version: str) -> None:
    oldest_supported(version)


def test_a_repository_without_commit_says_so(tmp_path: Path) -> None:
    """The branch is known, the head is an error that says what to do."""
    environ = clean_environ(tmp_path)
    top = tmp_path / "empty"
    top.mkdir()
    RepoSpace(tmp_path, top, environ).git("init", "--quiet", "--initial-branch", "main")
    found = Repository.open(top, environ)
    assert found.head_branch() == "refs/heads/main"
    with pytest.raises(RepositoryError, match="has no commit yet; make a first commit"):
        found.head()


def test_an_unknown_revision_is_said(space: RepoSpace) -> None:
    with pytest.raises(RepositoryError, match="has no commit named 'nowhere'"):
        space.repository.resolve("nowhere")


def test_a_revision_that_looks_like_an_option_is_none(space: RepoSpace) -> None:
    with pytest.raises(RepositoryError, match="has no commit named '--all'"):
        space.repository.resolve("--all")


def test_state_roots_differ_between_repositories_of_one_name(make_space: MakeSpace, tmp_path: Path) -> None:
    """Two clones called alike never share worktrees; a folder below the root counts as an assignment's."""
    one, two = make_space("x/project").repository, make_space("y/project").repository
    assert one.name == two.name == "project"
    assert one.state_root(tmp_path) != two.state_root(tmp_path)
    assert one.is_assignment(one.state_root(tmp_path) / "w" / "a1" / "tree", tmp_path)
    assert not one.is_assignment(tmp_path / "x", tmp_path)


@pytest.mark.parametrize("name", ["with space", "日本", "emoji 🚀 repo", "-dash", "a..b", "x.lock", 'q"uote', "ü" * 60])
def test_odd_folder_names_work_end_to_end(make_space: MakeSpace, name: str) -> None:
    """Any folder name: the state folder's name is plain and short, and a worktree can be made and used."""
    space = make_space(name)
    assert space.repository.name.isascii()
    assert len(space.repository.name) <= 40
    worktree = space.attempt()
    assert (worktree.path / "src/a.txt").read_text() == "a\n"
    worktree.release()


def test_an_identity_comes_from_git_or_is_flagged(space: RepoSpace) -> None:
    """Without a name in git, commits are the harness's own, and whoever asks can tell."""
    nobody = {name: value for name, value in space.environ.items() if not name.startswith(("GIT_A", "GIT_COMM"))}
    nobody.pop("EMAIL", None)
    assert not space.repository.identity.is_default
    assert space.repository.identity.name == "A User"
    assert Repository.open(space.top, nobody).identity.is_default
    space.git("config", "user.name", "Local <User>")
    space.git("config", "user.email", "l@example.org")
    assert Repository.open(space.top, nobody).identity.name == "Local User"


def test_inherited_git_variables_do_not_lead_astray(space: RepoSpace, make_space: MakeSpace) -> None:
    """A GIT_DIR in the environment (as in a hook) does not point us at another repository."""
    other = make_space("other")
    environ = {**space.environ, "GIT_DIR": str(other.top / ".git"), "GIT_INDEX_FILE": "/nonexistent/index"}
    found = Repository.open(space.top, environ)
    assert found.common_dir == space.top / ".git"
    assert "GIT_INDEX_FILE" not in found.git.environ
