"""Typed settings: defaults, own keys, coercion, errors that name the key (R-007, R-023..R-025c, T009, T015..T017)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.agent_settings import CommitRule, Use
from baton_runner.workflow.build_settings import (
    CI_CONFIGURATION,
    BaseCheck,
    ConflictAnswer,
    RerunCause,
    SectionOrder,
    Unmetered,
    Untick,
    Update,
)
from baton_runner.workflow.reading import Reading
from baton_runner.workflow.service_settings import OwnerType
from baton_runner.workflow.settings import Settings, read_settings, section_types
from baton_runner.workflow.shapes import Answer, SetupStep
from tests.workflow.policies import load


def value(settings: Settings, dotted: str) -> Any:
    section, _, key = dotted.partition(".")
    return getattr(getattr(settings, section), key)


SERVICE_DEFAULTS: dict[str, object] = {
    "polling.interval_ms": 30_000,
    "workspace.root": None,
    "hooks.timeout_ms": 60_000,
    "hooks.after_create": None,
    "agent.max_concurrent_agents": 10,
    "agent.max_concurrent_agents_by_state": {},
    "agent.max_retry_backoff_ms": 300_000,
    "claude_code.command": "claude",
    "claude_code.permission_mode": "acceptEdits",
    "claude_code.turn_timeout_ms": 3_600_000,
    "claude_code.stall_timeout_ms": 300_000,
    "copilot.command": "copilot",
    "copilot.allow_all_tools": False,
    "command.turn_timeout_ms": 3_600_000,
    "terminal.stall_timeout_ms": 300_000,
    "tracker.endpoint": "https://api.github.com/graphql",
    "tracker.owner_type": OwnerType.ORGANIZATION,
    "tracker.status_field": "Status",
    "tracker.active_states": ("Todo", "In Progress"),
    "tracker.terminal_states": ("Done",),
    "tracker.required_labels": (),
    "server.port": None,
    "server.host": "127.0.0.1",
    "worker.ssh_hosts": (),
    "agent.handoff_grace_ms": 60_000,
}
BUILD_DEFAULTS: dict[str, object] = {
    "plan.sections": SectionOrder.PARALLEL,
    "plan.untick": Untick.RETICK,
    "verify.commands": (),
    "verify.tasks": {},
    "verify.sections": {},
    "verify.required": True,
    "verify.timeout": 1200.0,
    "verify.protect": CI_CONFIGURATION,
    "verify.base": BaseCheck.REQUIRE,
    "verify.pristine": False,
    "verify.env": {},
    "verify.resources": (),
    "agent.kind": None,
    "agent.commit": CommitRule.AUTO,
    "agent.max_attempts": 2,
    "agent.max_turns": None,
    "agent.allow_empty": False,
    "agent.env": (),
    "agent.token": None,
    "command.run": None,
    "terminal.answers": (),
    "workspace.copy": (),
    "workspace.link": (),
    "workspace.setup": (),
    "workspace.sparse": (),
    "workspace.gc_hours": 72,
    "integration.branch": None,
    "integration.update": Update.MERGE,
    "integration.on_conflict": ConflictAnswer.AGENT,
    "integration.sign": False,
    "rerun.on": (RerunCause.TASK,),
    "budget.run_usd": None,
    "budget.task_usd": None,
    "budget.run_tokens": None,
    "budget.unmetered": Unmetered.REFUSE,
}


@pytest.mark.parametrize("dotted", [*SERVICE_DEFAULTS, *BUILD_DEFAULTS])
def test_defaults(dotted: str) -> None:
    """T009, R-025: what holds when nothing is said."""
    assert value(Settings(), dotted) == (SERVICE_DEFAULTS | BUILD_DEFAULTS)[dotted]


def test_turns_depend_on_the_use(tmp_path: Path) -> None:
    """Four turns for an attempt of a build, twenty for the service, the policy's number for both."""
    agent = Settings().agent
    assert (agent.turns(Use.BUILD), agent.turns(Use.SERVICE)) == (4, 20)
    agent = load(tmp_path, "agent: {max_turns: 7}").settings.agent
    assert (agent.turns(Use.BUILD), agent.turns(Use.SERVICE)) == (7, 7)


