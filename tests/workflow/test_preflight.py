"""What must be there before work starts (R-032..R-034, T018..T020)."""

from pathlib import Path

import pytest

from baton_runner.workflow.agent_settings import Use
from baton_runner.workflow.preflight import missing
from tests.workflow.policies import GOOD, codes, findings, load


def missing_codes(folder: Path, front: str, use: Use = Use.SERVICE) -> list[str]:
    return [code for _, _, _, code in missing(load(folder, front).settings, use)]


def test_a_complete_policy_misses_nothing(tmp_path: Path) -> None:
    """R-034: nothing is reported where nothing is wrong, for the service and the build."""
    assert missing_codes(tmp_path, GOOD) == []
    assert missing_codes(tmp_path, GOOD, Use.BUILD) == []


def test_all_missing_keys_of_a_board_at_once(tmp_path: Path) -> None:
    """T018: token, owner and number in one answer, and the agent too."""
    assert missing_codes(tmp_path, "tracker: {kind: github_projects}") == [
        "missing_tracker_token",
        "missing_tracker_project",
        "missing_tracker_project",
        "unsupported_agent_kind",
    ]


def test_the_check_can_be_asked_again(tmp_path: Path) -> None:
    """R-033: before every tick the same answer for the same settings, without a file and without an effect."""
    settings = load(tmp_path, "tracker: {kind: github_projects}\nagent: {kind: command}").settings
    (tmp_path / "WORKFLOW.md").unlink()
    assert missing(settings, Use.SERVICE) == missing(settings, Use.SERVICE)
    assert len(missing(settings, Use.SERVICE)) == 4


def test_both_unsupported_kinds_at_once(tmp_path: Path) -> None:
    """T019: tracker and agent."""
    front = "tracker: {kind: nonesuch}\nagent: {kind: codex9}"
    assert missing_codes(tmp_path, front) == ["unsupported_tracker_kind", "unsupported_agent_kind"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [("command", "run"), ("claude_code", "command"), ("copilot", "command"), ("terminal", "command")],
)
def test_blank_commands(kind: str, key: str, tmp_path: Path) -> None:
    """T020: a command of blanks is none; only the chosen runner is looked at."""
    front = f"{GOOD}{{}}:\n  {key}: '  '"
    chosen = front.replace("kind: command", f"kind: {kind}").replace("command:\n  run: ./agent.sh\n{}", kind)
    assert missing_codes(tmp_path, chosen) == ["missing_agent_command"]
    assert missing_codes(tmp_path, chosen, Use.BUILD) == ["missing_agent_command"]
    assert missing_codes(tmp_path, chosen.replace(f"kind: {kind}\n{kind}", f"kind: session\n{kind}"), Use.BUILD) == []


def test_commands_without_a_default_are_missing(tmp_path: Path) -> None:
    """The adapters that have no program of their own need one."""
    for kind in ("command", "terminal"):
        assert missing_codes(tmp_path, f"agent: {{kind: {kind}}}", Use.BUILD) == ["missing_agent_command"]


def test_a_build_needs_no_board_and_no_agent(tmp_path: Path) -> None:
    """One file serves all: what only the service needs never stops a build."""
    assert missing_codes(tmp_path, "verify: {commands: make test}", Use.BUILD) == []
    assert missing_codes(tmp_path, "tracker: {kind: nonesuch}", Use.BUILD) == []
    assert missing_codes(tmp_path, "agent: {kind: session}", Use.BUILD) == []
    assert missing_codes(tmp_path, "agent: {kind: session}") == ["unsupported_tracker_kind", "unsupported_agent_kind"]


def test_a_board_of_files_needs_its_folder(tmp_path: Path) -> None:
    """R-025a: required keys are per adapter."""
    assert missing_codes(tmp_path, GOOD.replace("  path: ./cards\n", "")) == ["missing_tracker_path"]


@pytest.mark.parametrize(
    ("front", "todo"),
    [
        ("agent: {kind: claude}", "did you mean claude_code?"),
        ("agent: {kind: claude-code}", "did you mean claude_code?"),
        ("agent: {kind: copilot-cli}", "did you mean copilot?"),
        ("tracker: {kind: github_projects_v2}", "did you mean github_projects?"),
        ("tracker: {kind: github-project}", "did you mean github_projects?"),
        ("tracker: {kind: zzz}", "use one of file, github_projects"),
    ],
)
def test_kinds_are_explained(front: str, todo: str, tmp_path: Path) -> None:
    """Decision 1: the right spelling stands in the message."""
    assert todo in [finding.todo for finding in findings(tmp_path, front)]


def test_findings_have_lines_and_the_hint(tmp_path: Path) -> None:
    """R-032: each error is visible with its place; unseen front matter is said in it."""
    assert {
        f.where for f in findings(tmp_path, "tracker:\n  kind: github_projects") if f.code == "missing_tracker_token"
    } == {"WORKFLOW.md:2"}
    (tmp_path / "WORKFLOW.md").write_text("# Flow\n---\ntracker:\n  kind: file\n---\n")
    from baton_runner.workflow.validation import lint

    found = list(lint(tmp_path / "WORKFLOW.md", environ={}, folder=tmp_path, use=Use.SERVICE))
    assert codes(found) == ["unseen_front_matter", "unsupported_tracker_kind", "unsupported_agent_kind"]
    assert all("front matter must start on line 1" in finding.what for finding in found)
