"""What may be lost without losing finished work: all of .baton, the ticks, the ref or the file of a receipt."""

import shutil

import pytest

from tests.scenarios.space import Space

PLAN = "## 1. One\n\n- [ ] 1.1 Write one\n\n## 2. Two\n\n- [ ] 2.1 Write two\n"


@pytest.fixture
def built(space: Space) -> Space:
    space.start(PLAN)
    space.run()
    return space


def test_all_of_baton_may_be_deleted(built: Space) -> None:
    """Property 2: receipts come back from their refs; nothing is worked on again, looking works before that."""
    shutil.rmtree(built.repo / ".baton")
    assert set(built.states().values()) == {"resolved"}
    assert "up to date" in built.run().out
    assert sum(built.agent_turns().values()) == 2
    assert (built.repo / ".baton" / "receipts" / "demo" / "1.1.json").exists()


def test_ticks_lost_by_a_stash_come_back(built: Space) -> None:
    """The box is a projection of the receipt."""
    built.git("stash", "--quiet")
    assert "[x]" not in built.plan()
    done = built.run("-v")
    assert built.plan().count("[x]") == 2
    assert sum(built.agent_turns().values()) == 2
    assert "1.1" in done.out


def test_a_fresh_clone_that_fetches_the_refs_runs_nothing(built: Space) -> None:
    """The proof travels with git."""
    built.commit("ticks")
    clone = built.root / "clone"
    built.git("clone", "--quiet", str(built.repo), str(clone), cwd=built.root)
    built.git("fetch", "--quiet", "origin", "refs/baton/*:refs/baton/*", "baton/demo:baton/demo", cwd=clone)
    done = built.baton("run", cwd=clone)
    assert (done.code, "up to date" in done.out) == (0, True), done.text
    assert sum(built.agent_turns().values()) == 2


@pytest.mark.parametrize("harm", ["flip", "cut", "other"])
def test_a_changed_receipt_is_noticed_and_mended(built: Space, harm: str) -> None:
    """Promise 2: no byte of a proof changes unnoticed."""
    file = built.repo / ".baton" / "receipts" / "demo" / "1.1.json"
    data = file.read_bytes()
    other = file.with_name("2.1.json").read_bytes()
    file.write_bytes({"flip": data.replace(b"1", b"2", 1), "cut": data[:-2], "other": other}[harm])
    assert built.baton("verify").code == 1
    built.run()
    assert file.read_bytes() == data
    assert built.baton("verify").code == 0
    assert sum(built.agent_turns().values()) == 2


def test_a_deleted_branch_comes_back_without_an_agent(built: Space) -> None:
    """What is not integrated any more is merged and verified again from the attempts' commits."""
    built.git("branch", "--quiet", "-D", "baton/demo")
    assert set(built.states().values()) == {"not_integrated"}
    built.run()
    assert built.git("show", "baton/demo:2.1.txt") == "done\n"
    assert sum(built.agent_turns().values()) == 2
