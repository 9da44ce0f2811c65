"""A command of several lines is one script: what its exit code says."""

import subprocess

import pytest

from baton_runner.plan.scripts import as_script


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("false\ntrue", 1),
        ("(exit 4)\necho never", 4),
        ("true\ntrue", 0),
        ("false || true\ntrue", 0),
        ("if false; then\n  exit 3\nfi\ntrue", 0),
        ("#!/bin/sh\nfalse\ntrue", 1),
        ("false \\\n  || true", 0),
    ],
)
def test_a_script_ends_at_its_first_failing_line(command: str, code: int) -> None:
    assert subprocess.run(["sh", "-c", as_script(command)], check=False, capture_output=True).returncode == code


@pytest.mark.parametrize("command", ["false; true", "make test", "make test\n"])
def test_a_command_of_one_line_is_run_as_it_stands(command: str) -> None:
    assert as_script(command) == command
