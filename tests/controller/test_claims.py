"""Claims: one winner a task, all resources or none, and what a dead owner left running is ended."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from baton_runner.base.locks import Lock
from baton_runner.base.marked import MARKER, processes_marked
from baton_runner.controller.claims import Claims, Denied, Resources

HOLDER = """\
import sys
from pathlib import Path
from baton_runner.controller.claims import Claims
with Claims(Path(sys.argv[1]), "demo", sys.argv[2]).claim("1.1", ["db"], "demo:1.1") as denied:
    print(denied, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    return Claims(tmp_path, "demo", f"test-{tmp_path.name}-{os.getpid()}")


def _holder(claims: Claims, locks: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(locks), claims.marker("").rpartition("/")[0]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "None\n"
    return process


def test_a_task_has_one_winner_who_is_named(claims: Claims, tmp_path: Path) -> None:
    with claims.claim("1.1", (), "first") as denied:
        assert denied is None
        with Claims(tmp_path, "demo", "p").claim("1.1", (), "second") as second:
            assert second == Denied("1.1", f"process {os.getpid()} (first)")
        assert claims.owners(["1.1", "1.2"]) == {"1.1": f"process {os.getpid()} (first)"}
    assert claims.owners(["1.1", "1.2"]) == {}
    with claims.claim("1.1", (), "third") as denied:
        assert denied is None


def test_changes_do_not_share_tasks_but_resources(claims: Claims, tmp_path: Path) -> None:
    other = Claims(tmp_path, "other", "p")
    with claims.claim("1.1", ["db"], "mine"):
        with other.claim("1.1", (), "theirs") as denied:
            assert denied is None
        with other.claim("1.1", ["db"], "theirs") as denied:
            assert denied == Denied("resource db", f"process {os.getpid()} (mine)")


def test_a_denied_resource_gives_back_all_that_was_taken(claims: Claims, tmp_path: Path) -> None:
    """All or none: nobody holds a task while it waits for a port."""
    resources = Resources(tmp_path)
    with resources.held(["port"], "somebody"):
        with claims.claim("1.1", ["db", "port"], "mine") as denied:
            assert denied is not None
            assert denied.what == "resource port"
        assert claims.owner("1.1") == ""
        assert not resources.lock("db", "").is_taken()


def test_a_claim_ends_with_its_process_and_the_next_owner_ends_what_that_left(claims: Claims, tmp_path: Path) -> None:
    """Promise 5: no process of an agent outlives its assignment, also when the harness was killed."""
    holder = _holder(claims, tmp_path)
    left = subprocess.Popen(["sleep", "600"], env={**os.environ, MARKER: claims.marker("1.1")})
    other = subprocess.Popen(["sleep", "600"], env={**os.environ, MARKER: claims.marker("1.2")})
    try:
        assert claims.owner("1.1") == f"process {holder.pid} (demo:1.1)"
        with claims.claim("1.1", (), "early") as denied:
            assert isinstance(denied, Denied)
        assert left.poll() is None
        holder.kill()
        holder.communicate()
        assert claims.owner("1.1") == ""
        with claims.claim("1.1", (), "next") as denied:
            assert denied is None
            assert left.wait(20) != 0
            assert processes_marked(claims.marker("1.1")) == ()
            assert other.poll() is None
    finally:
        for process in (holder, left, other):
            process.kill()
            process.wait()
        for stream in (holder.stdin, holder.stdout):
            if stream is not None:
                stream.close()


def test_tasks_with_hostile_names_have_locks_of_their_own(claims: Claims, tmp_path: Path) -> None:
    with claims.claim("../../x", (), "one"), claims.claim("x", (), "two") as denied:
        assert denied is None
        assert set(claims.owners(["../../x", "x"])) == {"../../x", "x"}
    assert all(path.is_relative_to(tmp_path) for path in tmp_path.rglob("*.lock"))
    assert Lock(tmp_path / "tasks" / "demo" / "x.lock").owner() is None
