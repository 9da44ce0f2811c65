"""Unknown keys never stop a run and are explained (R-007, decision 1)."""

from pathlib import Path

import pytest

from baton_runner.workflow.unknown import meant_kind
from tests.workflow.policies import load


@pytest.mark.parametrize(
    ("yaml", "key", "meant"),
    [
        ("claude: {model: x}", "claude", "did you mean claude_code?"),
        ("claude-code: {}", "claude-code", "did you mean claude_code?"),
        ("copilot-cli: {}", "copilot-cli", "did you mean copilot?"),
        ("runner: {}", "runner", "did you mean agent, claude_code or copilot?"),
        ("workspaces: {}", "workspaces", "did you mean workspace?"),
        ("agent: {maxTurns: 3}", "agent.maxTurns", "did you mean agent.max_turns?"),
        ("polling: {intervalMs: 3}", "polling.intervalMs", "did you mean polling.interval_ms?"),
        ("hooks: {after-create: x}", "hooks.after-create", "did you mean hooks.after_create?"),
        ("agent: {turn_timeout_ms: 3}", "agent.turn_timeout_ms", "in the section of the runner"),
        ("agent: {stall_timeout_ms: 3}", "agent.stall_timeout_ms", "in the section of the runner"),
        ("agent: {read_timeout_ms: 3}", "agent.read_timeout_ms", "stall_timeout_ms in the section of the runner"),
        ("verify: {comands: x}", "verify.comands", "did you mean verify.commands?"),
        ("agent: {permission_mode: plan}", "agent.permission_mode", "did you mean claude_code.permission_mode?"),
        ("zzzz: 1", "zzzz", "leave it for the tool that reads it"),
    ],
)
def test_unknown_keys_are_warnings(yaml: str, key: str, meant: str, tmp_path: Path) -> None:
    """Each names its line, its key and the key that was probably meant."""
    (warning,) = load(tmp_path, yaml).warnings
    assert warning.code == "unknown_key"
    assert warning.where == "WORKFLOW.md:2"
    assert warning.what == f"{key} is not a setting and is ignored"
    assert meant in warning.todo


def test_a_config_root_is_not_special(tmp_path: Path) -> None:
    """R-006: settings stand at the root; under `config:` they are not read."""
    policy = load(tmp_path, "config: {agent: {max_turns: 3}}")
    assert policy.settings.agent.max_turns is None
    assert [warning.code for warning in policy.warnings] == ["unknown_key"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("claude", "claude_code"),
        ("Claude-Code", "claude_code"),
        ("copilot-cli", "copilot"),
        ("github-project", "github_projects"),
        ("github_projects_v2", "github_projects"),
        ("nonesuch", None),
    ],
)
def test_kinds_people_write(written: str, meant: str | None) -> None:
    """Decision 1: the right spelling of an agent's or a tracker's kind."""
    known = ("claude_code", "command", "copilot", "terminal", "file", "github_projects")
    assert meant_kind(written, known) == meant
