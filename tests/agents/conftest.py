"""A worktree, a request and scripted programs: what the tests of every adapter start from."""

import os
import shlex
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from baton_runner.agents.events import AgentEvent
from baton_runner.agents.protocol import SessionRequest
from baton_runner.base.processes import Cancel, end_marked, processes_marked

RECORDINGS = Path(__file__).parent / "recordings"


@pytest.fixture
def recordings() -> Path:
    return RECORDINGS


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "work tree"
    folder.mkdir()
    return folder


@pytest.fixture
def events() -> list[AgentEvent]:
    return []


@pytest.fixture
def marker() -> Iterator[str]:
    name = f"agent-test-{uuid.uuid4().hex}"
    yield name
    left = processes_marked(name)
    end_marked(name)
    assert left == (), "a process outlived its session"


@pytest.fixture
def assignment(tmp_path: Path, worktree: Path, events: list[AgentEvent], marker: str) -> Callable[..., SessionRequest]:
    """Makes a request, with the given fields changed."""

    def make(**changed: Any) -> SessionRequest:
        fields: dict[str, Any] = {
            "worktree": worktree,
            "change": "add-login",
            "task_id": "1.2",
            "attempt": 3,
            "log_folder": tmp_path / "logs",
            "environ": {"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            "marker": marker,
            "turn_timeout": 60.0,
            "on_event": events.append,
        }
        return SessionRequest(**{**fields, **changed})

    return make


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Makes a command line that runs a Python script."""

    def make(script: str) -> str:
        file = tmp_path / f"program-{uuid.uuid4().hex}.py"
        file.write_text(script)
        return shlex.join([sys.executable, "-S", str(file)])

    return make


@pytest.fixture
def cancel_once_there() -> Callable[[Path], Cancel]:
    """Makes a request to stop that another thread asks for as soon as a program has made this file."""

    def make(path: Path) -> Cancel:
        cancel = Cancel()

        def watch() -> None:
            while not path.exists():
                threading.Event().wait(0.005)
            cancel.set()

        threading.Thread(target=watch, daemon=True).start()
        return cancel

    return make
