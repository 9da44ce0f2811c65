"""``baton lint``: everything at once, errors apart from warnings."""

import pytest

from tests.cli.conftest import World


def test_a_sound_repository_has_nothing_to_mend(world: World) -> None:
    """No finding, exit code 0."""
    assert world.ok("lint") == "1 plan checked: 0 errors, 0 warnings\n"


def test_errors_of_policy_and_plans_come_together(world: World) -> None:
    """A wrong policy does not hide what is wrong in the plans."""
    world.write("WORKFLOW.md", "---\nagent: {max_attempts: none}\n---\n")
    world.write("tasks/demo/tasks.md", "- [ ] 1.1 One\n- [ ] 1.1 Two\n")
    done = world.call("lint")
    assert done.code == 4
    assert "error: WORKFLOW.md:2: " in done.out
    assert "tasks/demo/tasks.md:2: task 1.1 appears twice" in done.out


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("# nothing\n", "tasks/demo/tasks.md"),
        ("- [ ] 1.1 One (depends on 9.9)\n", "9.9"),
        ("- [ ] 1.1 A (depends on 1.2)\n- [ ] 1.2 B (depends on 1.1)\n", "1.1"),
    ],
)
def test_a_plan_that_cannot_be_built_is_an_error(world: World, plan: str, expected: str) -> None:
    """No box, an unknown blocker, a cycle: each is an error with its place."""
    world.write("tasks/demo/tasks.md", plan)
    done = world.call("lint")
    assert done.code == 4
    assert expected in done.out
    assert "1 error, " in done.out


def test_a_warning_alone_does_not_fail(world: World) -> None:
    """What is odd but has one meaning is said, and the exit code stays 0."""
    world.write("WORKFLOW.md", "---\nverify: {commands: ['true'], tiemout: 3}\n---\n")
    text = world.ok("lint")
    assert "warning: WORKFLOW.md:2: " in text
    assert "0 errors, 1 warning\n" in text


def test_unproven_tasks_are_one_error_for_the_plan(world: World) -> None:
    """Tasks without any command are named together; what is ticked, held or for people needs none."""
    world.write("WORKFLOW.md", "---\nverify: {commands: []}\n---\n")
    plan = "- [x] 1.1 A\n- [~] 1.2 B\n- [ ] 1.3 C (manual)\n- [ ] 1.4 D\n- [ ] 1.5 E <!-- verify: true -->\n"
    world.write("tasks/demo/tasks.md", plan)
    done = world.call("lint")
    assert done.code == 4
    assert "no verification command for 1.4 (line 4); add verify.commands" in done.out


def test_unproven_tasks_are_allowed_where_the_policy_says_so(world: World) -> None:
    """``verify.required: false`` is the way out."""
    world.write("WORKFLOW.md", "---\nverify: {required: false}\n---\n")
    world.ok("lint")


def test_without_a_policy_the_defaults_hold(empty: World) -> None:
    """A repository without WORKFLOW.md and plans has nothing wrong in it; the service asks for the file."""
    assert empty.ok("lint") == "0 plans checked: 0 errors, 0 warnings\n"
    assert "WORKFLOW.md" in empty.call("lint", "--service").out
    assert empty.call("lint", "--service").code == 4


def test_a_worktree_root_in_the_repository_must_be_ignored(world: World) -> None:
    """Git is asked whether it ignores ``workspace.root``: only then it may lie inside."""
    world.write("WORKFLOW.md", "---\nverify: {commands: ['true']}\nworkspace: {root: .trees}\n---\n")
    assert "does not ignore it" in world.ok("lint")
    world.write(".gitignore", ".trees/\n")
    assert world.ok("lint") == "1 plan checked: 0 errors, 0 warnings\n"


def test_named_changes_alone_are_checked(world: World) -> None:
    """A change that is not named may be broken."""
    world.write("tasks/broken/tasks.md", "no box\n")
    assert world.ok("lint", "demo") == "1 plan checked: 0 errors, 0 warnings\n"
    assert "there is no change dem;" in world.refused(4, "lint", "dem")


def test_a_policy_that_can_be_read_still_judges_the_plans(world: World) -> None:
    """A missing program is an error of its own; what the policy says of plans holds nevertheless."""
    world.write("WORKFLOW.md", "---\nverify: {commands: []}\nagent: {kind: terminal}\n---\n")
    done = world.call("lint")
    assert done.code == 4
    assert "terminal.command is missing" in done.out
    assert "no verification command for 1.1" in done.out


def test_an_agent_that_no_one_has_is_an_error_at_the_line_of_its_task(world: World) -> None:
    """The directive is in the plan, so that is where it is mended; what is ticked needs no agent."""
    directive = "<!-- baton: agent=comand -->"
    world.write("tasks/demo/tasks.md", f"- [ ] 1.1 A\n- [x] 1.2 B {directive}\n- [ ] 1.3 C {directive}\n")
    done = world.call("lint")
    assert done.code == 4
    expected = "tasks/demo/tasks.md:3: task 1.3 asks for the agent comand, which there is not; did you mean command?"
    assert expected in done.out
    assert "1.2" not in done.out


@pytest.mark.parametrize("kind", ["copilot", "session"])
def test_a_kind_without_an_adapter_is_a_warning(world: World, kind: str) -> None:
    """The policy is sound, but no build can run with it."""
    world.write("WORKFLOW.md", f"---\nagent: {{kind: {kind}}}\nverify: {{commands: ['true']}}\n---\n")
    assert f"warning: WORKFLOW.md: agent.kind: {kind} has no adapter yet" in world.ok("lint")


def test_a_ceiling_in_dollars_with_an_agent_that_reports_no_cost_is_an_error(world: World) -> None:
    """A run would be refused; the way out is in the policy."""
    policy = "---\nagent: {kind: command}\ncommand: {run: 'true'}\nverify: {commands: ['true']}\nbudget: {task_usd: 2}\n---\n"
    world.write("WORKFLOW.md", policy)
    done = world.call("lint")
    assert done.code == 4
    assert "WORKFLOW.md: budget.task_usd: agent command reports no cost" in done.out
    world.write("WORKFLOW.md", policy.replace("task_usd: 2", "task_usd: 2, unmetered: allow"))
    world.ok("lint")


def test_a_change_that_takes_the_name_of_all_is_a_warning(world: World) -> None:
    """With doit it would be built alone where everything is meant."""
    world.write("tasks/baton/tasks.md", "- [ ] 1.1 A\n")
    assert "tasks/baton/tasks.md: `doit baton` builds this change alone instead of all" in world.ok("lint")
