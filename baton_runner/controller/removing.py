"""Removing a worktree of an attempt: its hook first, then its content parked, then it is gone."""

from pathlib import Path

from baton_runner.base.slug import slug
from baton_runner.controller.hooks import Hook, Hooks
from baton_runner.evidence.layout import Layout
from baton_runner.repo.slots import Kind, Record, Slot
from baton_runner.repo.worktrees import Workspaces

__all__ = ["remove_worktree"]


def remove_worktree(workspaces: Workspaces, hooks: Hooks, baton: Path, slot: Slot, record: Record) -> str | None:
    """Remove a worktree after its hook; the ref that holds its content, None when there was nothing to park."""
    purpose = record.purpose
    if purpose.kind is Kind.ATTEMPT:
        hooks.run(
            Hook.BEFORE_REMOVE,
            change=purpose.change,
            key=purpose.key,
            worktree=slot.tree,
            logs=Layout(baton, purpose.change).change_logs("remove"),
            marker=f"remove/{slug(purpose.change)}/{slug(purpose.key)}",
        )
    return workspaces.remove(slot)
