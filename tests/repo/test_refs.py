"""Refs move by compare-and-swap, together or not at all."""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton_runner.repo.git import GitError
from baton_runner.repo.refs import (
    RefExists,
    RefMoved,
    RefUpdate,
    attempt_ref,
    change_ref,
    integration_ref,
    kept_ref,
    receipt_ref,
)
from tests.repo.repo_space import RepoSpace

ODD_NAMES = [
    "a b",
    "日本",
    "-x",
    "x.lock",
    "a..b",
    "y" * 250,
    "@",
    "a@{1}",
    "a~1^:?*[\\",
    ".hidden",
    "UPPER",
    "a/b",
    "",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_name_makes_refs_that_git_takes(space: RepoSpace, name: str) -> None:
    """Whatever a change or task is called, its refs can be created, read and are below refs/baton."""
    refs, head = space.refs(), space.head()
    names = [attempt_ref(name, name, 1), receipt_ref(name, name), change_ref(name), integration_ref(name)]
    refs.transaction([RefUpdate(each, head, None) for each in names])
    assert refs.read("refs/baton", "refs/heads/baton") == dict.fromkeys(names, head)
    assert all(refs.get(each) == head for each in names)


@given(st.text(max_size=40), st.text(max_size=40))
def test_two_tasks_never_share_a_ref(one: str, other: str) -> None:
    """Names to refs is injective, also on file systems that fold case."""
    assert (attempt_ref("c", one, 1).casefold() == attempt_ref("c", other, 1).casefold()) == (one == other)


def test_a_ref_is_created_once(space: RepoSpace) -> None:
    refs, head = space.refs(), space.head()
    name = attempt_ref("c", "1.1", 1)
    refs.create(name, head)
    with pytest.raises(RefExists, match=rf"{name}: exists already, at {head}"):
        refs.create(name, head)


def test_a_moved_ref_stops_the_whole_transaction(space: RepoSpace) -> None:
    """The error carries both ids, and no other ref of the transaction moved."""
    refs, old = space.refs(), space.head()
    new = space.commit({"x": "1"})
    refs.create("refs/heads/baton/c", new)
    with pytest.raises(RefMoved) as caught:
        refs.transaction([RefUpdate("refs/baton/receipts/c/1", new, None), RefUpdate("refs/heads/baton/c", old, old)])
    assert (caught.value.name, caught.value.expected, caught.value.actual) == ("refs/heads/baton/c", old, new)
    assert refs.read("refs/baton") == {}


def test_a_ref_is_deleted_only_where_expected(space: RepoSpace) -> None:
    refs, head = space.refs(), space.head()
    other = space.commit({"x": "1"})
    refs.create("refs/baton/test/x", head)
    with pytest.raises(RefMoved):
        refs.transaction([RefUpdate("refs/baton/test/x", None, other)])
    refs.transaction([RefUpdate("refs/baton/test/x", None, head)])
    assert refs.get("refs/baton/test/x") is None
    refs.transaction([RefUpdate("refs/baton/test/x", None, None)])


def test_packed_refs_are_read_like_loose_ones(space: RepoSpace) -> None:
    refs, head = space.refs(), space.head()
    refs.create("refs/baton/test/x", head)
    space.git("pack-refs", "--all")
    assert not (space.top / ".git/refs/baton/test/x").exists()
    assert refs.get("refs/baton/test/x") == head


def test_a_symbolic_ref_planted_in_place_of_ours_is_not_followed(space: RepoSpace) -> None:
    """Moving the integration branch never moves the branch that an agent made it point at."""
    refs, old = space.refs(), space.head()
    new = space.git("commit-tree", "HEAD^{tree}", "-p", old, "-m", "x")
    space.git("symbolic-ref", "refs/heads/baton/c", "refs/heads/main")
    refs.transaction([RefUpdate("refs/heads/baton/c", new, old)])
    assert refs.get("refs/heads/main") == old
    assert refs.get("refs/heads/baton/c") == new


def test_a_hook_that_refuses_does_not_see_our_transactions(space: RepoSpace) -> None:
    hook = space.top / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {space.folder}/RAN\nexit 1\n")
    hook.chmod(0o755)
    space.refs().create("refs/baton/test/x", space.head())
    assert not (space.folder / "RAN").exists()


def test_a_locked_ref_is_an_error_that_says_so_until_the_stale_lock_is_removed(space: RepoSpace) -> None:
    """A young lock is somebody's; an old one on our refs is removed; one on a user's branch never."""
    refs, head = space.refs(), space.head()
    ours, users = space.top / ".git/refs/heads/baton/c.lock", space.top / ".git/refs/heads/main.lock"
    deep = space.top / ".git/refs/baton/receipts/c/1.1.lock"
    for lock in (ours, users, deep):
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    with pytest.raises(GitError, match="remove the lock file"):
        refs.create("refs/heads/baton/c", head)
    prefixes = ("refs/heads/baton/c", "refs/baton/")
    assert refs.remove_stale_locks(prefixes, older_than=60) == ()
    past = time.time() - 120
    for lock in (ours, users, deep):
        os.utime(lock, (past, past))
    assert refs.remove_stale_locks(prefixes, older_than=60) == ("refs/baton/receipts/c/1.1", "refs/heads/baton/c")
    refs.create("refs/heads/baton/c", head)
    assert users.exists()


def test_parked_work_of_one_commit_has_one_name() -> None:
    assert kept_ref("a1", "f" * 40) == "refs/baton/kept/a1/ffffffffffffffff"


def test_attempt_numbers_are_read_from_refs(space: RepoSpace) -> None:
    """By task, as numbers: 10 comes after 9; other changes and foreign names do not count."""
    refs, head = space.refs(), space.head()
    for name in (attempt_ref("c", "1.1", 9), attempt_ref("c", "1.1", 10), attempt_ref("c", "1.2", 1)):
        refs.create(name, head)
    refs.create(attempt_ref("other", "1.1", 3), head)
    refs.create("refs/baton/attempts/c/1.1/note", head)
    assert refs.attempts("c") == {"1.1": (9, 10), "1.2": (1,)}
