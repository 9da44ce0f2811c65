"""Finish: verified work reaches the user's own branch, when the user asks, and their files move along.

The one place where a checkout of the user's is written. Branch and files move together or not at all: refused when a
path it would touch is not as committed, undone when the branch moved in between or the process died half way (a journal
in ``.baton`` says what was being done).
"""

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.errors import ActionNeeded, RepositoryError
from baton_runner.repo.checkout import Watch, git_dir_of, landed_files, worktrees_with
from baton_runner.repo.git import Git, GitError
from baton_runner.repo.objects import Change, Conflict, Objects, Signing
from baton_runner.repo.refs import RefMoved, Refs, RefUpdate

__all__ = ["DirtyPaths", "Landing", "MergeConflict", "finish", "undo_unfinished"]

_JOURNAL_WRITE = crash.declare("repo.finish_journal")
_JOURNAL_END = crash.declare("repo.finish_journal_end")
_FILES_MOVED = crash.declare("repo.finish_files_moved")
_SHOWN = 10
_ABSENT = "000000"


class DirtyPaths(ActionNeeded):
    """Paths that ``finish`` would touch hold changes that are not committed."""

    code = "dirty_checkout"

    def __init__(self, where: Path, paths: Sequence[str]) -> None:
        shown = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
        super().__init__(
            f"holds uncommitted changes where the branch would be merged: {shown}",
            where=str(where),
            todo="commit or move them away, then finish again; nothing was touched",
        )
        self.paths = tuple(paths)


class MergeConflict(ActionNeeded):
    """Two branches change the same lines; a person decides."""

    code = "merge_conflict"

    def __init__(self, branch: str, conflict: Conflict) -> None:
        super().__init__(
            f"conflicts in {', '.join(conflict.paths[:_SHOWN])}",
            where=branch,
            todo="merge the base into the integration branch and resolve it there; nothing was touched",
        )
        self.conflict = conflict


@dataclass(frozen=True, slots=True)
class Landing:
    """What ``finish`` did: the branch's new commit, and whether that is a merge commit."""

    branch: str
    old: str
    new: str
    merged: bool


def finish(objects: Objects, *, source: str, branch: str, message: str, signing: Signing = Signing.NONE) -> Landing:
    """Bring commit ``source`` into the user's ``branch`` (full name): fast-forward where possible, else a merge.

    Raises DirtyPaths, MergeConflict, ActionNeeded (a rebase is going on, or the branch is checked out more than once)
    or RefMoved; branch and files are as before then.
    """
    undo_unfinished(objects)
    refs = Refs(objects.repository)
    old = refs.get(branch)
    if old is None:
        raise RepositoryError("does not exist", where=branch, todo="make it, or name the branch to finish into")
    if objects.is_ancestor(source, old):
        return Landing(branch, old, old, merged=False)
    new = source
    is_merge = not objects.is_ancestor(old, source)
    if is_merge:
        result = objects.merge(old, source)
        if isinstance(result, Conflict):
            raise MergeConflict(branch, result)
        new = objects.commit(result.tree, [old, source], message, signing=signing)
    objects.make_durable(new, old)
    places = worktrees_with(objects, branch)
    if len(places) > 1:
        shown = ", ".join(map(str, places))
        raise ActionNeeded(f"is checked out in {shown}", where=branch, todo="leave it checked out in one place")
    if places:
        _move(objects, places[0], branch, old, new)
    else:
        refs.transaction([RefUpdate(branch, new, old)])
    return Landing(branch, old, new, merged=is_merge)


@dataclass(frozen=True, slots=True)
class _Journal:
    top: str
    branch: str
    old: str
    new: str