GIVEN = [
    ("plan.sections", "sequential", SectionOrder.SEQUENTIAL),
    ("plan.untick", "redo", Untick.REDO),
    ("verify.commands", "pytest -q", ("pytest -q",)),
    ("verify.commands", "[make a, make b]", ("make a", "make b")),
    ("verify.tasks", "{'1.*': make one, '2': [a, b]}", {"1.*": ("make one",), "2": ("a", "b")}),
    ("verify.sections", "{2: make two, 'Doc*': [x], Empty: }", {"2": ("make two",), "Doc*": ("x",), "Empty": ()}),
    ("verify.required", "false", False),
    ("verify.timeout", "90", 90.0),
    ("verify.timeout", "90s", 90.0),
    ("verify.timeout", "20m", 1200.0),
    ("verify.timeout", "1h", 3600.0),
    ("verify.timeout", "1.5m", 90.0),
    ("verify.timeout", "0.5", 0.5),
    ("verify.protect", "[]", ()),
    ("verify.protect", "tests/**", ("tests/**",)),
    ("verify.base", "warn", BaseCheck.WARN),
    ("verify.base", "skip", BaseCheck.SKIP),
    ("verify.pristine", "true", True),
    ("verify.env", "{A: 1, B: x, C: true, D: }", {"A": "1", "B": "x", "C": "true"}),
    ("verify.resources", "[db]", ("db",)),
    ("agent.kind", "command", "command"),
    ("agent.commit", "agent", CommitRule.AGENT),
    ("agent.max_attempts", "3", 3),
    ("agent.max_turns", '"5"', 5),
    ("agent.allow_empty", "true", True),
    ("agent.env", "[NPM_TOKEN, CI]", ("NPM_TOKEN", "CI")),
    ("agent.handoff_grace_ms", "0", 0),
    ("command.run", "./a.sh --x", "./a.sh --x"),
    ("command.turn_timeout_ms", "5", 5),
    ("copilot.stall_timeout_ms", "-1", -1),
    ("claude_code.stall_timeout_ms", "0", 0),
    ("claude_code.permission_mode", "whatever", "whatever"),
    ("claude_code.extra_args", "[--x, y]", ("--x", "y")),
    ("copilot.deny_tools", "shell(rm)", ("shell(rm)",)),
    ("terminal.answers", "[{pattern: 'y/n', reply: y}]", (Answer("y/n", "y"),)),
    ("terminal.end_patterns", "['^\\$ ']", ("^\\$ ",)),
    ("terminal.idle_timeout", "1m", 60.0),
    ("workspace.copy", ".env", (".env",)),
    ("workspace.setup", "npm ci", (SetupStep("npm ci"),)),
    (
        "workspace.setup",
        "[npm ci, {run: uv sync, files: [uv.lock]}]",
        (SetupStep("npm ci"), SetupStep("uv sync", ("uv.lock",))),
    ),
    ("workspace.setup", "{run: uv sync, files: uv.lock}", (SetupStep("uv sync", ("uv.lock",)),)),
    ("workspace.gc_hours", "0", 0),
    ("integration.branch", "work/x", "work/x"),
    ("integration.update", "off", Update.OFF),
    ("integration.on_conflict", "keep", ConflictAnswer.KEEP),
    ("integration.sign", "true", True),
    ("rerun.on", "[task, prompt, agent, task]", (RerunCause.TASK, RerunCause.PROMPT, RerunCause.AGENT)),
    ("rerun.on", "prompt", (RerunCause.PROMPT,)),
    ("rerun.on", "[]", ()),
    ("budget.run_usd", "0", 0.0),
    ("budget.task_usd", "2.50", 2.5),
    ("budget.run_tokens", "0", 0),
    ("budget.unmetered", "allow", Unmetered.ALLOW),
    ("hooks.after_create", "", None),
    ("hooks.before_run", "'git pull'", "git pull"),
    ("server.port", "0", 0),
    ("tracker.owner_type", "user", OwnerType.USER),
    ("tracker.active_states", "[Todo, Doing]", ("Todo", "Doing")),
    ("worker.max_concurrent_agents_per_host", "2", 2),
]


@pytest.mark.parametrize(("dotted", "yaml", "expected"), GIVEN)
def test_given_values(dotted: str, yaml: str, expected: object, tmp_path: Path) -> None:
    """Every key of the build and of the service, in every shape it may be written (R-025a, R-025b)."""
    section, _, key = dotted.partition(".")
    policy = load(tmp_path, f"{section}:\n  {key}: {yaml}")
    assert value(policy.settings, dotted) == expected
    assert policy.warnings == ()


