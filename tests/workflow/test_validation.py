"""The one validator (decisions 1..6, R-025c, R-027, R-034): everything at once, with lines."""

from pathlib import Path

import pytest

from baton_runner.workflow.findings import Severity
from baton_runner.workflow.secret import Secret
from baton_runner.workflow.validation import Use, lint
from tests.workflow.policies import GOOD, codes, findings, write

CLAUDE = """
tracker: {kind: file, path: ./cards}
agent: {kind: claude_code, token: $AGENT}
"""


def test_a_good_policy_has_no_findings(tmp_path: Path) -> None:
    """Nothing is said where nothing is wrong."""
    for use in Use:
        assert findings(tmp_path, GOOD, "{{ issue.identifier }}: {{ issue.title }}", use) == []


def test_everything_wrong_at_once(tmp_path: Path) -> None:
    """A wrong value, an unknown key, a missing board, a missing agent and a wrong field make one list."""
    found = findings(tmp_path, "polling: {interval_ms: x}\nclaude: {}", "{{ issue.titel }}")
    assert [(finding.severity, finding.code) for finding in found] == [
        (Severity.WARNING, "unknown_key"),
        (Severity.ERROR, "config_invalid"),
        (Severity.ERROR, "unsupported_tracker_kind"),
        (Severity.ERROR, "unsupported_agent_kind"),
        (Severity.ERROR, "template_render_error"),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("---\na: [\n---\n", "workflow_parse_error"),
        ("---\n- a\n---\n", "workflow_front_matter_not_a_map"),
        (None, "missing_workflow_file"),
    ],
)
def test_files_that_cannot_be_read(text: str | None, code: str, tmp_path: Path) -> None:
    """Also these come out as a finding, never as an exception."""
    path = tmp_path / "WORKFLOW.md"
    if text is not None:
        path.write_text(text)
    assert codes(list(lint(path, environ={}, folder=tmp_path, use=Use.BUILD))) == [code]


@pytest.mark.parametrize(
    "body",
    [
        "{% if attempt %}{{ retry_error }}{% endif %}",
        "{% for b in issue.blocked_by %}{{ b.title }}{% endfor %}",
        "{% for l in issue.labels %}{{ l.name }}{% endfor %}",
        "{% unless issue.description %}{{ nope }}{% endunless %}",
        "{{ issue.labels[0] }}",
        "{% if failure %}{{ failure.nope }}{% endif %}",
        "{{ task.title }}",
    ],
)
def test_prompts_are_tried_before_anything_starts(body: str, tmp_path: Path) -> None:
    """Decision 3: attempt null and 3, an issue with everything and one with nothing."""
    assert "template_render_error" in codes(findings(tmp_path, GOOD, body))


@pytest.mark.parametrize(
    "body",
    [
        "{% unless task.body %}{{ nope }}{% endunless %}",
        "{% for s in task.steps %}{{ s.text }}{% endfor %}",
        "{% for b in issue.blocked_by %}{{ b.title }}{% endfor %}",
        "{{ task.titel }}",
    ],
)
def test_prompts_of_a_build_are_tried_with_tasks(body: str, tmp_path: Path) -> None:
    """Decision 3, for a build: a full and an empty task, and an issue with everything."""
    assert "template_render_error" in codes(findings(tmp_path, GOOD, body, Use.BUILD))


def test_what_no_trial_reaches_is_scanned(tmp_path: Path) -> None:
    """Decision 3: an unknown filter anywhere is an error, an unknown name a warning, each with its line."""
    body = "{% if issue.title == 'x' %}\n{{ issue.title | slugify }}\n{{ issue.summary }}{% endif %}"
    found = findings(tmp_path, GOOD, body)
    assert [(f.severity, f.code) for f in found] == [
        (Severity.ERROR, "template_parse_error"),
        (Severity.WARNING, "unknown_name"),
    ]
    first = len(write(tmp_path, GOOD, "").read_text().splitlines())
    assert [f.where for f in found] == [f"WORKFLOW.md:{first + 1}", f"WORKFLOW.md:{first + 2}"]
    assert found[1].todo == "did you mean issue.title?"


def test_foreign_syntax_is_explained(tmp_path: Path) -> None:
    """Decision 3: Go, Jinja and GitHub syntax and reserved names, once each."""
    for body, word in (
        ("{{ .x }}", "Go"),
        ("{{ a or b }}", "Jinja"),
        ("${{ secrets.A }}", "GitHub"),
        ("{{ w.for }}", "reserved"),
    ):
        (found,) = findings(tmp_path, GOOD, body)
        assert word in found.what


def test_templates_in_hooks(tmp_path: Path) -> None:
    """Decision 3: a hook is shell; braces in it are a mistake, with its line; front matter is never rendered."""
    (found,) = findings(tmp_path, GOOD + "hooks:\n  before_run: git switch -c x/{{ issue.id }}")
    assert (found.code, found.severity) == ("template_in_hook", Severity.WARNING)
    assert found.what.startswith("hooks.before_run")


