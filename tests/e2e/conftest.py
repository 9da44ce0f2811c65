"""The real Claude Code, a scripted model server on the loopback interface, and a git worktree to work in.

The program comes from the folder named by BATON_E2E_CACHE, installed there by npm when it is missing (about 250 MB).
Without that folder or without npm these tests are skipped as skipped.
"""

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from baton_runner.agents.claude_code import ClaudeCode
from baton_runner.agents.environment import Identity, agent_environment
from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import SessionRequest
from baton_runner.base.locks import Lock
from baton_runner.base.processes import end_marked
from tests.e2e.scripted_model import Model, serving

CACHE = "BATON_E2E_CACHE"
PACKAGE = "@anthropic-ai/claude-code"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session")
def claude() -> Path:
    """The program, installed once for all workers."""
    folder = os.environ.get(CACHE)
    if not folder:
        pytest.skip(f"{CACHE} names no folder for the real program (nox -s e2e does)")
    program = Path(folder) / "node_modules" / ".bin" / "claude"
    with Lock(Path(folder) / "install.lock"):
        if not program.exists():
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip("npm is not installed")
            subprocess.run(
                [npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, PACKAGE], check=True
            )
    return program


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as script:
        yield script


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def git(folder: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def history(worktree: Path) -> Callable[[], list[str]]:
    """Reads ``author: subject`` of every commit in the worktree, newest first."""
    return lambda: git(worktree, "log", "--format=%an: %s").splitlines()


@pytest.fixture
def events() -> list[AgentEvent]:
    return []


@pytest.fixture
def agent(claude: Path) -> ClaudeCode:
    return ClaudeCode(command=str(claude))


@pytest.fixture
def assignment(
    tmp_path: Path, worktree: Path, model: Model, agent: ClaudeCode, events: list[AgentEvent]
) -> Iterator[Callable[..., SessionRequest]]:
    marker = f"e2e-{uuid.uuid4().hex}"
    home = tmp_path / "home"
    home.mkdir()
    own = {
        **os.environ,
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "dummy-key-of-the-test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDECODE": "1",
    }
    own.pop("CLAUDE_CONFIG_DIR", None)
    environ = agent_environment(
        own, needed=agent.environment_names, identity=Identity("The Agent", "agent@example.org")
    )

    def make(**changed: Any) -> SessionRequest:
        fields: dict[str, Any] = {
            "worktree": worktree,
            "change": "add-hello",
            "task_id": "1.1",
            "attempt": 1,
            "log_folder": tmp_path / "logs",
            "environ": environ,
            "marker": marker,
            "turn_timeout": 300.0,
            "stall_timeout": 120.0,
            "on_event": events.append,
        }
        return SessionRequest(**{**fields, **changed})

    yield make
    end_marked(marker)
