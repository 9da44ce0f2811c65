"""What ``baton init`` finds out about a repository from its files."""

from pathlib import Path

import pytest
import yaml

from baton_runner.controller.proposal import Toolchain, policy_text, toolchains
from baton_runner.workflow.policy import load_policy

PACKAGE = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"}}'
PYTEST = "[tool.pytest.ini_options]\n"


@pytest.mark.parametrize(
    ("files", "test", "setup"),
    [
        ({"pyproject.toml": PYTEST}, "python3 -m pytest -q", ""),
        ({"pyproject.toml": PYTEST, "src/x.py": ""}, "PYTHONPATH=src python3 -m pytest -q", ""),
        ({"pyproject.toml": PYTEST, "uv.lock": ""}, "uv run pytest -q", "uv sync"),
        ({"pyproject.toml": PYTEST, "poetry.lock": ""}, "poetry run pytest -q", "poetry install"),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]\n'}, "python3 -m pytest -q", ""),
        ({"pyproject.toml": "[project]\n", "tests/test_a.py": ""}, "python3 -m pytest -q", ""),
        ({"setup.cfg": "[tool:pytest]\n"}, "python3 -m pytest -q", ""),
        ({"conftest.py": ""}, "python3 -m pytest -q", ""),
        ({"package.json": PACKAGE, "package-lock.json": ""}, "npm test", "npm ci"),
        ({"package.json": PACKAGE, "pnpm-lock.yaml": ""}, "pnpm test", "pnpm install --frozen-lockfile"),
        ({"package.json": PACKAGE, "yarn.lock": ""}, "yarn test", "yarn install --frozen-lockfile"),
        ({"package.json": PACKAGE, "bun.lock": ""}, "bun run test", "bun install --frozen-lockfile"),
        ({"package.json": PACKAGE}, "npm test", "npm install --no-package-lock"),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "npm test", ""),
        ({"Makefile": "all:\n\ntest: all\n"}, "make test", ""),
        ({"GNUmakefile": "check:\n"}, "make check", ""),
        ({"Cargo.toml": ""}, "cargo test", ""),
        ({"go.mod": ""}, "go test ./...", ""),
    ],
)
def test_the_test_command_is_found(tmp_path: Path, files: dict[str, str], test: str, setup: str) -> None:
    """Each kind of project is recognized by its files, with the set-up that its lock file asks for."""
    _write(tmp_path, files)
    (found,) = toolchains(tmp_path)
    assert (found.test, found.setup) == (test, setup)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": '[project]\nname = "x"\n'},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "not json"},
        {"package.json": "[1]"},
        {"Makefile": "test := 3\ntesting:\n"},
    ],
)
def test_nothing_is_guessed(tmp_path: Path, files: dict[str, str]) -> None:
    """A project that says nothing of tests gets no command."""
    _write(tmp_path, files)
    assert toolchains(tmp_path) == ()


def test_a_python_file_that_cannot_be_parsed_still_counts_with_tests(tmp_path: Path) -> None:
    """A broken pyproject.toml is no reason to fail."""
    _write(tmp_path, {"pyproject.toml": "[[", "tests/test_x.py": ""})
    assert [found.test for found in toolchains(tmp_path)] == ["python3 -m pytest -q"]


def test_the_first_kind_is_proposed_and_the_others_are_named(tmp_path: Path) -> None:
    """In a repository of several kinds a person sees what else was found."""
    _write(tmp_path, {"pyproject.toml": PYTEST, "Makefile": "test:\n", "Cargo.toml": ""})
    text = policy_text(toolchains(tmp_path), "claude_code")
    assert yaml.safe_load(text.split("---\n")[1])["verify"] == {"commands": ["python3 -m pytest -q"]}
    assert "# - make test" in text
    assert "# - cargo test" in text


@pytest.mark.parametrize("found", [(), (Toolchain("x", 'a: "b" # c', "d: e", ("f g",)),)])
def test_the_proposed_policy_can_be_loaded(tmp_path: Path, found: tuple[Toolchain, ...]) -> None:
    """Whatever was found, the file says exactly that, without a warning."""
    path = tmp_path / "WORKFLOW.md"
    path.write_text(policy_text(found, "claude_code"))
    policy = load_policy(path, environ={}, folder=tmp_path)
    assert policy.warnings == ()
    assert policy.settings.verify.commands == tuple(each.test for each in found)
    assert [step.run for step in policy.settings.workspace.setup] == [each.setup for each in found]
    assert policy.settings.agent.kind == "claude_code"


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
