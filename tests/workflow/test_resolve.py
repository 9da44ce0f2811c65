"""`$NAME` and paths (R-020, R-021, R-022, T010..T014, and the value shapes of real files)."""

from pathlib import Path

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.resolve import UnresolvedPath, resolve_path, variable_name
from tests.workflow.policies import codes, findings, load


def test_a_value_that_is_exactly_a_variable(tmp_path: Path) -> None:
    """T010, R-020: set, empty and unset give the value, null and null."""
    assert load(tmp_path, "tracker: {owner: $MY}", MY="acme").settings.tracker.owner == "acme"
    assert load(tmp_path, "tracker: {owner: $MY}", MY="").settings.tracker.owner is None
    assert load(tmp_path, "tracker: {owner: $MY}").settings.tracker.owner is None
    assert load(tmp_path, "tracker: {owner: literal}", literal="no").settings.tracker.owner == "literal"


@pytest.mark.parametrize("text", ["prefix-$MY", "$MY-suffix", "${MY}", "$1", "$", "$$MY", "$MY $MY"])
def test_everything_else_stays_literal(text: str, tmp_path: Path) -> None:
    """R-020: no part of a value is ever expanded."""
    assert load(tmp_path, f"integration: {{branch: '{text}'}}", MY="x").settings.integration.branch == text


def test_braces_are_literal_with_a_warning(tmp_path: Path) -> None:
    """Decision 2: `${NAME}` is not replaced, and it is said."""
    policy = load(tmp_path, "tracker: {owner: '${ORG}'}", ORG="acme")
    assert policy.settings.tracker.owner == "${ORG}"
    assert [(w.code, w.todo) for w in policy.warnings] == [("braced_variable", "write $ORG to read the variable")]


def test_unset_variables_are_said(tmp_path: Path) -> None:
    """The reader learns which variable is missing, with its line."""
    policy = load(tmp_path, "tracker:\n  owner: $MY\n  status_field: $OTHER", OTHER="")
    assert [str(warning) for warning in policy.warnings] == [
        "WORKFLOW.md:3: tracker.owner reads $MY, which is not set; the key counts as absent; set MY in the environment",
        "WORKFLOW.md:4: tracker.status_field reads $OTHER, which is empty; the key counts as absent; set OTHER in the environment",
    ]


def test_numbers_come_from_variables(tmp_path: Path) -> None:
    """Decision 2: first resolved, then coerced."""
    assert load(tmp_path, "tracker: {project_number: $N}", N="12").settings.tracker.project_number == 12
    assert load(tmp_path, "verify: {required: $R}", R="false").settings.verify.required is False
    with pytest.raises(PolicyError, match=r"tracker\.project_number must be a positive whole number"):
        load(tmp_path, "tracker: {project_number: $N}", N="twelve")


def test_list_items_and_map_values_are_resolved(tmp_path: Path) -> None:
    """Decision 2: every string leaf; an unset item vanishes."""
    policy = load(
        tmp_path,
        "tracker: {repos: [$ONE, lit/eral, $NONE]}\nverify: {env: {URL: $DB, GONE: $NONE}}",
        ONE="a/b",
        DB="db://x",
    )
    assert policy.settings.tracker.repos == ("a/b", "lit/eral")
    assert dict(policy.settings.verify.env) == {"URL": "db://x"}
    assert policy.variables == {"ONE", "NONE", "DB"}


@pytest.mark.parametrize(
    "front",
    [
        "hooks: {after_create: $X}",
        "command: {run: $X}",
        "claude_code: {command: $X}",
        "copilot: {command: $X}",
        "terminal: {command: $X}",
        "verify: {commands: [$X]}",
        "verify: {tasks: {'1.*': $X}}",
        "verify: {sections: {'2': [$X]}}",
        "workspace: {setup: [$X]}",
        "workspace: {setup: {run: $X}}",
    ],
)
def test_commands_and_hooks_stay_raw(front: str, tmp_path: Path) -> None:
    """R-022: what a shell will read is left to the shell."""
    policy = load(tmp_path, front, X="replaced")
    assert policy.variables == frozenset()
    assert "replaced" not in repr(policy.settings)


def test_command_text_is_kept_to_the_letter(tmp_path: Path) -> None:
    """T014: variables, quotes and runs of blanks reach the shell unchanged."""
    line = 'claude  --dir "$HOME/x y" ${M:-z} ~/bin'
    assert load(tmp_path, f"claude_code:\n  command: {line}").settings.claude_code.command == line