@pytest.mark.parametrize("name", ["$BATON_ISSUE_ID", "${BATON_WORKSPACE}", "$BATON_X"])
def test_hook_variables_in_the_prompt(name: str, tmp_path: Path) -> None:
    """Decision 3: only hooks have these variables (R-097)."""
    (found,) = findings(tmp_path, GOOD, f"one\nuse {name}")
    assert found.code == "hook_variable_in_prompt"
    assert findings(tmp_path, GOOD, "BATON is a word") == []


def test_accept_edits_refuses_git_and_gh(tmp_path: Path) -> None:
    """The default permission mode with a prompt that uses git and gh: a warning each; with rules, none."""
    body = "Run `git push` and then\ngh pr create --fill"
    found = findings(tmp_path, CLAUDE, body, AGENT="t")
    assert codes(found) == ["unallowed_program"] * 2
    assert [f.todo for f in found] == [
        "add Bash(git:*) to claude_code.allowed_tools",
        "add Bash(gh:*) to claude_code.allowed_tools",
    ]
    for tools in ("['Bash(git:*)', 'Bash(gh:*)']", "[Bash]", "['Bash(*)']", "['Bash(git *)', 'Bash(gh pr create:*)']"):
        assert findings(tmp_path, f"{CLAUDE}claude_code: {{allowed_tools: {tools}}}", body, AGENT="t") == []
    for other in ("['Bash(github:*)', Edit]", "['Read(git:*)']"):
        assert codes(findings(tmp_path, f"{CLAUDE}claude_code: {{allowed_tools: {other}}}", body, AGENT="t")) != []


def test_permissions_matter_only_where_they_bind(tmp_path: Path) -> None:
    """Other modes, other agents, prompts without git, and git in a build (which the adapter allows) are quiet."""
    body = "Use `git commit`."
    assert findings(tmp_path, f"{CLAUDE}claude_code: {{permission_mode: plan}}", body, AGENT="t") == []
    assert findings(tmp_path, GOOD, body) == []
    assert findings(tmp_path, CLAUDE, "Read the git history, a legit thing.", AGENT="t") == []
    assert findings(tmp_path, CLAUDE, body, Use.BUILD, AGENT="t") == []


def test_gh_needs_a_credential(tmp_path: Path) -> None:
    """R-025c: a token of the agent's own, a passed variable or a login on disk; otherwise a warning."""
    body = "Then `gh issue comment`."
    assert codes(findings(tmp_path, GOOD, body)) == ["no_gh_credential"]
    with_env = GOOD.replace("agent:\n", "agent:\n  env: [GH_TOKEN]\n")
    assert findings(tmp_path, with_env, body, GH_TOKEN="t") == []
    assert codes(findings(tmp_path, with_env, body)) == ["no_gh_credential"]
    assert findings(tmp_path, GOOD.replace("agent:\n", "agent:\n  token: $T\n"), body, T="t") == []
    (tmp_path / ".config/gh").mkdir(parents=True)
    (tmp_path / ".config/gh/hosts.yml").write_text("github.com: {}\n")
    assert findings(tmp_path, GOOD, body) == []


def test_a_root_inside_the_repository(tmp_path: Path) -> None:
    """Decision 3: it must be ignored by git; a folder outside needs nothing."""
    assert codes(findings(tmp_path, GOOD + "workspace: {root: ./w}")) == ["root_not_ignored"]
    assert findings(tmp_path, GOOD + "workspace: {root: ../w}") == []
    asked: list[Path] = []

    def ignored(path: Path) -> bool:
        asked.append(path)
        return True

    path = write(tmp_path, GOOD + "workspace: {root: ./w}")
    assert lint(path, environ={"HOME": "/x"}, folder=tmp_path, use=Use.SERVICE, is_ignored=ignored) == ()
    assert asked == [tmp_path / "w"]


def test_a_blank_label(tmp_path: Path) -> None:
    """R-054: nothing would ever be eligible."""
    assert codes(findings(tmp_path, GOOD.replace("kind: file\n", "kind: file\n  required_labels: ['']\n"))) == [
        "blank_label"
    ]


def test_a_token_may_come_from_gh(tmp_path: Path) -> None:
    """R-021: without a setting and a variable, the login of gh is asked, and only then."""
    front = "tracker: {kind: github_projects, owner: a, project_number: 1}\nagent: {kind: command}\ncommand: {run: x}"
    path = write(tmp_path, front)

    def found(**environ: str) -> list[str]:
        return codes(list(lint(path, environ=environ, folder=tmp_path, use=Use.SERVICE, ask_token=ask)))

    asked: list[int] = []

    def ask() -> Secret | None:
        asked.append(1)
        return Secret("t")

    assert found(GITHUB_TOKEN="x") == []
    assert asked == []
    assert found() == []
    assert asked == [1]
    assert codes(findings(tmp_path, front)) == ["missing_tracker_token"]
