"""``baton run`` from the inside: what is chosen, worked on, tried again, told, and how it ends."""

import os
from dataclasses import replace

import pytest

from baton_runner.base.errors import NothingCollected, PlanError, UsageError
from baton_runner.base.locks import Lock
from baton_runner.build.report.values import ExitCode, TaskEnd
from baton_runner.build.scope import Request
from baton_runner.build.selection import Selection
from baton_runner.controller.claims import Resources
from baton_runner.controller.controller import Controller
from tests.build.recording import BuildSpace, Recorder
from tests.scenarios.space import POLICY

PLAN = "## 1. A\n- [ ] 1.1 First\n- [ ] 1.2 Second\n## 2. B\n- [ ] 2.1 Third\n- [ ] 2.2 Fourth\n"


def test_everything_is_built_once_and_then_nothing(space: BuildSpace) -> None:
    space.start(PLAN)
    first = space.build()
    assert (first.exit_code, first.counts) == (ExitCode.DONE, {"resolved": 4})
    assert [closing.closing.green for closing in first.closings] == [True]
    second = space.build()
    assert (second.exit_code, second.counts, len(second.kept)) == (ExitCode.DONE, {}, 4)
    assert space.agent_turns() == {f"demo:{key}": 1 for key in ("1.1", "1.2", "2.1", "2.2")}


def test_what_a_target_waits_for_runs_too(space: BuildSpace) -> None:
    space.start(PLAN)
    space.build("demo:2.1")
    assert space.words() == {"demo:1.1": "resolved", "demo:1.2": "resolved", "demo:2.1": "resolved"}


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(("1.2",)), {"1.2"}),
        (Selection(("demo:1.*",)), {"1.1", "1.2"}),
        (Selection(("d*",)), {"1.1", "1.2", "2.1", "2.2"}),
        (Selection((), "first or SECOND"), {"1.1", "1.2"}),
        (Selection(("demo",), "not third and not fourth and not 1.1"), {"1.2"}),
    ],
)
def test_targets_globs_and_expressions_choose(space: BuildSpace, selection: Selection, expected: set[str]) -> None:
    space.start(PLAN)
    space.build(request=Request(selection=selection))
    assert set(space.words()) == {f"demo:{key}" for key in expected}


@pytest.mark.parametrize(
    ("targets", "kind"),
    [(("demo:9.9",), UsageError), (("other",), UsageError), (("demo:7.*",), NothingCollected)],
)
def test_a_target_that_names_nothing_is_an_error_and_starts_nothing(
    space: BuildSpace, targets: tuple[str, ...], kind: type[Exception]
) -> None:
    space.start(PLAN)
    with pytest.raises(kind):
        space.build(*targets)
    assert not space.agent_turns()


def test_an_unknown_change_is_named_with_its_neighbour(space: BuildSpace) -> None:
    space.start(PLAN)
    space.start(PLAN, change="other")
    with pytest.raises(UsageError, match="did you mean demo"):
        space.build("demi:1.1")


def test_without_a_change_nothing_is_collected(space: BuildSpace) -> None:
    space.write("WORKFLOW.md", POLICY)
    space.commit()
    with pytest.raises(NothingCollected):
        space.build()


