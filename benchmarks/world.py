"""Repositories to measure in: with tasks to do, or with thousands that are proven, made without running any."""

import os
import subprocess
import sys
import time
from pathlib import Path

from baton_runner.base.files import replace_file
from baton_runner.controller.assess import Assessor, Rules
from baton_runner.controller.controller import Controller
from baton_runner.controller.project import Project
from baton_runner.controller.states import Facts
from baton_runner.evidence.decisions import TickMark
from baton_runner.evidence.outcome import outcome_bytes, task_outcome
from baton_runner.evidence.receipt import Receipt, Work
from baton_runner.plan.model import Task
from baton_runner.repo.refs import RefUpdate, receipt_ref

__all__ = ["baton", "best_of", "environ", "proven", "trivial"]

POLICY = """\
---
agent: {kind: command}
command: {run: 'echo done > "${BATON_TASK_ID#*:}.txt"'}
verify: {commands: ["true"]}
workspace: {root: ../worktrees}
---
"""


def environ(root: Path) -> dict[str, str]:
    """A user's environment, without the machine's git configuration."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        **{f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


def trivial(root: Path, tasks: int, *, mark: str = " ", section: int = 100) -> Path:
    """A repository with a plan of so many tasks, ``section`` in each section; returns its checkout."""
    repo = root / "repo"
    plan = repo / "tasks" / "bench" / "tasks.md"
    plan.parent.mkdir(parents=True)
    lines = []
    for number in range(tasks):
        part, item = divmod(number, section)
        lines += [f"\n## {part + 1}. Part {part + 1}\n"] if item == 0 else []
        lines.append(f"- [{mark}] {part + 1}.{item + 1} Write file {number}")
    plan.write_text("\n".join(lines) + "\n")
    (repo / "WORKFLOW.md").write_text(POLICY)
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "plan"]):
        subprocess.run(["git", *args], cwd=repo, env=environ(root), check=True)
    return repo


def proven(root: Path, tasks: int) -> Path:
    """A repository in which every one of so many tasks is resolved."""
    repo = trivial(root, tasks, mark="x")
    project = Project.open(repo, environ(root))
    controller = Controller(project, project.changes[0])
    head = controller.parts.branch.ensure()
    tree = project.objects.tree_of(head)
    assessor = Assessor(controller.plan, controller.order, {}, Rules())
    layout, updates = controller.parts.layout, []
    for task in controller.plan.tasks:
        receipt = _receipt(task, assessor, head, tree)
        data = receipt.encoded
        replace_file(layout.receipt(task.key), data)
        replace_file(layout.outcome(task.key), outcome_bytes(receipt.outcome))
        TickMark(receipt.seal).write(layout.tick_mark(task.key))
        updates.append((receipt_ref("bench", task.key), data))
        assessor.replace(task.key, Facts(receipt=receipt, integrated=True, named=True))
    _set_refs(project, updates)
    baton(repo, root, "run", "-q")
    return repo


def baton(repo: Path, root: Path, *args: str) -> float:
    """Run the real command; seconds of wall time."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "baton_runner", *args],
        cwd=repo,
        env=environ(root),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def best_of(times: int, call: "list[str]", **where: object) -> float:
    """The shortest of several runs of a command, in seconds."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL, **where)  # type: ignore[call-overload]
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _receipt(task: Task, assessor: Assessor, head: str, tree: str) -> Receipt:
    return Receipt(
        change="bench",
        task=task.id,
        key=task.key,
        attempt=1,
        packet="sha256:" + "0" * 64,
        definition={"text": task.text},
        definition_digest=assessor.definition(task.key),
        inputs=assessor.assess(task.key).inputs,
        commit=head,
        base=head,
        tree=tree,
        outcome=task_outcome(None, ()),
        checks=(),
        work=Work("bench"),
        finished="2026-01-01T00:00:00.000Z",
    )


def _set_refs(project: Project, receipts: list[tuple[str, bytes]]) -> None:
    blobs = [RefUpdate(name, project.objects.blob(data), None) for name, data in receipts]
    for start in range(0, len(blobs), 2000):
        project.refs.transaction(blobs[start : start + 2000])
    project.repository.git.run("pack-refs", "--all")
