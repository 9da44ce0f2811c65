"""Loading a policy (R-001, R-002, R-004, R-010, T008, T035, T036) and what it promises to the fast path."""

import subprocess
import sys
from pathlib import Path

import pytest

from baton_runner.base.errors import PolicyError
from baton_runner.workflow.policy import find_policy, load_policy
from baton_runner.workflow.prompt import default_prompt
from baton_runner.workflow.settings import Settings
from tests.workflow.policies import TASK, load, write


def test_no_file_is_the_defaults(tmp_path: Path) -> None:
    """The build and the session live without a policy."""
    policy = load_policy(None, environ={}, folder=tmp_path)
    assert policy.path is None
    assert policy.settings == Settings()
    assert (policy.warnings, policy.variables) == ((), frozenset())
    assert "Write the form" in policy.prompt.render(task=TASK, attempt=None)


def test_find_policy(tmp_path: Path) -> None:
    """It stands at the top of the repository, under one name; a folder of that name is none."""
    assert find_policy(tmp_path) is None
    path = write(tmp_path, "agent: {}")
    assert find_policy(tmp_path) == path
    path.unlink()
    path.mkdir()
    assert find_policy(tmp_path) is None


def test_missing_file(tmp_path: Path) -> None:
    """T008, R-002: path and the system's reason."""
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path / "nope.md", environ={}, folder=tmp_path)
    assert caught.value.code == "missing_workflow_file"
    assert str(caught.value) == "nope.md: cannot be read: No such file or directory; create it, or name another file"


def test_unreadable_file(tmp_path: Path) -> None:
    """R-002: the same code for a file that is there and cannot be read."""
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, environ={}, folder=tmp_path.parent)
    assert caught.value.code == "missing_workflow_file"


def test_path_is_absolute_and_base_of_relative_paths(tmp_path: Path) -> None:
    """R-001: a relative path starts at the folder given; paths in the file start at the file."""
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "workspace: {root: ../w}")
    policy = load_policy(Path("sub/WORKFLOW.md"), environ={}, folder=tmp_path)
    assert policy.path == tmp_path / "sub" / "WORKFLOW.md"
    assert policy.settings.workspace.root == tmp_path / "w"


def test_errors_name_files_elsewhere_in_full(tmp_path: Path) -> None:
    """A file outside the folder is named by its whole path."""
    inner = tmp_path / "inner"
    inner.mkdir()
    path = write(tmp_path, "agent: {max_turns: x}")
    with pytest.raises(PolicyError) as caught:
        load_policy(path, environ={}, folder=inner)
    assert caught.value.where == f"{path}:2"


def test_file_without_front_matter(tmp_path: Path) -> None:
    """T002, R-004: default settings, and the whole file as the prompt."""
    path = tmp_path / "WORKFLOW.md"
    path.write_text("Please do {{ task.title }}.\n")
    policy = load_policy(path, environ={}, folder=tmp_path)
    assert policy.settings == Settings()
    assert policy.prompt.render(task=TASK, attempt=None) == "Please do Write the form."


def test_empty_body_is_the_default_prompt(tmp_path: Path) -> None:
    """R-010: a policy may hold settings alone."""
    assert load(tmp_path, "agent: {}", body="  \n").prompt == default_prompt()


def test_broken_files_never_fall_back(tmp_path: Path) -> None:
    """R-010, R-011, T036: a file error and a template error are errors of different codes, never the default prompt."""
    with pytest.raises(PolicyError) as file_error:
        load(tmp_path, "agent: [")
    policy = load(tmp_path, "agent: {}", body="{{ task.title")
    with pytest.raises(PolicyError) as template_error:
        policy.prompt.render(task=TASK, attempt=None)
    assert (file_error.value.code, template_error.value.code) == ("workflow_parse_error", "template_parse_error")
    assert "YAML" in file_error.value.what
    assert "YAML" not in template_error.value.what


def test_unseen_settings_are_said_in_errors_and_warnings(tmp_path: Path) -> None:
    """Decision 6: settings in a code fence below a heading load as none, with the reason."""
    path = tmp_path / "WORKFLOW.md"
    path.write_text("# Flow\n\n```yaml\ntracker:\n  kind: file\n```\n\nDo it.\n")
    (warning,) = load_policy(path, environ={}, folder=tmp_path).warnings
    assert warning.code == "unseen_front_matter"


def test_digests(tmp_path: Path) -> None:
    """The prompt's digest follows its text alone; the agent's follows who works and how, not limits of time."""
    front = "agent: {kind: claude_code}\nclaude_code: {model: a}"
    first = load(tmp_path, front, "One")
    assert first.prompt_digest.startswith("sha256:")
    assert load(tmp_path, front + "\nverify: {timeout: 5}", "One").prompt_digest == first.prompt_digest
    assert load(tmp_path, front, "Two").prompt_digest != first.prompt_digest
    assert load(tmp_path, front, "Two").agent_digest == first.agent_digest
    slower = "agent: {kind: claude_code}\nclaude_code: {model: a, turn_timeout_ms: 5, stall_timeout_ms: 6}"
    assert load(tmp_path, slower).agent_digest == first.agent_digest
    assert load(tmp_path, "agent: {kind: claude_code}\nclaude_code: {model: b}").agent_digest != first.agent_digest
    assert load(tmp_path, "agent: {kind: command}\nclaude_code: {model: a}").agent_digest != first.agent_digest


def test_loading_imports_nothing_heavy(tmp_path: Path) -> None:
    """Start-up is a feature: no engine and no schema library, and no YAML parser without a file."""
    write(tmp_path, "agent: {kind: command}", "{{ task.title }}")
    script = """
import pathlib, sys
from baton_runner.workflow.policy import load_policy
folder = pathlib.Path(sys.argv[1])
heavy = lambda: {"yaml", "liquid", "jsonschema", "subprocess"} & set(sys.modules)
load_policy(None, environ={}, folder=folder)
assert heavy() == set(), heavy()
load_policy(folder / "WORKFLOW.md", environ={}, folder=folder)
assert heavy() == {"yaml"}, heavy()
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
