"""Agents that lie, hang, wander or leave things running."""

import sys
import time

import psutil

from tests.scenarios.space import POLICY, Space

PLAN = "- [ ] 1.1 Write one. Verify: `test -f 1.1.txt`\n"
QUICK = POLICY.replace("{run: sh", "{stall_timeout_ms: 700, run: sh")


def test_uncommitted_work_is_committed_for_the_agent(space: Space) -> None:
    """Nothing an agent wrote is dropped, untracked files included."""
    space.start(PLAN)
    space.script("1.1", "mkdir -p deep; echo a > deep/a; echo b > 1.1.txt")
    space.run()
    assert space.git("show", "baton/demo:deep/a") == "a\n"


def test_an_agent_that_ticks_its_own_box_is_judged_on_its_work(space: Space) -> None:
    """Changes to the plan are left behind; history never touches it."""
    space.start(PLAN)
    space.script(
        "1.1",
        "sed -i 's/\\[ \\]/[x]/' tasks/demo/tasks.md; git commit -qam tick; echo more >> tasks/demo/tasks.md; touch 1.1.txt",
    )
    space.run()
    assert "tasks/demo/tasks.md" not in space.git("log", "--name-only", "--format=", "main..baton/demo")
    assert space.plan() == PLAN.replace("[ ]", "[x]")


def test_a_silent_agent_is_stalled_ended_and_tried_again(space: Space) -> None:
    """A hang ends; the second attempt hangs too; then it failed."""
    space.start(PLAN, policy=QUICK)
    space.script("1.1", "sleep 60")
    started = time.monotonic()
    done = space.run(code=1)
    assert time.monotonic() - started < 30
    assert "stalled" in done.out
    assert space.agent_turns() == {"demo:1.1": 2}


def test_a_daemon_left_behind_is_ended_and_holds_nothing_up(space: Space) -> None:
    """Promise 5: no process of an agent outlives its assignment."""
    space.start(PLAN)
    space.script("1.1", 'touch 1.1.txt; setsid sleep 1000 & echo $! > "$SPACE/pid"')
    space.run()
    pid = int((space.root / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, "only init may reap it"


def test_inside_an_assignment_nothing_of_ours_schedules(space: Space) -> None:
    """An agent that calls baton gets one clear refusal, and is judged on its work otherwise."""
    space.start(PLAN)
    space.script(
        "1.1", f'{sys.executable} -m baton_runner run > "$SPACE/said" 2>&1; echo $? >> "$SPACE/said"; touch 1.1.txt'
    )
    space.run()
    said = (space.root / "said").read_text()
    assert said.endswith("\n4\n")
    assert "assignment" in said


def test_a_flood_on_one_line_is_cut_and_marked(space: Space) -> None:
    """Bounded logs, bounded memory."""
    space.start(PLAN)
    space.script("1.1", "head -c 50000000 /dev/zero | tr '\\0' x; touch 1.1.txt")
    space.run()
    size = sum(path.stat().st_size for path in (space.repo / ".baton" / "logs").rglob("*") if path.is_file())
    assert size < 25_000_000


def test_what_an_agent_plants_in_the_shared_config_does_not_run(space: Space) -> None:
    """Threat 5: a marker file would be made by our own git calls."""
    space.start("- [ ] 1.1 Write one\n- [ ] 1.2 Write two (after 1.1)\n")
    trap = f'touch "{space.root}/trapped"'
    space.script(
        "1.1",
        f"git config core.fsmonitor '{trap}'; git config core.hooksPath '{space.root}/hooks'; mkdir -p \"{space.root}/hooks\";"
        f" printf '#!/bin/sh\\n%s\\n' '{trap}' > \"{space.root}/hooks/pre-commit\"; chmod +x \"{space.root}/hooks/pre-commit\"; touch 1.1.txt",
    )
    space.run()
    assert not (space.root / "trapped").exists()


def test_secrets_of_the_policy_are_cut_out_of_everything_kept(space: Space) -> None:
    """Promise 5: the agent's token reaches the agent, and no log, receipt or error."""
    policy = POLICY.replace("env: [SPACE]", "env: [SPACE], token: $AGENT_TOKEN")
    space.start(PLAN, policy=policy)
    space.environ["AGENT_TOKEN"] = "hush-hush-4711"
    space.script("1.1", 'echo "my token is $GITHUB_TOKEN"; printf "%s" "$GITHUB_TOKEN" | wc -c > 1.1.txt')
    done = space.run("-v")
    assert space.git("show", "baton/demo:1.1.txt").strip() == "14"
    kept = [path for path in (space.repo / ".baton").rglob("*") if path.is_file()]
    assert not [path for path in kept if b"hush-hush" in path.read_bytes()]
    assert "hush-hush" not in done.text


def test_an_agent_that_writes_the_same_into_the_users_checkout_fails(space: Space) -> None:
    """By absolute path: named, left alone by us, and nothing of it is merged."""
    space.start(PLAN)
    space.script("1.1", f'echo same > 1.1.txt; cp 1.1.txt "{space.repo}/1.1.txt"')
    done = space.run(code=1)
    assert "wrote into your checkout" in done.out
    assert (space.repo / "1.1.txt").read_text() == "same\n"
    assert space.merged_tasks() == {}


def test_other_changes_of_the_users_checkout_are_a_warning(space: Space) -> None:
    """It may have been the user: the work counts, the files are named, the ticks are not."""
    space.start(PLAN)
    space.script("1.1", f'touch 1.1.txt; echo x > "{space.repo}/notes.txt"')
    done = space.run()
    assert "files of your checkout changed during the run: notes.txt" in done.out
