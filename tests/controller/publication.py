"""A publication in a real repository, and the program that tests let die in the middle of one.

``python -m tests.controller.publication publish|recover <folder>``: integrates task 1.1's commit, or recovers.
"""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from baton_runner.base import crash
from baton_runner.controller.controller import Controller
from baton_runner.controller.integration import Ending, Integrated, Proposal
from baton_runner.controller.project import Project
from baton_runner.controller.recovery import recover
from baton_runner.controller.states import Facts
from baton_runner.evidence.decisions import Redo
from baton_runner.evidence.outcome import outcome_bytes
from baton_runner.evidence.receipt import Inputs, Receipt
from baton_runner.repo.refs import attempt_ref, receipt_ref
from tests.controller.worlds import AT, receipt_of
from tests.repo.repo_space import clean_environ

__all__ = ["BRANCH", "KEY", "Scene", "main"]

PLAN = "## 1. A\n- [ ] 1.1 add it\n- [ ] 1.2 add more\n"
POLICY = "---\nverify: {required: false}\n---\n"
BRANCH = "refs/heads/baton/demo"
KEY = "1.1"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Scene:
    """A repository with a plan of two tasks; the work at 1.1 is a commit under its attempt ref."""

    folder: Path

    @property
    def top(self) -> Path:
        return self.folder / "repo"

    @property
    def environ(self) -> dict[str, str]:
        return {**clean_environ(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}

    @classmethod
    def make(cls, folder: Path) -> "Scene":
        scene = cls(folder.resolve())
        scene.top.mkdir(parents=True)
        scene.git("init", "--quiet", "--initial-branch=main")
        scene.commit({"tasks/demo/tasks.md": PLAN, "WORKFLOW.md": POLICY, "a.txt": "a\n"}, "start")
        scene.git("checkout", "--quiet", "-b", "work")
        scene.git("update-ref", attempt_ref("demo", KEY, 1), scene.commit({"b.txt": "b\n"}, "work at 1.1"))
        scene.git("checkout", "--quiet", "main")
        scene.git("branch", "--quiet", "-D", "work")
        return scene

    def git(self, *args: str) -> str:
        ended = subprocess.run(
            ["git", *args], cwd=self.top, env=self.environ, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.rstrip("\n")

    def commit(self, files: Mapping[str, str], message: str) -> str:
        for name, text in files.items():
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.top / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD")

    def refs(self) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    @property
    def work(self) -> str:
        return self.refs()[attempt_ref("demo", KEY, 1)]

    # -- ours

    def controller(self) -> Controller:
        """A controller as a command has one: everything read anew."""
        project = Project.open(self.top, self.environ)
        return Controller(project, project.changes[0])

    def integrate(self, controller: Controller, *, redo: Redo | None = None) -> Ending:
        """What a run does with the work at 1.1 once its agent ended."""
        facts = controller.facts(KEY)
        draft = replace(receipt_of(controller.task(KEY), Inputs()), change="demo", commit=self.work, outcome="")
        proposal = Proposal(
            draft=draft, title="add it", commit=self.work, previous=facts.receipt, answers=redo, checks=(),
            logs=controller.parts.layout.logs(KEY, 1),
        )  # fmt: skip
        return controller.parts.integrator.integrate(proposal, finished=AT)

    def published(self) -> Receipt:
        """Publish without any accident."""
        ending = self.integrate(self.controller())
        assert isinstance(ending, Integrated)
        return ending.receipt

    def recover(self) -> tuple[str, ...]:
        controller = self.controller()
        return recover(controller.parts, controller.plan.tasks).lines

    def facts(self) -> Facts:
        return self.controller().facts(KEY)

    def dies(self, what: str, point: str) -> bool:
        """Do it in a process that is killed at a crash point; whether it came there."""
        ended = subprocess.run(
            [sys.executable, "-m", "tests.controller.publication", what, str(self.folder)],
            cwd=ROOT, env={**self.environ, crash.VARIABLE: point}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode in {0, -9}, ended.stderr
        return ended.returncode == -9

    def file(self, kind: str) -> Path:
        return self.top / ".baton" / kind / "demo" / f"{KEY}.json"

    def merges(self) -> int:
        """How often the work at 1.1 was merged."""
        log = self.git("log", "--format=%(trailers:key=Baton-Task,valueonly)", BRANCH)
        return log.split().count("demo:1.1")

    def check_agreement(self) -> Receipt:
        """Receipt file, its ref, outcome and branch say one thing, and nothing is on its way."""
        data = self.file("receipts").read_bytes()
        receipt = Receipt.decode(data, where="receipt")
        assert self.git("cat-file", "blob", self.refs()[receipt_ref("demo", KEY)]).encode() == data
        assert self.file("outcomes").read_bytes() == outcome_bytes(receipt.outcome)
        assert not self.file("pending").exists()
        assert not self.file("redo").exists()
        assert self.merges() == 1
        assert self.git("merge-base", receipt.commit, BRANCH) == receipt.commit
        assert self.git("rev-parse", f"{BRANCH}^{{tree}}") == receipt.tree
        assert not list((self.top / ".git" / "refs").rglob("*.lock"))
        self.git("fsck", "--strict", "--no-dangling")
        return receipt


def main(what: str, folder: str) -> None:
    """Publish or recover, to be killed on the way."""
    scene = Scene(Path(folder))
    if what == "recover":
        scene.recover()
        return
    controller = scene.controller()
    redo = Redo.read(controller.parts.layout.redo(KEY))
    assert isinstance(scene.integrate(controller, redo=redo), Integrated)


if __name__ == "__main__":
    main(*sys.argv[1:])
