"""The JSON Schema of the front matter: current, valid, and of one mind with the reader."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from baton_runner.workflow.schema import schema_text, workflow_schema
from baton_runner.workflow.settings import section_types

CHECKED_IN = Path(__file__).parents[2] / "schemas" / "workflow.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(workflow_schema())


def accepts(text: str) -> bool:
    values: Any = yaml.safe_load(text)
    return bool(VALIDATOR.is_valid(values))


def test_the_checked_in_file_is_current() -> None:
    """Editors read the file: `python -m baton_runner.workflow.schema > schemas/workflow.schema.json` renews it."""
    assert CHECKED_IN.read_text(encoding="utf-8") == schema_text()


def test_it_is_a_schema_and_covers_every_key() -> None:
    """Valid JSON Schema 2020-12, a description for every key of every section."""
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, section in section_types().items():
        keys = schema["properties"][name]["properties"]
        assert set(keys) == set(section.__dataclass_fields__)
        assert all(key["description"] for key in keys.values())


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "{}",
        "agent: {kind: claude_code, max_turns: 4, token: $T, env: [A]}",
        "tracker: {project_number: $N, active_states: [Todo], owner_type: user}",
        "verify: {commands: make test, timeout: 20m, env: {A: 1}, tasks: {'1.*': [a]}}",
        "workspace: {setup: [a, {run: b, files: [c]}], root: ~/x}",
        "integration: {update: 'off', sign: false}",
        "hooks: {after_create: null, timeout_ms: 5}",
        "terminal: {answers: [{pattern: a, reply: b}], idle_timeout: 5}",
        "'rerun': {'on': [task, agent]}",
        "budget: {run_usd: 0, run_tokens: 5}",
        "unknown: [1, 2]",
        "agent: {unknown: x}",
        "agent: null",
    ],
)
def test_it_accepts(text: str) -> None:
    """What the reader takes; unknown keys too (R-007)."""
    assert accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "agent: []",
        "agent: {max_turns: 0}",
        "agent: {max_turns: true}",
        "agent: {max_turns: many}",
        "agent: {commit: maybe}",
        "agent: {env: ['A=b']}",
        "hooks: {after_create: [a]}",
        "verify: {commands: ['']}",
        "verify: {timeout: soon}",
        "verify: {timeout: 0}",
        "workspace: {setup: [{files: [a]}]}",
        "terminal: {answers: [{pattern: a}]}",
        "integration: {sign: maybe}",
        "'rerun': {'on': [tasks]}",
        "budget: {run_usd: -1}",
        "server: {port: <PORT>}",
    ],
)
def test_it_rejects(text: str) -> None:
    """What the reader refuses."""
    assert not accepts(text)