def test_all_changes_are_built_without_a_target(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n", change="demo")
    space.start("- [ ] 1.1 b\n", change="other")
    space.build()
    assert space.words() == {"demo:1.1": "resolved", "other:1.1": "resolved"}


def test_a_failure_is_tried_no_more_in_this_run_and_told_with_its_output(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 First\n  Verify: `echo it is broken; exit 3`\n- [ ] 1.2 Second\n")
    summary = space.build()
    assert summary.exit_code is ExitCode.FAILED
    assert space.words() == {"demo:1.1": "failed", "demo:1.2": "resolved"}
    (failed,) = summary.failures
    assert failed.result.failure is not None
    assert "it is broken" in failed.result.failure.output
    assert len([end for end in space.told.ends if end.name == "demo:1.1"]) == 1


def test_the_first_failure_can_be_the_last(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n  Verify: `false`\n- [ ] 1.2 b\n  Verify: `false`\n")
    summary = space.build(request=Request(workers=1, max_failures=1))
    assert summary.counts == {"failed": 1, "not run": 1}


def test_last_failed_takes_what_failed_and_everything_when_nothing_did(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n  Verify: `test -e ../../../../fixed || test -e $SPACE/fixed`\n- [ ] 1.2 b\n", POLICY)
    space.write(
        "WORKFLOW.md",
        POLICY.replace('commands: ["true"]', 'commands: ["true"]\n  env: {SPACE: "' + str(space.root) + '"}'),
    )
    space.build()
    assert space.words()["demo:1.1"] == "failed"
    (space.root / "fixed").touch()
    again = Request(selection=Selection(last_failed=True))
    space.build(request=again)
    assert space.words() == {"demo:1.1": "resolved"}
    assert space.build(request=again).exit_code is ExitCode.DONE
    assert space.told.headers[0].notes


def test_force_does_what_is_named_again_and_nothing_else(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n- [ ] 1.2 b\n")
    space.script("1.1", "date +%N >> 1.1.txt")
    space.build()
    space.build(request=Request(selection=Selection(("demo:1.1",)), force=True))
    assert space.words() == {"demo:1.1": "resolved"}
    assert space.agent_turns() == {"demo:1.1": 2, "demo:1.2": 1}


def test_a_held_task_needs_a_person_and_lets_nothing_paid_start_after_it(space: BuildSpace) -> None:
    space.start("## 1. A\n- [~] 1.1 a\n## 2. B\n- [ ] 2.1 b\n")
    summary = space.build()
    assert summary.exit_code is ExitCode.FAILED
    assert space.words() == {"demo:1.1": "held", "demo:2.1": "blocked"}
    assert not space.agent_turns()


def test_skip_held_lets_the_others_pass(space: BuildSpace) -> None:
    space.start("## 1. A\n- [~] 1.1 a\n## 2. B\n- [ ] 2.1 b\n")
    summary = space.build(request=Request(skip_held=True))
    assert (summary.exit_code, space.words()) == (ExitCode.DONE, {"demo:1.1": "held", "demo:2.1": "resolved"})


def test_a_follow_up_is_a_persons_and_runs_only_when_it_is_named(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n- [ ] 1.2 Archive the change\n")
    assert space.build().exit_code is ExitCode.DONE
    assert space.agent_turns() == {"demo:1.1": 1}
    space.build("demo:1.2")
    assert space.agent_turns() == {"demo:1.1": 1, "demo:1.2": 1}


def test_a_plan_edited_while_it_runs_is_taken_up(space: BuildSpace) -> None:
    """A task added by a person during the first pass is done in the same run."""
    space.start("- [ ] 1.1 a\n")
    plan = space.repo / "tasks/demo/tasks.md"
    space.script("1.1", f"echo x > 1.1.txt; echo '- [ ] 1.2 b' >> {plan}")
    assert space.build().exit_code is ExitCode.DONE
    assert space.words() == {"demo:1.1": "resolved", "demo:1.2": "resolved"}


def test_a_plan_broken_while_it_runs_ends_the_run_after_its_report(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n")
    plan = space.repo / "tasks/demo/tasks.md"
    space.script("1.1", f"echo x > 1.1.txt; echo '- [ ] 1.2 b (depends on: 9.9)' >> {plan}")
    with pytest.raises(UsageError, match=r"9\.9"):
        space.build()
    assert space.words()["demo:1.1"] == "resolved"


def test_a_task_edited_after_it_failed_is_tried_again_in_the_same_run(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n  Verify: `test -e ok.txt`\n")
    plan = space.repo / "tasks/demo/tasks.md"
    fail = f"echo x >> 1.1.txt; grep -q better {plan} && touch ok.txt; "
    space.script("1.1", fail + f"[ $BATON_ATTEMPT = 2 ] && sed -i 's/1.1 a/1.1 a better/' {plan}; true")
    space.write("WORKFLOW.md", POLICY.replace("kind: command", "kind: command, max_turns: 1"))
    assert space.build().exit_code is ExitCode.DONE
    assert space.told.ends[0].failed
    assert space.words() == {"demo:1.1": "resolved"}


def test_the_closing_check_finds_what_a_later_task_broke(space: BuildSpace) -> None:
    space.start("- [ ] 1.1 a\n  Verify: `test -f 1.1.txt`\n- [ ] 1.2 b (depends on: 1.1)\n")
    space.script("1.2", "git rm -q 1.1.txt; echo x > 1.2.txt")
    summary = space.build()
    assert summary.exit_code is ExitCode.FAILED
    assert [dict(closing.closing.red) for closing in summary.closings] == [{"test -f 1.1.txt": ("1.1",)}]


def test_a_task_without_a_command_is_refused_before_anything_starts(space: BuildSpace) -> None:
    space.start(PLAN, POLICY.replace('commands: ["true"]', "commands: []"))
    with pytest.raises(PlanError, match="4 tasks have no verification command"):
        space.build()
    with pytest.raises(PlanError, match="1 task has no verification command"):
        space.build("1.1")
    assert not space.agent_turns()


def test_a_request_to_stop_is_an_interruption_and_the_next_run_goes_on(space: BuildSpace) -> None:
    space.start(PLAN)

    class Stopping(Recorder):
        def task_ended(self, end: TaskEnd) -> None:
            super().task_ended(end)
            stopped.cancel.set()

    stopped = space.project()
    space.project = lambda: stopped  # type: ignore[method-assign]
    assert space.build(request=Request(workers=1), reporter=Stopping()).exit_code is ExitCode.INTERRUPTED
    del space.project
    assert space.build().exit_code is ExitCode.DONE
    assert max(space.agent_turns().values()) == 1


@pytest.mark.parametrize("mark", ["BATON_MARKER", "BATON_TASK_ID"])
def test_an_agent_that_calls_us_is_told_to_do_its_task(space: BuildSpace, mark: str) -> None:
    space.start(PLAN)
    project = space.project()
    environ = {**project.environ, mark: "demo:1.1"}
    space.project = lambda: replace(project, environ=environ)  # type: ignore[method-assign]
    with pytest.raises(UsageError) as caught:
        space.build()
    assert caught.value.code == "in_assignment"


def test_inside_a_worktree_of_ours_nothing_is_scheduled(space: BuildSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when an agent dropped our marks from its environment."""
    space.start(PLAN)
    inside = space.project().repository.state_root(None) / "somewhere"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    with pytest.raises(UsageError) as caught:
        space.build()
    assert caught.value.code == "in_assignment"


def test_passes_end_also_when_the_plan_never_stands_still(space: BuildSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baton_runner.build.drive.MOST_PASSES", 2)
    space.start(
        "- [ ] 1.1 a\n  Verify: `false`\n",
        POLICY.replace("kind: command", "kind: command, max_turns: 1, max_attempts: 1"),
    )
    plan = space.repo / "tasks/demo/tasks.md"
    space.script("1.1", f"echo x >> 1.1.txt; sed -i 's/1.1 a/1.1 aa/' {plan}")
    assert space.build().exit_code is ExitCode.FAILED
    assert space.agent_turns() == {"demo:1.1": 2}
    assert any("2 passes" in note for note in space.told.notes)


def test_an_agent_that_no_one_has_is_refused_at_its_line_of_the_plan(space: BuildSpace) -> None:
    """The plan names it, so the plan is named, and nothing was paid."""
    space.start("- [ ] 1.1 First\n- [ ] 1.2 Second <!-- baton: agent=bogus -->\n")
    with pytest.raises(PlanError, match=r"^tasks/demo/tasks\.md:2: task 1\.2 asks for the agent bogus"):
        space.build()
    with pytest.raises(UsageError, match=r"^--agent: comand is no kind of agent; did you mean command"):
        space.build(request=Request(selection=Selection(("1.1",)), agent="comand"))
    assert not space.agent_turns()


def test_a_bare_id_means_the_one_change_that_has_it(space: BuildSpace) -> None:
    """Among several changes too; where two have it, both are named."""
    space.start("- [ ] 1.1 a\n- [ ] 5.5 b\n", change="demo")
    space.start("- [ ] 1.1 c\n- [ ] 1.2 d\n", change="other")
    space.build("5.5")
    assert space.words() == {"demo:5.5": "resolved"}
    with pytest.raises(UsageError, match=r"several changes have a task 1\.1; say demo:1\.1 or other:1\.1"):
        space.build("1.1")


def test_every_bad_plan_is_named_and_what_is_sound_can_be_run(space: BuildSpace) -> None:
    """One bad plan starts nothing, but the reader is told all at once and how to go on."""
    space.start("- [ ] 1.1 a\n", change="good")
    space.start("- [ ] 1.1 a (depends on 9.9)\n", change="lost")
    space.start("no box\n", change="empty")
    with pytest.raises(UsageError) as refused:
        space.build()
    said = str(refused.value)
    assert "tasks/lost/tasks.md" in said
    assert "tasks/empty/tasks.md" in said
    assert "`baton run good` runs what is sound" in said
    assert not space.agent_turns()
    space.build("good")
    assert space.words() == {"good:1.1": "resolved"}


def test_every_plan_that_cannot_start_is_named(space: BuildSpace) -> None:
    """Also what only shows once the plans are read: tasks that nothing proves."""
    space.start("- [ ] 1.1 a\n  Verify: `true`\n", policy=POLICY.replace('["true"]', "[]"), change="good")
    space.write("tasks/one/tasks.md", "- [ ] 1.1 a\n")
    space.write("tasks/two/tasks.md", "- [ ] 1.1 a\n")
    with pytest.raises(UsageError, match=r"(?s)tasks/one/tasks\.md.*tasks/two/tasks\.md.*`baton run good`"):
        space.build()


def test_an_optional_task_that_was_not_run_is_told_and_fails_nothing(space: BuildSpace) -> None:
    """It appears with its reason; the run is complete without it."""
    space.start("- [ ] 1.1 First\n- [ ] 1.2 Second (optional) (manual)\n")
    for _ in range(2):
        summary = space.build()
        assert summary.exit_code is ExitCode.DONE
        assert space.words()["demo:1.2"] == "manual"


def test_what_was_not_run_says_so(space: BuildSpace) -> None:
    """The reason is the end of the run, not the state alone."""
    space.start("- [ ] 1.1 a\n  Verify: `false`\n- [ ] 1.2 b\n")
    (left,) = space.build(request=Request(workers=1, max_failures=1)).unfinished
    assert (left.id, left.word) == ("1.2", "not run")
    assert left.reason.startswith("the run ended before its turn (")


def test_who_works_elsewhere_is_named_with_what_they_have(space: BuildSpace) -> None:
    """A task is in work, a resource in use; neither is "held", which is a state."""
    space.start("- [ ] 1.1 a <!-- baton: resources=db -->\n")
    project = space.project()
    controller = Controller(project, project.changes[0])
    with Lock(project.repository.locks / "tasks" / "demo" / "1.1.lock", note="theirs"):
        assert controller.perform("1.1").message == f"1.1 is in work in process {os.getpid()} (theirs)"
    with Resources(project.repository.locks).lock("db", "theirs"):
        assert controller.perform("1.1").message == f"resource db is in use by process {os.getpid()} (theirs)"
    assert not space.agent_turns()


def test_what_waits_for_an_accepted_task_does_not_wait_for_that_ones_blockers(space: BuildSpace) -> None:
    """A person resolved it by hand, so it lets pass what builds on it, in doit's graph as in the controller's."""
    space.start("- [ ] 1.1 a\n- [x] 1.2 b (depends on 1.1)\n- [ ] 1.3 c (depends on 1.2)\n")
    space.script("1.1", "exit 3")
    space.build()
    assert space.words() == {"demo:1.1": "failed", "demo:1.3": "resolved"}
