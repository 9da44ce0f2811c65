"""Files of the shapes that people really write (invented contents): all load, and those that keep to the fields render."""

from pathlib import Path

import pytest

from baton_runner.workflow.findings import errors_of
from baton_runner.workflow.policy import load_policy
from baton_runner.workflow.validation import Use, lint
from tests.workflow.policies import ISSUE, codes, findings

SERVICE = """---
tracker:
  kind: github_projects
  owner: $PROJECT_OWNER
  project_number: "$PROJECT_NUMBER"
  # priority_field: Priority
  active_states:
    - Todo
    - In Progress
  terminal_states: [Done, Cancelled]
polling:
  interval_ms: 15000
workspace:
  root: ~/workspaces/shop
hooks:
  after_create: |
    set -euo pipefail
    git clone "https://git.example.org/acme/shop" .
    if [[ -f package.json ]]; then npm ci; fi
    cat <<'EOF' > NOTES
    ---
    EOF
  before_run:
agent:
  kind: claude_code
  max_concurrent_agents: 4
  max_concurrent_agents_by_state: {"in progress": 2}
claude_code:
  command: claude --add-dir "$PWD" ${EXTRA:-}
  allowed_tools: ["Bash(git:*)", "Bash(gh:*)", Edit]
---

You work on `{{ issue.identifier }}`: {{ issue.title }}

{% if attempt %}
Attempt {{ attempt }}.
{% endif %}

{% if issue.description %}{{ issue.description }}{% else %}No description provided.{% endif %}

Labels: {{ issue.labels }}
{% for blocker in issue.blocked_by %}- {{ blocker.identifier }} ({{ blocker.state }})
{% endfor %}
---

Umlaute: Größe. 日本語。
"""


def save(folder: Path, text: str) -> Path:
    path = folder / "WORKFLOW.md"
    path.write_bytes(text.encode())
    return path


def test_a_typical_service_file(tmp_path: Path) -> None:
    """Every usual shape in one file: variables, quoted numbers, comments, blocks, null hooks, rules, other scripts."""
    environ = {"PROJECT_OWNER": "acme", "PROJECT_NUMBER": "7", "GITHUB_TOKEN": "t", "HOME": "/home/u"}
    path = save(tmp_path, SERVICE)
    policy = load_policy(path, environ=environ, folder=tmp_path)
    settings = policy.settings
    assert (settings.tracker.owner, settings.tracker.project_number) == ("acme", 7)
    assert settings.workspace.root == Path("/home/u/workspaces/shop")
    assert settings.hooks.after_create is not None
    assert settings.hooks.after_create.splitlines()[-2:] == ["---", "EOF"]
    assert settings.hooks.before_run is None
    assert dict(settings.agent.max_concurrent_agents_by_state) == {"in progress": 2}
    assert settings.claude_code.command == 'claude --add-dir "$PWD" ${EXTRA:-}'
    text = policy.prompt.render(task=None, attempt=None, issue=ISSUE)
    assert "Labels: bug, ai\n- acme__shop-6 (In Progress)" in text
    assert text.endswith("Größe. 日本語。")
    assert lint(path, environ=environ, folder=tmp_path, use=Use.SERVICE) == ()


def test_line_ends_of_another_system_change_nothing(tmp_path: Path) -> None:
    """T007: the same settings and the same prompt."""
    plain = load_policy(save(tmp_path, SERVICE), environ={}, folder=tmp_path)
    other = load_policy(save(tmp_path, SERVICE.replace("\n", "\r\n")), environ={}, folder=tmp_path)
    assert other.settings == plain.settings
    assert other.prompt == plain.prompt


@pytest.mark.parametrize(
    "front",
    [
        "runner: {kind: x, command: y}",
        "claude: {model: x}\nagent: {maxTurns: 5, read_timeout_ms: 5}",
        "agent: {kind: some_other_agent}\ntracker: {kind: other_board, project_slug: $SLUG, assignee: me}",
        "prompts: {build: prompts/build.md}",
        "branch_template: 'x/{{ issue.identifier }}'",
        "observability: {dashboard: true}\nserver: {port: 4000}",
        "tracker: {active_states: 'Todo, In Progress'}",
        "hooks: {after_create: null, before_run: ~, after_run: }",
        "tracker: {token: $BOARD_TOKEN, owner: $ORG, project_number: $NUMBER}",
        "# only a comment",
        "hooks:\n  after_create: |\n" + "    echo a long line of a long script\n" * 1200,
    ],
)
def test_files_of_other_tools_load(front: str, tmp_path: Path) -> None:
    """Unknown keys, unknown kinds, unset variables, long hooks: none keeps a build from starting."""
    path = save(tmp_path, f"---\n{front}\n---\nDo {{{{ issue.title }}}}.\n")
    policy = load_policy(path, environ={}, folder=tmp_path)
    assert policy.prompt.render(task=None, attempt=None, issue=ISSUE) == "Do Prices are wrong."


def test_placeholders_are_named(tmp_path: Path) -> None:
    """A template of a file, copied as it is, says which key is still to be filled in."""
    found = findings(tmp_path, "server:\n  port: __PORT__\nworkspace:\n  root: 'D:/code/work'")
    errors = [error for error in errors_of(found) if error.code == "config_invalid"]
    assert [error.what.split(" ")[0] for error in errors] == ["workspace.root", "server.port"]


def test_a_copied_example_says_why_nothing_was_read(tmp_path: Path) -> None:
    """A document that shows the settings in a fence, saved as WORKFLOW.md: each error says why."""
    path = save(tmp_path, "# Example\n\n```yaml\ntracker:\n  kind: file\n```\n\n{{ issue.title }}\n")
    found = list(lint(path, environ={}, folder=tmp_path, use=Use.SERVICE))
    assert codes(found) == ["unseen_front_matter", "unsupported_tracker_kind", "unsupported_agent_kind"]
    assert all("line 1" in finding.what for finding in found)
