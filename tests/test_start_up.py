"""Start-up is a feature: reading a plan, a policy and a repository loads nothing heavy (design section 7)."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = (
    "httpx", "starlette", "uvicorn", "mcp", "rich", "jsonschema", "liquid", "psutil", "pexpect", "doit", "nox", "sqlite3",
    "structlog", "watchfiles", "distributed",
)  # fmt: skip
SHOW = "import sys, {module}; print(*sorted(set({heavy}) & set(sys.modules)))"


@pytest.mark.parametrize(
    "module",
    [
        "baton_runner",
        "baton_runner.plan.tasks_md",
        "baton_runner.workflow.policy",
        "baton_runner.controller.project",
        "baton_runner.controller.controller",
    ],
)
def test_importing_what_every_command_needs_loads_nothing_heavy(module: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHOW.format(module=module, heavy=HEAVY)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == []


def test_the_check_would_notice() -> None:
    """The very same question about a module that does load one of them."""
    ended = subprocess.run(
        [sys.executable, "-c", SHOW.format(module="doit.task", heavy=HEAVY)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout.split() == ["doit"]
