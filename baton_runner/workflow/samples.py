"""Sample tasks and issues with which the validator tries a prompt: one with everything, one with nothing."""

from baton_runner.workflow.prompt_values import Blocker, PromptFailure, PromptIssue, PromptTask

__all__ = ["EMPTY_ISSUE", "EMPTY_TASK", "FAILURE", "FULL_ISSUE", "FULL_TASK"]

FULL_TASK = PromptTask(
    id="1.2",
    key="add-login:1.2",
    title="Sample task",
    text="Sample task with every field filled",
    body="A paragraph of the task.",
    steps=("First step", "Second step"),
    section="Sample section",
    change="add-login",
    verification=("make test",),
)
EMPTY_TASK = PromptTask(
    id="1", key="add-login:1", title="Bare", text="Bare", body="", steps=(), section="", change="add-login",
    verification=(),
)  # fmt: skip
FULL_ISSUE = PromptIssue(
    id="I_1",
    item_id="PVTI_1",
    identifier="acme__shop-7",
    number=7,
    repository="acme/shop",
    title="Sample issue",
    description="A paragraph of the issue.",
    priority=1,
    state="Todo",
    branch_name="sample-branch",
    url="https://example.org/acme/shop/issues/7",
    labels=("bug", "ai"),
    blocked_by=(Blocker(id="I_2", identifier="acme__shop-6", state="Todo"),),
    created_at="2026-01-02T03:04:05.000Z",
    updated_at="2026-01-03T03:04:05.000Z",
)
EMPTY_ISSUE = PromptIssue(id="I_3", identifier="acme__shop-8", title="Bare", state="Todo")
FAILURE = PromptFailure(kind="verification", command="make test", output="1 failed", note="A remark.")
