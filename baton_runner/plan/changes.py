"""Where plans live: the changes of a repository, which one is meant, and what an agent should read beside the plan."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.errors import NothingCollected, UsageError

__all__ = ["Change", "context_files", "find_changes", "select_change"]

_OPENSPEC = Path("openspec", "changes")
_TASKS = Path("tasks")
_PLAN = "tasks.md"
_ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Change:
    """One unit of intent: its id (the folder's name), its folder, and the file that holds its plan."""

    id: str
    folder: Path
    plan_path: Path


def find_changes(top: Path) -> tuple[Change, ...]:
    """The open changes below a repository's top, sorted by id.

    ``openspec/changes/<id>/tasks.md``; ``tasks/<id>/tasks.md`` where there is no ``openspec/changes``. Hidden folders
    and ``archive`` are no changes, nor is a folder without a plan.
    """
    home = _home(top)
    if not home.is_dir():
        return ()
    folders = sorted(folder for folder in home.iterdir() if _is_change(folder))
    return tuple(Change(folder.name, folder, folder / _PLAN) for folder in folders if (folder / _PLAN).is_file())


def select_change(changes: tuple[Change, ...], name: str | None) -> Change:
    """The change called ``name``, or the only one there is.

    Raises NothingCollected when there is none, UsageError when the name fits none or is needed.
    """
    if not changes:
        raise NothingCollected(
            "no change was found",
            where=str(_OPENSPEC),
            todo=f"write a plan to {_OPENSPEC / '<id>' / _PLAN}, or to {_TASKS / '<id>' / _PLAN} where there is no OpenSpec",
            code="no_change",
        )
    ids = [change.id for change in changes]
    if name is None:
        if len(changes) == 1:
            return changes[0]
        raise UsageError(f"there are {len(ids)} changes", todo=f"name one of {', '.join(ids)}", code="several_changes")
    for change in changes:
        if change.id == name:
            return change
    near = difflib.get_close_matches(name, ids, n=1)
    advice = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(ids)}"
    raise UsageError(
        f"there is no change {name}", where=str(changes[0].folder.parent), todo=advice, code="unknown_change"
    )


def context_files(change: Change) -> tuple[Path, ...]:
    """The files beside the plan that an agent should read: proposal, design, and the specs in order of their paths."""
    named = [change.folder / name for name in ("proposal.md", "design.md")]
    specs = sorted((change.folder / "specs").rglob("spec.md"))
    return tuple(path for path in (*named, *specs) if path.is_file())


def _home(top: Path) -> Path:
    openspec = top / _OPENSPEC
    return openspec if openspec.is_dir() else top / _TASKS


def _is_change(folder: Path) -> bool:
    return folder.is_dir() and folder.name != _ARCHIVE and not folder.name.startswith(".")