def test_every_key_has_a_case() -> None:
    """A key that nobody tests would be found here."""
    tested = {dotted for dotted, _, _ in GIVEN} | set(SERVICE_DEFAULTS) | set(BUILD_DEFAULTS)
    declared = {f"{name}.{key}" for name, section in section_types().items() for key in section.__dataclass_fields__}
    passed_through = {
        "tracker.kind", "tracker.token", "tracker.owner", "tracker.project_number", "tracker.priority_field",
        "tracker.repos", "tracker.path", "claude_code.model", "claude_code.allowed_tools", "claude_code.disallowed_tools",
        "claude_code.append_system_prompt", "copilot.model", "copilot.allow_tools", "copilot.extra_args",
        "copilot.turn_timeout_ms", "command.stall_timeout_ms", "terminal.turn_timeout_ms", "terminal.command",
        "hooks.after_run", "hooks.before_remove",
    }  # fmt: skip
    assert declared - tested - passed_through == set()


BAD = [
    ("polling.interval_ms", "-5", "a positive whole number, found -5"),
    ("polling.interval_ms", "0", "a positive whole number"),
    ("hooks.timeout_ms", "soon", "a positive whole number, found the text 'soon'"),
    ("agent.max_turns", "-1", "a positive whole number, found -1"),
    ("agent.max_turns", "true", "a positive whole number, found true"),
    ("agent.max_turns", "1.5", "a positive whole number"),
    ("agent.max_concurrent_agents", "[1]", "a positive whole number, found a list"),
    ("agent.max_retry_backoff_ms", "0", "a positive whole number"),
    ("claude_code.turn_timeout_ms", "'5 s'", "a positive whole number"),
    ("copilot.stall_timeout_ms", "false", "a whole number, found false"),
    ("server.port", "<PORT>", "a whole number from 0 to 65535, found the text '<PORT>'"),
    ("server.port", "70000", "a whole number from 0 to 65535"),
    ("hooks.after_create", "[a, b]", "text, found a list"),
    ("hooks.after_create", "{a: b}", "text, found a map"),
    ("plan.sections", "serial", "parallel or sequential"),
    ("integration.update", "never", "merge or off"),
    ("integration.sign", "yes", "true or false, found the text 'yes'"),
    ("rerun.on", "[tasks]", "task or prompt or agent"),
    ("verify.timeout", "soon", "a time span"),
    ("verify.timeout", "0", "a time span"),
    ("verify.timeout", "-1m", "a time span"),
    ("verify.timeout", "true", "a time span"),
    ("verify.timeout", "1d", "a time span"),
    ("verify.commands", "[a, '  ']", "a blank command"),
    ("verify.commands", "''", "a blank command"),
    ("verify.tasks", "[a]", "a map of globs to commands"),
    ("verify.env", "{'A B': x}", "names of environment variables"),
    ("verify.env", "{A: [x]}", "one value"),
    ("agent.env", "[$HOME]", "names of environment variables"),
    ("agent.env", "A=1", "names of environment variables"),
    ("agent.kind", "''", "not be blank"),
    ("agent.kind", "5", "text, found 5"),
    ("budget.run_usd", "-1", "a number of at least 0"),
    ("budget.run_usd", "1e999", "a number of at least 0"),
    ("budget.run_usd", "much", "a number"),
    ("budget.run_usd", "true", "a number"),
    ("budget.run_tokens", "1.5", "a whole number of at least 0"),
    ("terminal.end_patterns", "['(']", "is not a regular expression"),
    ("workspace.setup", "''", "a command, or a map"),
    ("workspace.root", "5", "a path"),
]


@pytest.mark.parametrize(("dotted", "yaml", "expected"), BAD)
def test_values_that_do_not_fit(dotted: str, yaml: str, expected: str, tmp_path: Path) -> None:
    """T015, T016, R-023: the error has the code, the line and the dotted key."""
    section, _, key = dotted.partition(".")
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, f"{section}:\n  {key}: {yaml}")
    assert caught.value.code == "config_invalid"
    assert caught.value.where == "WORKFLOW.md:3"
    assert caught.value.what.startswith(dotted)
    assert expected in caught.value.what
    assert caught.value.todo


