"""The fast answer: an up-to-date run, and what `list` and `status` say of it, before git, doit or a plan is read.

When nothing is left to do, every file that the answer rests on is looked at once: size, times and inode, and the bytes of
what is too young for its times to be trusted. While all of that is as it was, so is the answer. Whatever is in doubt makes
the slow path decide: this module says "as before" or nothing.

Watched: the plans and the list of changes, WORKFLOW.md and the variables it reads, refs of the integration branches, their
records and base branches, everything under ``.baton`` that a decision reads, task locks, worktrees, copied files, and our
own version. Not
watched: the user's other sources, which are no part of a plan's truth.
"""

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baton_runner import __version__
from baton_runner.base import files
from baton_runner.base.errors import BatonError

if TYPE_CHECKING:
    from baton_runner.controller.project import Project

__all__ = ["Place", "keep", "locate", "recall"]

_YOUNG_NS = 2_000_000_000
"""Files changed this shortly before they were looked at are compared by their bytes: some file systems tick in seconds."""
_RECORDS = ("receipts", "outcomes", "definitions", "pending", "ticks", "redo", "failures")
_SLOW_WHEN_SET = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "BATON_MARKER", "BATON_TASK_ID",
)  # fmt: skip
_OPEN = {"pending", "redo"}
_FACTS = ("complete", "baseline")


@dataclass(frozen=True)
class Place:
    """A checkout, found without git: its top, and the git directories of it and of its repository."""

    top: Path
    git_dir: Path
    common_dir: Path

    @property
    def baton(self) -> Path:
        """The ``.baton`` folder (design section 6)."""
        return (self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir) / ".baton"

    def file(self, command: str) -> Path:
        """Where the last answer of a command lies."""
        return self.baton / "answers" / f"{command}.json"


def locate(start: Path, environ: Mapping[str, str]) -> Place | None:
    """The checkout around a folder; None where only the slow path can tell: git's own variables are set, an assignment."""
    if any(name in environ for name in _SLOW_WHEN_SET):
        return None
    with suppress(OSError, ValueError):
        here = start.resolve(strict=True)
        for top in (here, *here.parents):
            dot_git = top / ".git"
            if dot_git.is_dir():
                return Place(top, dot_git, dot_git)
            if dot_git.is_file():
                return _linked(top, dot_git)
    return None


def recall(place: Place, request: Sequence[str], environ: Mapping[str, str]) -> Any:
    """The kept answer to a request, if all that it rests on is as it was; None when that must be looked at.

    ``request`` is the command and whatever shapes its answer; the same words were kept.
    """
    try:
        record: dict[str, Any] = json.loads(place.file(request[0]).read_bytes())
        if record["version"] != __version__ or record["request"] != list(request) or record["top"] != str(place.top):
            return None
        watched = _Watched.of(record["watched"])
        if record["variables"] != _values(watched.variables, environ):
            return None
        if record["seen"] != _look(watched) or record["young"] != {path: _bytes(path) for path in record["young"]}:
            return None
        answer = record["answer"]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # an optimisation: whatever is wrong with it, the slow path knows the truth
    return answer


def keep(project: "Project", place: Place, request: Sequence[str], answer: Any, began_ns: int) -> None:
    """Keep the answer of a command that began then (``time.time_ns``) and found every task finished, and nothing waiting."""
    watched = _watched(project, place)
    if any(_entries(folder) for folder in watched.records if Path(folder).parent.name in _OPEN):
        return  # a decision or a publication is waiting
    if project.workspaces.orphans():
        return  # a dead run left a worktree that the next one is to look at
    seen = _look(watched)
    young = {path: _bytes(path) for path, at in _times(watched) if at > time.time_ns() - _YOUNG_NS}
    if any(at > began_ns for path, at in _times(watched) if not path.startswith(str(place.baton))):
        return  # somebody edited a plan, the policy or a branch meanwhile: only the next run knows what that means
    record = {
        "version": __version__,
        "request": list(request),
        "top": str(place.top),
        "watched": watched.to_json(),
        "variables": _values(watched.variables, project.environ),
        "seen": seen,
        "young": young,
        "answer": answer,
    }
    with suppress(BatonError):  # an optimisation: whoever only looks must work on a full or read-only disk
        files.replace_file(place.file(request[0]), json.dumps(record).encode())


@dataclass(frozen=True)
class _Watched:
    """What an answer rests on: files, folders of records, folders of which only the names matter, variables."""

    files: tuple[str, ...]
    records: tuple[str, ...]
    names: tuple[str, ...]
    variables: tuple[str, ...]

    @classmethod
    def of(cls, value: Mapping[str, list[str]]) -> "_Watched":
        return cls(*(tuple(value[name]) for name in ("files", "records", "names", "variables")))

    def to_json(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in ("files", "records", "names", "variables")}


