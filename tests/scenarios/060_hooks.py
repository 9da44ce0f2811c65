"""The policy's hooks in a build: where they run, what they know, what their failure means."""

from tests.scenarios.space import POLICY, Space

PLAN = "- [ ] 1.1 Write one\n"


def _policy(space: Space, **hooks: str) -> str:
    said = f'$BATON_TASK_ID $PWD $BATON_WORKTREE >> "{space.root}/hooks"'
    lines = "".join(f"  {name}: echo {name} {said}{then}\n" for name, then in hooks.items())
    return POLICY.replace("verify:\n", f"hooks:\n{lines}verify:\n")


def _said(space: Space) -> list[str]:
    file = space.root / "hooks"
    lines = file.read_text().splitlines() if file.exists() else []
    for line in lines:
        _, task, here, worktree = line.split(" ")
        assert task == "demo:1.1"
        assert here == worktree
    return [line.split(" ")[0] for line in lines]


def test_hooks_frame_an_attempt_and_the_life_of_its_worktree(space: Space) -> None:
    """after_create only for a new worktree, before_run and after_run for every attempt, before_remove by clean."""
    policy = _policy(space, after_create="", before_run="", after_run="", before_remove="")
    space.start(PLAN, policy=policy)
    space.run()
    assert _said(space) == ["after_create", "before_run", "after_run"]
    space.baton("redo", "1.1")
    space.run()
    assert _said(space)[3:] == ["before_run", "after_run"]
    assert space.baton("clean", "--yes", "--hours", "0").code == 0
    assert _said(space)[5:] == ["before_remove"]


def test_a_hook_that_fails_before_the_agent_pays_none(space: Space) -> None:
    """The failure is the attempt's; after_run runs all the same, for the worktree exists."""
    space.start(PLAN, policy=_policy(space, before_run="; exit 3", after_run="; exit 4"))
    done = space.run(code=1)
    assert "hooks.before_run failed (exit 3)" in done.out
    assert _said(space) == ["before_run", "after_run"] * 2
    assert space.agent_turns() == {}
