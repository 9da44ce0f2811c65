"""Clean: what may be removed and why, found first and carried out only when asked.

Nothing unmerged is lost: a worktree's content is parked under a ref before the worktree goes, a branch goes only when
its work is in the branch it came from, and refs of abandoned work go only by :func:`survey_refs`.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from baton_runner.base.errors import BatonError
from baton_runner.base.files import read_json
from baton_runner.controller.abandoning import abandoned_prefix
from baton_runner.controller.branch import Branch
from baton_runner.controller.project import Project
from baton_runner.controller.removing import remove_worktree
from baton_runner.repo.refs import RefUpdate, attempts_prefix, change_ref
from baton_runner.repo.slots import Record, Slot, State

__all__ = ["Removal", "survey", "survey_refs"]

_KEPT_TREES = 20
"""So many of the newest trees keep their known greens."""


@dataclass(frozen=True)
class Removal:
    """One thing that may go. ``carry_out`` removes it and returns where its content is now, empty for nowhere."""

    what: str
    why: str
    carry_out: Callable[[], str]


def survey(project: Project, *, hours: float) -> tuple[Removal, ...]:
    """What a clean removes: worktrees not used for ``hours``, branches whose work has landed, old known greens."""
    return (*_worktrees(project, hours), *_landed(project), *_greens(project))


def survey_refs(project: Project) -> tuple[Removal, ...]:
    """The refs that hold the work of abandoned changes: with them that work is gone for good."""
    found = []
    for record in sorted((project.baton / "abandoned").glob("*.json")):
        change = str(read_json(record)["change"])
        if project.refs.get(change_ref(change)) is not None:
            continue  # it was taken up again
        for ref, oid in project.refs.read(abandoned_prefix(change), attempts_prefix(change)).items():
            found.append(Removal(ref, f"change {change} was abandoned", partial(_drop, project, ref, oid)))
    return tuple(found)


def _worktrees(project: Project, hours: float) -> Iterator[Removal]:
    oldest = project.clock.now() - dt.timedelta(hours=hours)
    for slot, record in project.workspaces.records():
        if slot.lock().is_taken() or not _is_before(record.since, oldest):
            continue
        yield Removal(f"worktree {slot.tree}", _why(record), partial(_remove, project, slot, record))


def _why(record: Record) -> str:
    match record.state:
        case State.KEPT:
            return f"kept since {record.since} for {record.purpose.change}:{record.purpose.key}: {record.reason}"
        case State.USED:
            return f"left by a process that died, since {record.since}"
        case _:
            return f"not used since {record.since}"


def _remove(project: Project, slot: Slot, record: Record) -> str:
    return remove_worktree(project.workspaces, project.hooks, project.baton, slot, record) or ""


def _is_before(since: str, limit: dt.datetime) -> bool:
    try:
        return dt.datetime.fromisoformat(since) <= limit
    except ValueError:
        return False  # a damaged record says no age: it stays for a person (promise 4)


def _landed(project: Project) -> Iterator[Removal]:
    """Integration branches of ours whose change is gone or archived, and whose work is in the branch it came from."""
    open_changes = {change.id for change in project.changes}
    prefix = change_ref("x").removesuffix("x")
    for name in project.refs.read(prefix):
        branch = _recorded(project, name.removeprefix(prefix))
        if branch is None:
            continue
        change, found = branch
        base = found.base()
        tip = found.tip()
        into = project.refs.get(base.base_branch) if base is not None and base.base_branch else None
        if change in open_changes or base is None or tip is None or into is None or found.checked_out() is not None:
            continue
        if project.objects.is_ancestor(tip, into):
            why = f"all of it is in {str(base.base_branch).removeprefix('refs/heads/')}, and its change is closed"
            yield Removal(f"branch {found.name}", why, partial(_drop, project, found.ref, tip))


def _recorded(project: Project, slug: str) -> tuple[str, Branch] | None:
    """The branch behind a change's record; None where the record cannot be read: it stays."""
    try:
        branch = Branch(project.repository, project.objects, project.refs, slug, None)
        base = branch.base()
    except BatonError:
        return None
    if base is None or base.branch != branch.ref:
        return None  # a branch that the policy named is the user's
    return slug, branch


def _greens(project: Project) -> Iterator[Removal]:
    folder = project.baton / "checks"
    trees = list(folder.iterdir()) if folder.is_dir() else []
    keep = _live_trees(project)
    old = len([tree for tree in trees if tree.name not in keep]) - _KEPT_TREES
    if old > 0:
        prune = partial(_prune, project, keep)
        yield Removal(
            f"known greens of {old} old trees", f"only the last {_KEPT_TREES} and those of heads are asked for", prune
        )


def _live_trees(project: Project) -> frozenset[str]:
    """The trees of every integration branch and of its base."""
    live = set()
    for change in project.changes:
        branch = Branch(
            project.repository, project.objects, project.refs, change.id, project.policy.settings.integration.branch
        )
        base, tip = branch.base(), branch.tip()
        commits = [*([base.base_commit] if base else []), *([tip] if tip else [])]
        live |= {project.objects.tree_of(commit) for commit in commits}
    return frozenset(live)


def _prune(project: Project, keep: frozenset[str]) -> str:
    project.cache.prune(keep, most=_KEPT_TREES)
    return ""


def _drop(project: Project, ref: str, oid: str) -> str:
    project.refs.transaction([RefUpdate(ref, None, oid)])
    return ""
