"""What users do to their repository meanwhile: a checked-out branch, a gc, a deleted .baton, a stop in good order."""

import shutil
import signal
import time
from pathlib import Path

import psutil

from tests.scenarios.space import POLICY, Space


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_checked_out_branch_is_not_moved_and_pays_no_agent(space: Space) -> None:
    """Known before anybody is paid; the exit code says that a person must act."""
    space.start("- [ ] 1.1 One\n- [ ] 1.2 Two\n")
    space.run("1.1")
    space.git("worktree", "add", "--quiet", str(space.root / "other"), "baton/demo")
    for _ in range(2):
        done = space.run(code=1)
        assert str(space.root / "other") in done.text
    assert "demo:1.2" not in space.agent_turns()
    space.git("worktree", "remove", str(space.root / "other"))
    space.run()


def test_work_verified_while_the_branch_was_checked_out_waits(space: Space) -> None:
    """The agent is not paid again: its commit is merged and verified when the branch is free."""
    space.start("- [ ] 1.1 One\n- [ ] 1.2 Two\n")
    space.run("1.1")
    space.script(
        "1.2", f'cd "{space.repo}" && git worktree add -q "$SPACE/other" baton/demo; cd "$OLDPWD"; touch 1.2.txt'
    )
    space.run(code=1)
    assert space.states()["1.2"] == "not_integrated"
    space.git("worktree", "remove", "--force", str(space.root / "other"))
    space.run()
    assert space.agent_turns() == {"demo:1.1": 1, "demo:1.2": 1}
    assert set(space.states().values()) == {"resolved"}


def test_a_stop_in_good_order_keeps_what_an_agent_had_finished(space: Space) -> None:
    """Ctrl-C while the checks run loses no more than kill -9 does: the next run verifies, and pays nobody."""
    checking = f'[ ! -e one.txt ] || {{ touch "{space.root}/checking"; [ -e "{space.root}/go" ] || sleep 30; }}'
    space.start("- [ ] 1.1 One\n", policy=POLICY.replace('["true"]', f"['{checking}']"))
    space.script("1.1", "touch one.txt")
    process = space.spawn("run")
    _wait_for(space.root / "checking")
    process.send_signal(signal.SIGINT)
    assert space.ended(process).code == 2
    (space.root / "go").touch()
    space.run()
    assert space.agent_turns() == {"demo:1.1": 1}
    space.check_nothing_left()


def test_a_gc_in_the_middle_of_the_work_harms_nothing(space: Space) -> None:
    """Objects move into packs while they are made durable."""
    plan = "".join(f"- [ ] 1.{n} Write {n}\n" for n in range(1, 7))
    space.start(plan)
    for n in range(1, 7):
        space.script(f"1.{n}", f"echo {n} > {n}.txt; git add -A; git commit -qm w; git gc -q 2>/dev/null; exit 0")
    space.run("-n", "3")
    assert len(space.merged_tasks()) == 6
    assert sum(space.agent_turns().values()) == 6


def test_a_receipt_ref_whose_object_was_lost_is_mended(space: Space) -> None:
    """From the file, which is whole; git gc works again."""
    space.start("- [ ] 1.1 One\n")
    space.run()
    blob = space.git("rev-parse", "refs/baton/receipts/demo/1.1").strip()
    (space.repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    shutil.rmtree(space.repo / ".baton" / "answers", ignore_errors=True)
    space.run()
    space.git("cat-file", "-e", blob)
    space.check_nothing_left()


def test_baton_deleted_in_the_middle_of_a_run_costs_nothing(space: Space) -> None:
    """Everything in it can be deleted, at any time."""
    plan = "".join(f"- [ ] 1.{n} Write {n}\n" for n in range(1, 7))
    space.start(plan)
    space.script("1.2", f'rm -rf "{space.repo}/.baton"; echo two > 2.txt')
    assert space.baton("run", "-n", "2").code in {0, 1}  # a git call of ours may stand in it at that very moment
    space.run("-n", "2")
    assert len(space.merged_tasks()) == 6
    assert max(space.agent_turns().values()) == 1
    shutil.rmtree(space.repo / ".baton")
    (space.repo / ".baton").write_text("in the way")
    assert "is not a folder" in space.run(code=4).err


def test_a_process_that_hid_itself_goes_with_the_run(space: Space) -> None:
    """Own session, no parent, no environment: adopted, found and ended (promise 5)."""
    space.start("- [ ] 1.1 One\n")
    space.script("1.1", "(setsid env -i sh -c 'sleep 5023.7; :' &); sleep 0.3; touch 1.1.txt")
    space.run()
    assert not [
        each for each in psutil.process_iter(["cmdline"]) if "sleep 5023.7" in " ".join(each.info["cmdline"] or ())
    ]


def test_a_repository_without_a_commit_in_the_work_goes_back_to_the_agent(space: Space) -> None:
    """It is told what is in the way, in words."""
    space.start("- [ ] 1.1 One\n")
    space.script(
        "1.1", 'if [ "$BATON_TURN" = 1 ]; then mkdir n; git -C n init -q; touch n/x 1.1.txt; else rm -rf n; fi'
    )
    space.run()
    assert space.agent_turns() == {"demo:1.1": 2}


def test_a_change_of_the_shared_configuration_is_reported(space: Space) -> None:
    """Nothing of it runs in our calls; whoever reads the summary learns of it."""
    space.start("- [ ] 1.1 One\n")
    space.script("1.1", "git config core.fsmonitor /bin/true; touch 1.1.txt")
    done = space.run()
    assert "shared configuration was changed" in done.out


def test_a_template_that_cannot_be_rendered_stops_before_anything_is_paid(space: Space) -> None:
    """The policy's fault, told once, with the exit code of a policy that is not understood."""
    space.start("- [ ] 1.1 One\n- [ ] 1.2 Two\n", policy=POLICY + "\nDo {{ nosuch }}\n")
    done = space.run(code=4)
    assert done.err.count("nosuch") == 1
    assert space.agent_turns() == {}


def test_finish_brings_nothing_red_into_the_users_branch(space: Space) -> None:
    """Also --partial: what somebody pushed onto the integration branch is verified like everything else."""
    space.start("- [ ] 1.1 One. Verify: `test ! -e broken`\n- [ ] 1.2 Two\n")
    space.run("1.1")
    space.git("worktree", "add", "--quiet", str(space.root / "other"), "baton/demo")
    (space.root / "other" / "broken").touch()
    space.git("add", "broken", cwd=space.root / "other")
    space.git("commit", "--quiet", "-m", "foreign", cwd=space.root / "other")
    space.git("worktree", "remove", str(space.root / "other"))
    done = space.baton("finish", "--partial")
    assert (done.code, "test ! -e broken" in done.err) == (1, True), done.text
    assert not (space.repo / "broken").exists()
    space.git("branch", "--quiet", "--force", "baton/demo", "baton/demo~1")
    assert space.baton("finish", "--partial").code == 0
    assert (space.repo / "1.1.txt").exists()
