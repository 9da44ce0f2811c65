"""What an agent leaves becomes one commit to merge: uncommitted work included, the plan files as they were at the base.

The harness commits with no hook and no signature, as its own identity. The history from the base to the commit it
returns never touches a plan file; where an agent's commits did, they are written again without that, authors and dates
kept. The worktree ends at that commit, so that the next turn goes on from it.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from baton_runner.base.errors import ActionNeeded
from baton_runner.base.files import replace_file
from baton_runner.repo import parking
from baton_runner.repo.git import GitError
from baton_runner.repo.objects import Change, Objects
from baton_runner.repo.submodules import stage_all
from baton_runner.repo.worktrees import Worktree

__all__ = ["Captured", "CommitMode", "StrayedHead", "UncommittedWork", "UnfinishedOperation", "capture"]

_GITLINK = "160000"
_SHOWN = 5
_UNBORN = re.compile(rb"'([^']*?)/?' does not have a commit checked out")


class CommitMode(StrEnum):
    """Who commits (``agent.commit``)."""

    AUTO = "auto"
    AGENT = "agent"


class StrayedHead(ActionNeeded):
    """The worktree is at a commit that does not descend from the attempt's base."""

    code = "strayed_head"


class UnfinishedOperation(ActionNeeded):
    """A merge, rebase or the like was begun in the worktree and not ended."""

    code = "unfinished_operation"


class UncommittedWork(ActionNeeded):
    """Work was left uncommitted where the policy wants the agent to commit."""

    code = "uncommitted_work"


@dataclass(frozen=True, slots=True)
class Captured:
    """An attempt's result. ``commit`` is None when its tree equals the base's; ``changes`` are base to tree.

    ``left_behind`` are the paths whose changes were dropped (plan files, repositories nested without ``.gitmodules``).
    """

    commit: str | None
    tree: str
    changes: tuple[Change, ...]
    left_behind: tuple[str, ...]
    by_harness: bool


def capture(
    worktree: Worktree, *, base: str, plan_paths: Sequence[str], message: str, mode: CommitMode = CommitMode.AUTO
) -> Captured:
    """Make a commit of what is in the worktree.

    Raises StrayedHead, UnfinishedOperation, UncommittedWork, or WorktreeLost; the worktree is untouched then.
    """
    where = str(worktree.path)
    if names := worktree.unfinished():
        raise UnfinishedOperation(
            f"has an operation that was not ended ({', '.join(names)})", where=where, todo="finish or abort it"
        )
    objects = worktree.objects
    head = worktree.head()
    history = () if head == base else _history(objects, base, head, where)
    tree = _tree_of_files(worktree, mode)
    touched = _touched(objects, base, [commit for commit, _ in history], plan_paths)
    changes = objects.changes(base, tree)
    embedded = _embedded(changes)
    dropped = sorted({*touched, *(c.path for c in changes if _is_below(c.path, plan_paths)), *embedded})
    tip = head or base
    if dropped:
        tip = _rewritten(objects, base, history, tip, (*plan_paths, *embedded))
        tree = objects.tree_with(tree, base, (*plan_paths, *embedded))
        changes = objects.changes(base, tree)
    by_harness = tree != objects.tree_of(tip)
    if by_harness:
        tip = objects.commit(tree, [tip], message)
    _settle(worktree, head, tip, dropped)
    return Captured(tip if changes else None, tree, changes, tuple(dropped), by_harness and bool(changes))


def _tree_of_files(worktree: Worktree, mode: CommitMode) -> str:
    """The tree of everything that is not ignored, left in the worktree's index."""
    git = worktree.git
    (worktree.git_dir / "index.lock").unlink(missing_ok=True)  # of a git that was killed with its agent
    if mode is CommitMode.AGENT and (dirt := parking.inspect(git)):
        paths = (*dirt.changed, *dirt.untracked, *dirt.nested)
        shown = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
        raise UncommittedWork(f"holds work that is not committed: {shown}", where=str(worktree.path), todo="commit it")
    try:
        stage_all(git, worktree.git_dir)
    except GitError as error:
        unborn = _UNBORN.search(error.output.stderr)
        if unborn is None:
            raise
        raise UncommittedWork(
            f"holds a repository of its own without a commit: {os.fsdecode(unborn[1])}",
            where=str(worktree.path),
            todo="remove it, or delete its .git folder so that its files count",
        ) from error
    return git.line("write-tree")


