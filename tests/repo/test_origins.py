"""Where a change started is recorded once, with its branch."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from baton_runner.base.errors import DamagedRecord
from baton_runner.repo.origins import Origin, begin_change, read_origin
from baton_runner.repo.refs import RefMoved, change_ref, integration_ref
from tests.repo.repo_space import RepoSpace


def origin(space: RepoSpace, commit: str = "") -> Origin:
    return Origin("refs/heads/main", commit or space.head(), integration_ref("add login"))


def test_a_change_begins_with_its_record_and_branch(space: RepoSpace) -> None:
    objects = space.objects()
    assert read_origin(objects, "add login") is None
    begun = begin_change(objects, "add login", origin(space))
    assert read_origin(objects, "add login") == begun == origin(space)
    assert space.refs().get(begun.branch) == space.head()


def test_a_change_keeps_its_first_record(space: RepoSpace) -> None:
    """A second beginning, from another commit or at the same time, gets the record of the first."""
    objects, first = space.objects(), origin(space)
    begin_change(objects, "add login", first)
    later = space.commit({"x": "1"})
    assert begin_change(objects, "add login", origin(space, later)) == first
    assert space.refs().get(first.branch) == first.base_commit


def test_a_record_without_its_branch_gets_it(space: RepoSpace) -> None:
    """A kill between the two refs of the beginning is mended by the next one."""
    objects, first = space.objects(), origin(space)
    begin_change(objects, "add login", first)
    space.git("update-ref", "-d", first.branch)
    begin_change(objects, "add login", first)
    assert space.refs().get(first.branch) == first.base_commit


def test_of_many_beginnings_one_wins(space: RepoSpace) -> None:
    commits = [space.head(), space.commit({"x": "1"}), space.commit({"y": "1"})]
    objects = space.objects()
    with ThreadPoolExecutor(3) as pool:
        begun = set(pool.map(lambda commit: begin_change(objects, "add login", origin(space, commit)), commits))
    (winner,) = begun
    assert space.refs().get(winner.branch) == winner.base_commit


def test_a_branch_that_is_there_is_taken_only_when_it_has_the_base(space: RepoSpace) -> None:
    """Verified work on an existing branch is never thrown back; a stranger's branch is not ours."""
    base = space.head()
    ahead = space.git("commit-tree", "HEAD^{tree}", "-p", base, "-m", "ahead")
    stranger = space.git("commit-tree", "HEAD^{tree}", "-m", "stranger")
    refs, objects = space.refs(), space.objects()
    refs.create(integration_ref("add login"), stranger)
    with pytest.raises(RefMoved):
        begin_change(objects, "add login", origin(space))
    space.git("update-ref", integration_ref("add login"), ahead)
    begin_change(objects, "add login", origin(space))
    assert refs.get(integration_ref("add login")) == ahead


def test_a_ref_that_holds_something_else_is_said(space: RepoSpace) -> None:
    objects = space.objects()
    space.refs().create(change_ref("add login"), objects.blob(b"[]"))
    with pytest.raises(DamagedRecord, match=r"refs/baton/changes/add-login.*: is not a record of a change"):
        read_origin(objects, "add login")
