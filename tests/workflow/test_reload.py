"""Live reload (R-026..R-032, T021, T023, T024, T026, T028)."""

import threading
from pathlib import Path

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.policy import Policy
from baton_runner.workflow.reload import LivePolicy, Refreshed
from baton_runner.workflow.validation import Use
from tests.workflow.policies import GOOD, write

BOARD = """
tracker: {kind: github_projects, owner: acme, project_number: 1, token: $T}
agent: {kind: command}
command: {run: x}
"""


class Applications:
    def __init__(self) -> None:
        self.parts: list[frozenset[str]] = []

    def __call__(self, policy: Policy, changed: frozenset[str]) -> None:
        assert policy.settings is not None
        self.parts.append(changed)


def live(folder: Path, applied: Applications, front: str = GOOD, body: str = "One") -> LivePolicy:
    path = write(folder, front, body)
    return LivePolicy(path, environ={"T": "t"}, folder=folder, use=Use.SERVICE, apply=applied)


def test_a_valid_edit_is_adopted(tmp_path: Path) -> None:
    """T021, R-026: settings and prompt change together, with one application that names the parts."""
    applied = Applications()
    policy = live(tmp_path, applied)
    assert policy.refresh() is Refreshed.UNCHANGED
    write(tmp_path, GOOD + "polling: {interval_ms: 5}", "Two")
    assert policy.refresh() is Refreshed.ADOPTED
    assert policy.policy.settings.polling.interval_ms == 5
    assert policy.policy.prompt.source == "Two"
    assert applied.parts == [frozenset({"polling", "prompt"})]
    assert policy.refresh() is Refreshed.UNCHANGED


@pytest.mark.parametrize(
    "front",
    [
        BOARD.replace("owner: acme, ", ""),
        BOARD + "polling: {interval_ms: soon}",
        BOARD + "hooks: [",
        "- a list",
        BOARD.replace("kind: command", "kind: codex9"),
    ],
)
def test_an_invalid_edit_is_refused_whole(front: str, tmp_path: Path) -> None:
    """T023, R-027: values, types, syntax and missing keys; settings and prompt stay, nothing is applied, the reason is kept."""
    applied = Applications()
    policy = live(tmp_path, applied, BOARD)
    before = policy.policy
    write(tmp_path, front, "Two")
    assert policy.refresh() is Refreshed.REFUSED
    assert policy.policy is before
    assert isinstance(policy.error, PolicyError)
    assert applied.parts == []
    assert policy.refresh() is Refreshed.UNCHANGED
    write(tmp_path, BOARD, "Three")
    assert policy.refresh() is Refreshed.ADOPTED
    assert policy.error is None


def test_a_new_root_leaves_the_old_policy_alone(tmp_path: Path) -> None:
    """R-030: who holds the policy of before keeps its paths; the application says that the workspace changed."""
    applied = Applications()
    policy = live(tmp_path, applied, GOOD + "workspace: {root: ../one}")
    before = policy.policy
    write(tmp_path, GOOD + "workspace: {root: ../two}", "One")
    assert policy.refresh() is Refreshed.ADOPTED
    assert before.settings.workspace.root == tmp_path.parent / "one"
    assert policy.policy.settings.workspace.root == tmp_path.parent / "two"
    assert applied.parts == [frozenset({"workspace"})]


def test_a_deleted_file_keeps_the_policy(tmp_path: Path) -> None:
    """T024: the last good policy stays in force, also when asked again."""
    applied = Applications()
    policy = live(tmp_path, applied)
    (tmp_path / "WORKFLOW.md").unlink()
    assert policy.refresh() is Refreshed.REFUSED
    assert policy.error is not None
    assert policy.error.code == "missing_workflow_file"
    policy.refresh()
    assert (policy.policy.prompt.source, applied.parts) == ("One", [])
    write(tmp_path, GOOD, "Back")
    assert policy.refresh() is Refreshed.ADOPTED


def test_an_atomic_save_is_noticed(tmp_path: Path) -> None:
    """T026: an editor that renames a new file into place, of the same size."""
    applied = Applications()
    policy = live(tmp_path, applied)
    other = tmp_path / "new"
    other.mkdir()
    write(other, GOOD, "Six").replace(tmp_path / "WORKFLOW.md")
    assert policy.refresh() is Refreshed.ADOPTED
    assert policy.policy.prompt.source == "Six"


def test_a_touched_file_is_no_change(tmp_path: Path) -> None:
    """R-028: content decides, the stamp only saves the reading."""
    applied = Applications()
    policy = live(tmp_path, applied)
    write(tmp_path, GOOD, "One")
    assert policy.refresh() is Refreshed.UNCHANGED
    assert applied.parts == []


def test_a_comment_is_adopted_without_an_application(tmp_path: Path) -> None:
    """R-031: what differs in nothing drops nothing."""
    applied = Applications()
    policy = live(tmp_path, applied)
    write(tmp_path, GOOD + "# a comment", "One")
    assert policy.refresh() is Refreshed.ADOPTED
    assert applied.parts == []


def test_a_broken_template_is_adopted(tmp_path: Path) -> None:
    """R-011: it fails attempts, it does not block the policy."""
    applied = Applications()
    policy = live(tmp_path, applied)
    write(tmp_path, GOOD, "{{ nope")
    assert policy.refresh() is Refreshed.ADOPTED


def test_an_invalid_start_fails(tmp_path: Path) -> None:
    """T028, R-032: nothing runs on a file that was never valid."""
    applied = Applications()
    with pytest.raises(PolicyError) as caught:
        live(tmp_path, applied, "tracker: {kind: nonesuch}")
    assert caught.value.code == "unsupported_tracker_kind"
    assert applied.parts == []


def test_a_refresh_during_a_refresh_runs_once_more(tmp_path: Path) -> None:
    """R-029: refreshes never overlap; requests during one make exactly one follow-up."""
    path = write(tmp_path, GOOD, "One")
    entered, leave, parts = threading.Event(), threading.Event(), list[str]()

    def apply(policy: Policy, changed: frozenset[str]) -> None:
        assert changed
        parts.append(policy.prompt.source)
        entered.set()
        assert leave.wait(30)

    policy = LivePolicy(path, environ={}, folder=tmp_path, use=Use.SERVICE, apply=apply)
    write(tmp_path, GOOD, "Two")
    worker = threading.Thread(target=policy.refresh)
    worker.start()
    assert entered.wait(30)
    write(tmp_path, GOOD, "Three")
    assert [policy.refresh() for _ in range(3)] == [Refreshed.QUEUED] * 3
    assert parts == ["Two"]
    leave.set()
    worker.join(30)
    assert parts == ["Two", "Three"]
