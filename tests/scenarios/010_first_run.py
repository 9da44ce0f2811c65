"""A plan is built, and built again for nothing."""

from tests.scenarios.space import Space

PLAN = """\
# Demo

## 1. First

- [ ] 1.1 Write one. Verify: `test -f 1.1.txt`
- [ ] 1.2 Write two
  - [ ] with a step

## 2. Second

- [ ] 2.1 Write three. Verify: `test -f 1.1.txt && test -f 2.1.txt`
"""


def test_a_plan_becomes_verified_integrated_ticked_work(space: Space) -> None:
    """Every task done once, merged once, ticked; the user's checkout differs by its ticks only."""
    space.start(PLAN)
    config = space.read(".git/config")
    space.run()
    assert space.agent_turns() == {"demo:1.1": 1, "demo:1.2": 1, "demo:2.1": 1}
    assert space.merged_tasks() == {"demo:1.1": 1, "demo:1.2": 1, "demo:2.1": 1}
    assert space.plan() == PLAN.replace("[ ]", "[x]")
    assert space.git("status", "--porcelain").split() == ["M", "tasks/demo/tasks.md"]
    assert space.git("show", "baton/demo:2.1.txt") == "done\n"
    assert "tasks.md" not in space.git("diff", "--name-only", "main", "baton/demo")
    assert space.read(".git/config") == config
    assert set(space.states().values()) == {"resolved"}
    space.check_nothing_left()


def test_a_rerun_does_nothing_and_says_so(space: Space) -> None:
    """The second run finds everything proven: no agent, no check, no new commit, no changed file."""
    space.start(PLAN)
    space.run()
    tip, plan = space.git("rev-parse", "baton/demo"), space.plan()
    again = space.run()
    assert "up to date" in again.out
    assert sum(space.agent_turns().values()) == 3
    assert (space.git("rev-parse", "baton/demo"), space.plan()) == (tip, plan)


def test_a_merge_commit_names_its_proof(space: Space) -> None:
    """Trailers lead from a commit to the task, the receipt's seal and the packet."""
    space.start(PLAN)
    space.run()
    trailers = space.git("log", "-1", "--format=%(trailers:only)", "baton/demo")
    assert "Baton-Task: demo:2.1" in trailers
    seal = space.git("cat-file", "blob", "refs/baton/receipts/demo/2.1").partition('"seal":"')[2][:71]
    assert f"Baton-Receipt: {seal}" in trailers
    assert "Baton-Packet: sha256:" in trailers


def test_an_edited_task_is_redone_and_what_builds_on_it_is_verified_again(space: Space) -> None:
    """An edit costs what changed: the agent works on one task, its dependant is only checked."""
    space.start(PLAN)
    space.run()
    space.script("1.1", "echo better > 1.1.txt")
    space.edit_plan("Write one.", "Write one better.")
    space.run()
    assert space.agent_turns() == {"demo:1.1": 2, "demo:1.2": 1, "demo:2.1": 1}
    assert space.git("show", "baton/demo:1.1.txt") == "better\n"
    assert set(space.states().values()) == {"resolved"}


def test_a_rewording_that_needs_no_change_leaves_dependants_alone(space: Space) -> None:
    """Early cutoff: the outcome keeps its bytes, so nothing that builds on it is touched."""
    space.start(PLAN)
    space.run()
    outcome = space.read(".baton/outcomes/demo/1.1.json")
    receipt = space.read(".baton/receipts/demo/2.1.json")
    space.edit_plan("Write one.", "Write one, please.")
    space.run()
    assert space.agent_turns()["demo:1.1"] == 2
    assert space.read(".baton/outcomes/demo/1.1.json") == outcome
    assert space.read(".baton/receipts/demo/2.1.json") == receipt


def test_a_red_check_goes_back_to_the_agent_with_its_output(space: Space) -> None:
    """The second turn of the same attempt gets the red command, and repairs it."""
    space.start("- [ ] 1.1 Write one. Verify: `cat good.txt`\n")
    space.script("1.1", 'if [ "$BATON_TURN" = 1 ]; then echo x > bad.txt; else cat > prompt.txt; echo x > good.txt; fi')
    space.run()
    assert space.agent_turns() == {"demo:1.1": 2}
    prompt = space.git("show", "baton/demo:prompt.txt")
    assert "cat good.txt" in prompt
    assert "No such file" in prompt


def test_work_that_stays_red_is_not_merged(space: Space) -> None:
    """Turns and attempts end; the failure names the command, the work is kept, the exit code is 1."""
    space.start("- [ ] 1.1 Write one. Verify: `cat good.txt`\n")
    done = space.run(code=1)
    assert "cat good.txt" in done.out
    assert "No such file" in done.out
    assert space.merged_tasks() == {}
    assert space.states() == {"1.1": "failed"}
    assert "[ ]" in space.plan()


def test_an_agent_that_changes_nothing_fails_at_once(space: Space) -> None:
    """Exit 0 is not work: no change, no retry."""
    space.start("- [ ] 1.1 Write one\n")
    space.script("1.1", "true")
    done = space.run(code=1)
    assert "changed nothing" in done.out
    assert space.agent_turns() == {"demo:1.1": 1}


def test_a_red_base_pays_no_agent(space: Space) -> None:
    """Tests that were red before anything ran stop the run before the first agent."""
    space.start(
        PLAN,
        policy='---\nagent: {kind: command, env: [SPACE]}\ncommand: {run: sh "$SPACE/agent.sh"}\nverify: {commands: ["false"]}\n---\n',
    )
    done = space.run(code=1)
    assert "red before any work" in done.text
    assert space.agent_turns() == {}