def _watched(project: "Project", place: Place) -> _Watched:
    from baton_runner.base.slug import slug
    from baton_runner.controller.branch import Branch
    from baton_runner.repo.setup import INCLUDE_FILE, wanted_files

    paths = [place.top / "WORKFLOW.md", place.git_dir / "HEAD", place.common_dir / "packed-refs"]
    paths += [project.policy.path] if project.policy.path else []
    paths += [place.top / path for path in wanted_files(project.checkout, project.policy.settings.workspace.copy)]
    paths += [place.top / INCLUDE_FILE]
    records: list[Path] = [place.common_dir / "reftable"]
    for change in project.changes:
        name = slug(change.id)
        branch = Branch(
            project.repository, project.objects, project.refs, change.id, project.policy.settings.integration.branch
        )
        base = branch.base()
        refs = [branch.ref, f"refs/baton/changes/{name}"] + ([base.base_branch] if base and base.base_branch else [])
        paths += [change.plan_path, *(place.common_dir / ref for ref in refs)]
        paths += [place.baton / fact / f"{name}.json" for fact in _FACTS]
        records += [place.baton / kind / name for kind in _RECORDS]
        records += [place.common_dir / "refs" / "baton" / "receipts" / name]
        records += [place.common_dir / "baton" / "locks" / "tasks" / name]
    records += [place.baton / "pauses", *(slot.folder for slot, _ in project.workspaces.records())]
    homes = (
        place.top / "openspec" / "changes", place.top / "tasks", place.top / "openspec", project.workspaces.root / "w",
    )  # fmt: skip
    return _Watched(
        tuple(map(str, paths)),
        tuple(map(str, records)),
        tuple(map(str, homes)),
        tuple(sorted(project.policy.variables)),
    )


def _look(watched: _Watched) -> str:
    """One digest over the metadata of everything watched."""
    digest = hashlib.blake2b(digest_size=20)
    for path in watched.files:
        digest.update(f"{path}\0{_metadata(path)}\0".encode("utf-8", "surrogateescape"))
    for folder in watched.records:
        digest.update(f"{folder}\0".encode("utf-8", "surrogateescape"))
        for name, found in _entries(folder):
            digest.update(f"{name}\0{_shown(found)}\0".encode("utf-8", "surrogateescape"))
    for folder in watched.names:
        names = "\0".join(name for name, found in _entries(folder) if stat.S_ISDIR(found.st_mode))
        digest.update(f"{folder}\0{names}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _times(watched: _Watched) -> Iterable[tuple[str, int]]:
    """Each watched file with the time of its last change of any kind."""
    for path in watched.files:
        with suppress(OSError):
            found = os.stat(path)  # noqa: PTH116 - thousands of these: the plain call is three times as fast
            yield path, max(found.st_mtime_ns, found.st_ctime_ns)
    for folder in watched.records:
        for name, found in _entries(folder):
            yield f"{folder}/{name}", max(found.st_mtime_ns, found.st_ctime_ns)


def _entries(folder: str) -> list[tuple[str, os.stat_result]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                ((entry.name, entry.stat(follow_symlinks=False)) for entry in entries), key=lambda pair: pair[0]
            )
    except (FileNotFoundError, NotADirectoryError):
        return []


def _metadata(path: str) -> str:
    try:
        return _shown(os.stat(path))  # noqa: PTH116 - see _times
    except (FileNotFoundError, NotADirectoryError):
        return "absent"


def _shown(found: os.stat_result) -> str:
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_mode}"


def _bytes(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except IsADirectoryError:
        return "folder"
    except (FileNotFoundError, NotADirectoryError):
        return "absent"


def _values(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Digests of variables: a fingerprint holds no secret."""
    return {name: hashlib.sha256(environ.get(name, "\0unset").encode()).hexdigest() for name in names}


def _linked(top: Path, dot_git: Path) -> Place | None:
    """A linked worktree or a submodule: ``.git`` is a file that names the git directory."""
    text = dot_git.read_text("utf-8").strip()
    if not text.startswith("gitdir: "):
        return None
    git_dir = Path(os.path.normpath(top / text.removeprefix("gitdir: "))).resolve()
    pointer = git_dir / "commondir"
    common = Path(os.path.normpath(git_dir / pointer.read_text("utf-8").strip())) if pointer.is_file() else git_dir
    return Place(top, git_dir, common.resolve())
