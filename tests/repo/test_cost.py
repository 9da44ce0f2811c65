"""What a task costs in git processes: each is milliseconds on every task of every run."""

import subprocess
from typing import Any

import pytest

from baton_runner.repo.commits import capture
from baton_runner.repo.objects import Merged
from baton_runner.repo.refs import Refs, RefUpdate, attempt_ref, receipt_ref
from tests.repo.repo_space import RepoSpace


class Counted(subprocess.Popen[bytes]):
    """Counts what is started."""

    started = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        type(self).started += 1
        super().__init__(*args, **options)


def test_a_task_in_a_warm_pool_takes_eleven_git_processes(space: RepoSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempt 3, capture 3, its ref none, merge 1, verification worktree 2, durable 1, publish 1; reads are free."""
    workspaces, head = space.workspaces(), space.head()
    objects = workspaces.objects
    refs = Refs(objects.repository)
    space.attempt(workspaces=workspaces).release()
    space.verify(workspaces=workspaces).release()
    monkeypatch.setattr("baton_runner.repo.git.subprocess.Popen", Counted)
    Counted.started = 0

    def spent() -> int:
        count, Counted.started = Counted.started, 0
        return count

    worktree = space.attempt(commit=head, workspaces=workspaces)
    assert spent() == 3
    space.write({"new": "x"}, worktree.path)
    result = capture(worktree, base=head, plan_paths=("tasks.md",), message="m")
    assert result.commit
    assert spent() == 3
    refs.create(attempt_ref("c", "1.1", 1), result.commit)
    merged = objects.merge(head, result.commit)
    assert isinstance(merged, Merged)
    assert spent() == 1
    commit = objects.commit(merged.tree, [head, result.commit], "Merge")
    receipt = objects.blob(b"{}")
    assert spent() == 0
    verify = space.verify(commit, workspaces)
    assert spent() == 2
    verify.release()
    objects.make_durable(commit, head)
    refs.transaction([RefUpdate("refs/heads/baton/c", commit, None), RefUpdate(receipt_ref("c", "1.1"), receipt, None)])
    assert spent() == 2
    assert refs.get("refs/heads/baton/c") == commit
    worktree.release(result.commit)
    assert spent() == 0


def test_an_agents_own_commits_cost_two_more(space: RepoSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ancestry and the plan's history of any number of commits are two questions to git."""
    worktree, head = space.attempt(), space.head()
    for number in range(5):
        space.commit({f"file{number}": "x"}, cwd=worktree.path)
    monkeypatch.setattr("baton_runner.repo.git.subprocess.Popen", Counted)
    Counted.started = 0
    assert capture(worktree, base=head, plan_paths=("tasks.md",), message="m").commit
    assert Counted.started == 5