def test_secrets_fall_back_to_github_token(tmp_path: Path) -> None:
    """T011, R-021: omitted or unset means $GITHUB_TOKEN, set but empty does not; without any there is none."""

    def token(front: str, **environ: str) -> str | None:
        secret = load(tmp_path, f"tracker: {{kind: github_projects{front}}}", **environ).settings.tracker.token
        return secret.reveal() if secret else None

    assert token("", GITHUB_TOKEN="g") == "g"
    assert token(", token: $MINE", GITHUB_TOKEN="g") == "g"
    assert token(", token: $MINE", GITHUB_TOKEN="g", MINE="m") == "m"
    assert token(", token: $MINE", GITHUB_TOKEN="g", MINE="") is None
    assert token("") is None


def test_a_board_in_files_needs_no_token(tmp_path: Path) -> None:
    """The variable is not even looked at, so that the policy does not depend on it."""
    assert load(tmp_path, "tracker: {kind: file, path: x}", GITHUB_TOKEN="g").variables == frozenset()


def test_secrets_never_show(tmp_path: Path) -> None:
    """R-162: neither printing nor formatting settings nor any finding shows a token; one in the file is warned of."""
    policy = load(tmp_path, "agent: {token: $T}\ntracker: {token: hunter2}", T="sesame")
    shown = f"{policy!r} {policy.settings} {policy.warnings} {policy.settings.agent.token}"
    assert "sesame" not in shown
    assert "hunter2" not in shown
    assert [warning.code for warning in policy.warnings] == ["literal_secret"]
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, "agent: {token: [hunter2]}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~/x", "/home/u/x"),
        ("~", "/home/u"),
        ("./a/../b", "/repo/b"),
        ("../w", "/w"),
        (".runtime/w", "/repo/.runtime/w"),
        ("/abs/x", "/abs/x"),
        ("C", "/repo/C"),
    ],
)
def test_paths_become_absolute(text: str, expected: str) -> None:
    """T012, R-022: `~` first, then the policy's folder."""
    assert resolve_path(text, folder=Path("/repo"), environ={"HOME": "/home/u"}) == Path(expected)


@pytest.mark.parametrize("text", ["$HOME/.cache/x", "/w/$X", "${A}/b", "D:/code/x", "c:\\work", "d:", "~bob/x", "a\0b"])
def test_paths_that_would_mean_something_else(text: str) -> None:
    """Decision 2: a `$` left over, a drive letter and `~user` are errors, not odd folders."""
    with pytest.raises(UnresolvedPath):
        resolve_path(text, folder=Path("/repo"), environ={})


def test_a_path_from_a_variable(tmp_path: Path) -> None:
    """R-022: `$VAR`, then `~`, then relative to the file, not to the folder one stands in."""
    sub = tmp_path / "sub"
    sub.mkdir()
    assert load(sub, "workspace: {root: $W}", W="~/w", HOME="/h").settings.workspace.root == Path("/h/w")
    assert load(sub, "workspace: {root: w}").settings.workspace.root == sub / "w"
    assert load(sub, "workspace: {root: $W}").settings.workspace.root is None


def test_a_bad_path_names_its_key(tmp_path: Path) -> None:
    """The message says which key, where, and what to write."""
    with pytest.raises(PolicyError, match=r"^WORKFLOW\.md:3: workspace\.root has a \$ left in '\$HOME/x'; use a value"):
        load(tmp_path, "workspace:\n  root: $HOME/x", HOME="/h")


def test_addresses_are_not_paths(tmp_path: Path) -> None:
    """R-022: a URI is never expanded."""
    address = "https://ghe.example.org/~x/$y/graphql"
    assert load(tmp_path, f"tracker: {{endpoint: '{address}'}}").settings.tracker.endpoint == address


def test_variable_name() -> None:
    """What counts as a variable: the whole value, a name of letters, digits and `_`."""
    assert variable_name("$A_1") == "A_1"
    assert [variable_name(value) for value in ("$1A", "A", 5, None, "$A ", "$A\n")] == [None] * 6


def test_lint_reports_unset_variables(tmp_path: Path) -> None:
    """The validator says it too."""
    assert "unset_variable" in codes(findings(tmp_path, "tracker: {owner: $NOPE}"))