def undo_unfinished(objects: Objects) -> bool:
    """Put back what a finish left that died before the branch moved; whether there was one.

    Only files that hold exactly what it wrote are put back, so that an edit made since then stays.
    """
    path = objects.repository.baton / "finish.json"
    value = files.read_json(path)
    if value is None:
        return False
    journal = _Journal(**value)
    if Refs(objects.repository).get(journal.branch) == journal.old:
        top = Path(journal.top)
        _put_back(objects, Watch(objects, top, git_dir_of(objects, top)), journal.old, journal.new)
    files.remove(path, _JOURNAL_END)
    return True


def _move(objects: Objects, top: Path, branch: str, old: str, new: str) -> None:
    """Files and index from old to new, then the branch; back again when the branch is not at old any more."""
    git_dir = git_dir_of(objects, top)
    if (git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip() != f"ref: {branch}":
        raise ActionNeeded("is in the middle of a rebase or bisect", where=str(top), todo="end it, then finish again")
    watch = Watch(objects, top, git_dir)
    if in_the_way := _in_the_way(watch, objects.changes(old, new)):
        raise DirtyPaths(top, in_the_way)
    journal = objects.repository.ensure_baton() / "finish.json"
    text = json.dumps(asdict(_Journal(str(top), branch, old, new))).encode()
    files.write_atomic(journal, text, _JOURNAL_WRITE)
    try:
        _git(watch).run("read-tree", "-m", "-u", old, new)
        crash.reach(_FILES_MOVED)
        Refs(objects.repository).transaction([RefUpdate(branch, new, old)])
    except (RefMoved, GitError):
        _put_back(objects, watch, old, new)
        files.remove(journal, _JOURNAL_END)
        raise
    files.remove(journal, _JOURNAL_END)


def _git(watch: Watch) -> Git:
    """Git in the user's checkout; where that is sparse it stays so."""
    if not (watch.git_dir / "info" / "sparse-checkout").is_file():
        return watch.git
    shared = watch.objects.repository.git.at(watch.top, GIT_DIR=str(watch.git_dir))
    keys = ("core.sparseCheckout", "core.sparseCheckoutCone")
    values = [(key, shared.try_run("config", "--type=bool", key).line) for key in keys]
    return watch.git.configured([(key, value) for key, value in values if value])


def _in_the_way(watch: Watch, changes: Sequence[Change]) -> tuple[str, ...]:
    """What is not as committed where files would change, and whatever lies where one would be made, ignored or not."""
    touched = {change.path for change in changes}
    dirty = {seen.path for seen in watch.status() if _collides(seen.path, touched)}
    new = {change.path for change in changes if change.old_mode == _ABSENT and os.path.lexists(watch.top / change.path)}
    replaced = {change.path for change in changes if change.new_mode == _ABSENT}
    made_of_folders = {path for path in new if any(gone.startswith(f"{path}/") for gone in replaced)}
    return tuple(sorted(dirty | (new - made_of_folders)))


def _put_back(objects: Objects, watch: Watch, old: str, new: str) -> None:
    """Index and files from new to old, wherever they are exactly as ``_move`` made them."""
    git = _git(watch)
    git.try_run("read-tree", "-m", "-u", new, old)  # refuses, and touches nothing, when files were half written
    changes = objects.changes(old, new)
    paths = [change.path for change in changes]
    written = set(landed_files(watch, paths, changes))
    restored = []
    for change in changes:
        place = watch.top / change.path
        if change.old_mode == _ABSENT and change.path in written:
            place.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                place.parent.rmdir()
        elif change.old_mode != _ABSENT and (change.path in written or not os.path.lexists(place)):
            restored.append(change.path)
    if restored:
        listing = os.fsencode("\0".join([*restored, ""]))
        git.run("checkout-index", "--force", "-u", "-z", "--stdin", input=listing)


def _collides(path: str, touched: set[str]) -> bool:
    """Whether a changed path is one that would be touched, lies below one, or is a folder of one."""
    if path in touched:
        return True
    parts = path.split("/")
    if any("/".join(parts[:n]) in touched for n in range(1, len(parts))):
        return True
    return any(each.startswith(f"{path}/") for each in touched)
