"""An agent that rewrites its judges is red, unless its task allows it."""

from tests.scenarios.space import POLICY, Space

POLICY_WITH_TESTS = POLICY.replace("verify:\n", "verify:\n  protect: ['tests/**']\n")


def _start(space: Space, plan: str) -> None:
    space.write("tests/test_one.sh", "exit 1\n")
    space.start(plan, policy=POLICY_WITH_TESTS)
    space.script("1.1", 'echo "exit 0" > tests/test_one.sh; echo more > tests/test_two.sh; echo x > 1.1.txt')


def test_a_weakened_test_is_red_and_goes_back_to_the_agent(space: Space) -> None:
    _start(space, "- [ ] 1.1 Write one\n")
    done = space.run(code=1)
    assert "tests/test_one.sh" in done.out
    assert "tests/test_two.sh" not in done.out
    assert space.merged_tasks() == {}
    assert space.agent_turns()["demo:1.1"] > 1


def test_a_task_may_be_allowed_to_change_them(space: Space) -> None:
    _start(space, "- [ ] 1.1 Write one <!-- baton: protect=off -->\n")
    space.run()
    assert space.git("show", "baton/demo:tests/test_one.sh") == "exit 0\n"
