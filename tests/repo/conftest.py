"""A small real git repository for each test."""

from pathlib import Path

import pytest

from tests.repo.repo_space import MakeSpace, RepoSpace, clean_environ


@pytest.fixture
def make_space(tmp_path: Path) -> MakeSpace:
    """Make a repository in a folder of the given name, with one commit."""

    def make(name: str = "project", *init: str) -> RepoSpace:
        folder = tmp_path.resolve()
        top = folder / name
        top.mkdir(parents=True)
        space = RepoSpace(folder, top, clean_environ(folder))
        space.git("init", "--quiet", "--initial-branch", "main", *init)
        space.commit(
            {"tasks.md": "- [ ] 1.1 one\n", "src/a.txt": "a\n", "src/b.txt": "b\n", ".gitignore": "build/\n.env\n"},
            "first",
        )
        return space

    return make


@pytest.fixture
def space(make_space: MakeSpace) -> RepoSpace:
    return make_space()