def _history(objects: Objects, base: str, head: str | None, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The commits from base to head with their parents, oldest first; StrayedHead when base is not among them."""
    strayed = StrayedHead(
        f"is at {head or 'no commit'}, which does not descend from {base}",
        where=where,
        todo=f"put the work on top of {base[:12]}: git rebase --onto {base[:12]} ..., or start the task again",
    )
    if head is None:
        raise strayed
    listing = objects.git.try_run("rev-list", "--topo-order", "--reverse", "--parents", head, f"^{base}", "--")
    if listing.code:
        raise strayed
    lines = [line.split(" ") for line in listing.stdout.decode().splitlines()]
    if not any(base in parents for _, *parents in lines):
        raise strayed
    return tuple((commit, tuple(parents)) for commit, *parents in lines)


def _touched(objects: Objects, base: str, commits: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """The plan paths that some commit has otherwise than the base; one process for all of them."""
    if not commits or not paths:
        return ()
    asked = [f"{commit}:{path}" for commit in (base, *commits) for path in paths]
    answer = objects.git.run("cat-file", "--batch-check=%(objectname)", input=os.fsencode("\n".join([*asked, ""])))
    lines = answer.splitlines()
    ids = [b"" if line.endswith(b" missing") else line for line in lines]
    at_base = ids[: len(paths)]
    return tuple(path for n, path in enumerate(paths) if any(found != at_base[n] for found in ids[n :: len(paths)]))


def _embedded(changes: Sequence[Change]) -> tuple[str, ...]:
    """New links to repositories that no ``.gitmodules`` explains: their content would be lost."""
    if any(change.path == ".gitmodules" for change in changes):
        return ()
    return tuple(c.path for c in changes if c.new_mode == _GITLINK and c.old_mode != _GITLINK)


def _is_below(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _rewritten(
    objects: Objects,
    base: str,
    history: Sequence[tuple[str, tuple[str, ...]]],
    tip: str,
    paths: Sequence[str],
) -> str:
    """The same history with ``paths`` as at the base; commits that did nothing else disappear."""
    renamed: dict[str, str] = {}
    for commit, parents in history:
        new_parents = tuple(renamed.get(parent, parent) for parent in parents)
        old_tree = objects.tree_of(commit)
        tree = objects.tree_with(old_tree, base, paths)
        if _became_empty(objects, tree, new_parents, old_tree, parents):
            renamed[commit] = new_parents[0]
        elif tree != old_tree or new_parents != parents:
            renamed[commit] = objects.recommit(commit, tree, new_parents)
    return renamed.get(tip, tip)


def _became_empty(
    objects: Objects, tree: str, parents: tuple[str, ...], old_tree: str, old_parents: tuple[str, ...]
) -> bool:
    if len(parents) != 1 or tree != objects.tree_of(parents[0]):
        return False
    return old_tree != objects.tree_of(old_parents[0])


def _settle(worktree: Worktree, head: str | None, tip: str, dropped: Sequence[str]) -> None:
    """Leave the worktree at the captured commit; its files differ from it only where something was dropped."""
    if dropped:
        worktree.git.run("read-tree", "--reset", "-u", tip)
    if head != tip or _is_on_branch(worktree.git_dir):
        replace_file(worktree.git_dir / "HEAD", f"{tip}\n".encode())


def _is_on_branch(git_dir: Path) -> bool:
    return (git_dir / "HEAD").read_bytes().startswith(b"ref:")
