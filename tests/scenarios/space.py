"""A repository of a user, a scripted agent and the real ``baton`` command: what every scenario is told with."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Done", "Space"]

AGENT = """\
echo "$BATON_TASK_ID $BATON_ATTEMPT $BATON_TURN" >> "$SPACE/agent.log"
task="$SPACE/agent/${BATON_TASK_ID#*:}.sh"
if [ -e "$task" ]; then . "$task"; else echo "done" > "${BATON_TASK_ID#*:}.txt"; fi
"""

POLICY = """\
---
agent: {kind: command, env: [SPACE]}
command: {run: sh "$SPACE/agent.sh"}
verify:
  commands: ["true"]
---
"""


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


class Space:
    """A scratch world in a folder: ``repo`` is the user's checkout, ``state`` holds worktrees, ``agent/`` the scripts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repo = root / "repo"
        self.repo.mkdir(parents=True)
        (root / "agent").mkdir()
        (root / "agent.sh").write_text(AGENT)
        self.environ = _environment(root)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "User")
        self.git("config", "user.email", "user@example.invalid")

    # -- the repository

    def write(self, path: str, text: str) -> Path:
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def read(self, path: str) -> str:
        return (self.repo / path).read_text()

    def git(self, *args: str, cwd: Path | None = None) -> str:
        found = subprocess.run(
            ["git", *args], cwd=cwd or self.repo, env=self.environ, capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, f"git {' '.join(args)}: {found.stderr}"
        return found.stdout

    def commit(self, message: str = "work of the user") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def start(self, plan: str, policy: str = POLICY, change: str = "demo") -> "Space":
        """Commit a plan and a policy: the state in which a user meets us."""
        self.write(f"tasks/{change}/tasks.md", plan)
        self.write("WORKFLOW.md", policy)
        self.commit("plan and policy")
        return self

    def plan(self, change: str = "demo") -> str:
        return self.read(f"tasks/{change}/tasks.md")

    def edit_plan(self, old: str, new: str, change: str = "demo") -> None:
        text = self.plan(change)
        assert old in text
        self.write(f"tasks/{change}/tasks.md", text.replace(old, new))

    # -- the agent

    def script(self, task: str, text: str) -> None:
        """What the agent does at a task, as a shell script; SPACE, BATON_ATTEMPT and BATON_TURN are set."""
        (self.root / "agent" / f"{task}.sh").write_text(text)

    def agent_turns(self) -> Counter[str]:
        """How many turns the agent took at each task."""
        log = self.root / "agent.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return Counter(line.split(" ")[0] for line in lines)

    # -- the command

    def baton(
        self, *args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 100
    ) -> Done:
        return self.ended(self.spawn(*args, env=env, cwd=cwd), timeout=timeout)

    def spawn(self, *args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "baton_runner", *args],
            cwd=cwd or self.repo,
            env={**self.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ended(self, process: subprocess.Popen[str], timeout: float = 100) -> Done:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            process.communicate()
            raise
        return Done(process.returncode, out, err)

    def run(self, *args: str, code: int = 0, env: Mapping[str, str] | None = None) -> Done:
        """``baton run``, which must end with this exit code."""
        done = self.baton("run", *args, env=env)
        assert done.code == code, f"exit {done.code}\n{done.text}"
        return done

    def states(self) -> dict[str, str]:
        """Task id to state word, of every change."""
        done = self.baton("list", "--all", "--json")
        assert done.code == 0, done.text
        value: dict[str, Any] = json.loads(done.out)
        return {
            task["id"]: task["state"]
            for change in value["changes"]
            for section in change["sections"]
            for task in section["tasks"]
        }

    # -- what must hold after anything

    def check_nothing_left(self, branch: str = "baton/demo") -> None:
        """No stray worktree in use, no stray branch, no lock file of git, a repository that fsck calls clean."""
        branches = self.git("branch", "--format=%(refname:short)").split()
        assert set(branches) <= {"main", branch}, branches
        assert not list((self.repo / ".git" / "refs").rglob("*.lock"))
        self.git("fsck", "--strict", "--no-dangling")
        for owner in (self.root / "state").rglob("owner.json"):
            assert json.loads(owner.read_text())["state"] != "used", owner

    def merged_tasks(self, branch: str = "baton/demo") -> Counter[str]:
        """How often each task was merged into the integration branch."""
        log = self.git("log", "--first-parent", "--format=%(trailers:key=Baton-Task,valueonly)", branch)
        return Counter(line for line in log.splitlines() if line)


def _environment(root: Path) -> dict[str, str]:
    """What the user's shell has: nothing of the machine the tests run on but the way to its programs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "XDG_STATE_HOME": str(root / "state"),
        "SPACE": str(root),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PYTHONWARNINGS": "error",
    }
