"""A user's repository with a dodo.py, and doit as a user starts it."""

import subprocess
import sys
from pathlib import Path

from tests.build.recording import user_environ
from tests.scenarios.space import Done, Space

__all__ = ["DoitSpace"]

TWO_LINES = 'from baton_runner.doit import DOIT_CONFIG, task_baton\n__all__ = ["DOIT_CONFIG", "task_baton"]\n'


class DoitSpace(Space):
    """A space in which doit is started with the user's own environment."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.doit_environ = {**user_environ(self), "PYTHONDONTWRITEBYTECODE": "1"}

    def dodo(self, text: str = TWO_LINES) -> "DoitSpace":
        self.write("dodo.py", text)
        self.commit("dodo.py")
        return self

    def start_doit(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *args],
            cwd=self.repo,
            env=self.doit_environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def doit(self, *args: str, code: int = 0) -> str:
        """The output of a doit command, which must end with this code."""
        done: Done = self.ended(self.start_doit(*args))
        assert done.code == code, f"exit {done.code}\n{done.text}"
        assert "Traceback" not in done.text, done.text
        return done.text