@pytest.mark.parametrize(
    ("yaml", "named"),
    [
        ("workspace: {setup: [a, {files: x}]}", "workspace.setup.1.run must be a command line"),
        ("workspace: {setup: {run: a, when: b}}", "workspace.setup has no key when"),
        ("workspace: {setup: {run: a, files: [1]}}", "must be text"),
        ("terminal: {answers: [{pattern: x}]}", "terminal.answers.0 must be a map of pattern and reply"),
        ("terminal: {answers: [{pattern: x, reply: 1}]}", "terminal.answers.0.reply must be text"),
        ("terminal: {answers: [{pattern: '[', reply: y}]}", "terminal.answers.0.pattern is not a regular expression"),
        ("terminal: {answers: {pattern: x}}", "terminal.answers must be a list"),
        ("verify: {tasks: {'1.*': [a, 5]}}", "verify.tasks.1.*.1 must be text"),
        ("verify: {commands: [a, [b]]}", "verify.commands.1 must be text, found a list"),
        ("claude_code: {allowed_tools: [a, {}]}", "claude_code.allowed_tools.1 must be text, found a map"),
        ("agent: command", "agent must be a map, found the text 'command'"),
        ("verify: [pytest]", "verify must be a map, found a list"),
    ],
)
def test_errors_inside_a_value_name_the_item(yaml: str, named: str, tmp_path: Path) -> None:
    """The dotted key reaches into lists and maps."""
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, yaml)
    assert named in caught.value.what


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    """Three mistakes make three lines, in the order of the sections, with the first code."""
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, "polling: {interval_ms: x}\nagent:\n  max_turns: 0\n  commit: maybe")
    lines = str(caught.value).splitlines()
    assert [line.split(" ")[1] for line in lines] == ["agent.commit", "agent.max_turns", "polling.interval_ms"]
    assert caught.value.code == "config_invalid"


@pytest.mark.parametrize("name", list(section_types()))
def test_null_means_absent(name: str, tmp_path: Path) -> None:
    """R-007: a null section and null keys have their defaults."""
    keys = "".join(f"\n  {key}:" for key in section_types()[name].__dataclass_fields__)
    assert load(tmp_path, f"{name}:").settings == Settings()
    assert load(tmp_path, f"{name}:{keys}").settings == Settings()


def test_limits_by_state(tmp_path: Path) -> None:
    """T017, R-024, D16: names in normal form, useless entries dropped and said, never fatal."""
    policy = load(
        tmp_path, 'agent: {max_concurrent_agents_by_state: {" In Progress": 2, Todo: 0, Review: many, X: true, Q: "3"}}'
    )
    assert dict(policy.settings.agent.max_concurrent_agents_by_state) == {"in progress": 2, "q": 3}
    assert [warning.code for warning in policy.warnings] == ["ignored_limit"] * 3


def test_states_with_commas(tmp_path: Path) -> None:
    """One text with commas is split and trimmed, with a warning; a list is not."""
    policy = load(tmp_path, "tracker: {active_states: 'Todo , In Progress,'}")
    assert policy.settings.tracker.active_states == ("Todo", "In Progress")
    assert [warning.code for warning in policy.warnings] == ["comma_list"]


def test_blank_labels_are_kept(tmp_path: Path) -> None:
    """R-054: a blank required label is not dropped while reading."""
    assert load(tmp_path, "tracker: {required_labels: ['']}").settings.tracker.required_labels == ("",)


def test_settings_cannot_be_changed() -> None:
    """One policy is one value: neither keys nor maps in it can be written."""
    made = Settings()
    with pytest.raises(AttributeError):
        made.agent.max_attempts = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        made.verify.env["A"] = "b"  # type: ignore[index]


def test_runner_sections() -> None:
    """A kind with a section gives it; a session, an unknown or no kind gives none."""
    made = Settings()
    assert made.runner("claude_code") is made.claude_code
    assert made.runner("terminal") is made.terminal
    assert [made.runner(kind) for kind in ("session", "nope", "agent", None)] == [None] * 4


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = [(name, key) for name, section in section_types().items() for key in section.__dataclass_fields__]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6))
def test_any_values_give_settings_and_findings(given_values: dict[tuple[str, str], object]) -> None:
    """Whatever YAML can hold under whatever key: typed settings come out, and mistakes are findings."""
    values: dict[str, dict[str, object]] = {}
    for (section, key), item in given_values.items():
        values.setdefault(section, {})[key] = item
    reading = Reading(source="W", lines={}, environ={"A": "x"}, folder=Path("/repo"))
    read = read_settings(values, reading)
    assert isinstance(read, Settings)
    assert all(finding.what and finding.todo for finding in reading.findings)
