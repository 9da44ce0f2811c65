"""A user's repository with a dodo.py, and doit as a user starts it."""

import subprocess
import sys
from pathlib import Path

from tests.build.recording import user_environ
from tests.scenarios.space import Done, Space

__all__ = ["DoitSpace"]

TWO_LINES = 'from baton_runner.doit import DOIT_CONFIG, task_baton\n__all__ = ["DOIT_CONFIG", "task_baton"]\n'

ENTRY_POINTS = """\
[doit.COMMAND]
clean = baton_runner.build.commands:Clean
forget = baton_runner.build.commands:Forget
ignore = baton_runner.build.commands:Ignore
info = baton_runner.build.commands:Info
list = baton_runner.build.commands:List
reset-dep = baton_runner.build.commands:ResetDep
run = baton_runner.build.commands:Run
[doit.BACKEND]
baton = baton_runner.build.backend:LazyDatabase
[doit.LOADER]
baton = baton_runner.build.loader:PlanLoader
"""
"""What the distribution declares; an installation of this checkout may be older than its pyproject.toml."""


class DoitSpace(Space):
    """``plugins`` is a distribution that declares our entry points and nothing else."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        plugins = root / "plugins" / "baton_doit-1.dist-info"
        plugins.mkdir(parents=True)
        (plugins / "METADATA").write_text("Metadata-Version: 2.1\nName: baton-doit\nVersion: 1\n")
        (plugins / "entry_points.txt").write_text(ENTRY_POINTS)
        self.doit_environ = {
            **user_environ(self),
            "PYTHONPATH": str(root / "plugins"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

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
