"""Where a change started: base branch, base commit, integration branch, in a ref of ours, never read from HEAD again.

The record is a blob of canonical JSON under ``refs/baton/changes/<change>``; it travels with the other refs.
"""

import contextlib
import json
from dataclasses import asdict, dataclass, replace

from baton_runner.base.digest import canonical
from baton_runner.base.errors import DamagedRecord
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import RefExists, RefMoved, Refs, RefUpdate, change_ref

__all__ = ["Origin", "begin_again", "begin_change", "read_origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """``base_branch`` and ``branch`` are full ref names; ``base_branch`` is empty where HEAD was detached."""

    base_branch: str
    base_commit: str
    branch: str


def read_origin(objects: Objects, change: str) -> Origin | None:
    """The record of a change, None when it has not begun; DamagedRecord when the ref holds something else."""
    name = change_ref(change)
    oid = Refs(objects.repository).get(name)
    if oid is None:
        return None
    try:
        return Origin(**json.loads(objects.read_blob(oid)))
    except (ValueError, TypeError) as error:
        raise DamagedRecord(
            "is not a record of a change", where=name, todo=f"look at it, then run git update-ref -d {name}"
        ) from error


def begin_change(objects: Objects, change: str, origin: Origin) -> Origin:
    """Record the start and make the integration branch, together; whoever comes second gets the first one's record.

    A branch of that name that is there already is taken as it is when it descends from the base commit, and RefMoved is
    raised when it does not. A record whose branch is missing (a kill between the two) gets its branch.
    """
    refs = Refs(objects.repository)
    first = read_origin(objects, change)
    if first is None:
        try:
            _record(objects, refs, change, origin)
        except RefMoved:
            first = read_origin(objects, change)
            if first is None:
                raise
        else:
            return origin
    if refs.get(first.branch) is None:
        with contextlib.suppress(RefExists):
            refs.create(first.branch, first.base_commit)
    return first


def begin_again(objects: Objects, change: str, before: Origin, commit: str) -> Origin:
    """Make the branch of a change anew at a commit, after it was deleted, and record that as its base.

    Whoever comes second finds the branch and gets the record that is there.
    """
    refs = Refs(objects.repository)
    origin = replace(before, base_commit=commit)
    blob = objects.blob(canonical(asdict(origin)))
    updates = [
        RefUpdate(change_ref(change), blob, refs.get(change_ref(change))),
        RefUpdate(origin.branch, commit, None),
    ]
    try:
        refs.transaction(updates)
    except RefMoved:
        return read_origin(objects, change) or before
    return origin


def _record(objects: Objects, refs: Refs, change: str, origin: Origin) -> None:
    present = refs.get(origin.branch)
    if present is not None and not objects.is_ancestor(origin.base_commit, present):
        raise RefMoved(origin.branch, origin.base_commit, present)
    blob = objects.blob(canonical(asdict(origin)))
    record = RefUpdate(change_ref(change), blob, None)
    refs.transaction([record, RefUpdate(origin.branch, present or origin.base_commit, present)])
