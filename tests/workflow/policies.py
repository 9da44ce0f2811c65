"""Invented policies for the tests of this folder: write one, load one, and sample tasks and issues."""

import textwrap
from pathlib import Path

from baton_runner.workflow.findings import Finding
from baton_runner.workflow.policy import Policy, load_policy
from baton_runner.workflow.prompt import Prompt
from baton_runner.workflow.prompt_values import Blocker, PromptFailure, PromptIssue, PromptTask
from baton_runner.workflow.validation import Use, lint

TASK = PromptTask(
    id="1.2",
    key="add-login:1.2",
    title="Write the form",
    text="Write the form",
    body="Use the house style.",
    steps=("draw", "wire"),
    section="Pages",
    change="add-login",
    verification=("make test", "make lint"),
)
ISSUE = PromptIssue(
    id="I_1",
    identifier="acme__shop-7",
    title="Prices are wrong",
    state="Todo",
    description="They are rounded down.",
    labels=("bug", "ai"),
    blocked_by=(Blocker(id="I_0", identifier="acme__shop-6", state="In Progress"),),
)


def write(folder: Path, front: str, body: str = "Do it.") -> Path:
    path = folder / "WORKFLOW.md"
    path.write_text(f"---\n{textwrap.dedent(front).strip()}\n---\n{body}\n", encoding="utf-8")
    return path


def load(folder: Path, front: str, body: str = "Do it.", **environ: str) -> Policy:
    return load_policy(write(folder, front, body), environ=environ, folder=folder)


def findings(folder: Path, front: str, body: str = "Do it.", use: Use = Use.SERVICE, **environ: str) -> list[Finding]:
    return list(lint(write(folder, front, body), environ={"HOME": str(folder), **environ}, folder=folder, use=use))


def codes(found: list[Finding]) -> list[str]:
    return [finding.code for finding in found]


def render(
    body: str,
    *,
    task: PromptTask | None = None,
    issue: PromptIssue | None = ISSUE,
    attempt: int | None = None,
    failure: PromptFailure | None = None,
) -> str:
    return Prompt(body, "WORKFLOW.md", 10).render(task=task, attempt=attempt, failure=failure, issue=issue)


GOOD = """
tracker:
  kind: file
  path: ./cards
agent:
  kind: command
command:
  run: ./agent.sh
"""
