"""Pins: what the shared git configuration, hooks and attributes were before an agent ran, to report what it changed.

Calls of ours that touch files do not read any of it (see ``own_git``), so a change is a fact to report, not a danger to
race against. Pure file work, no git process.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from baton_runner.repo.repository import Repository

__all__ = ["ConfigPins"]


@dataclass(frozen=True, slots=True)
class ConfigPins:
    """Name below the common directory to a digest of content and mode, for every file that steers git."""

    common_dir: Path
    files: dict[str, str]

    @classmethod
    def take(cls, repository: Repository) -> "ConfigPins":
        """What is there now."""
        return cls(repository.common_dir, dict(_steering(repository.common_dir)))

    def changed(self) -> tuple[str, ...]:
        """The names that were added, removed or changed since; worktrees that came or went are no change."""
        now = dict(_steering(self.common_dir))
        names = {name for name in {*now, *self.files} if now.get(name) != self.files.get(name)}
        return tuple(sorted(name for name in names if not self._is_of_other_worktree(name, now)))

    def _is_of_other_worktree(self, name: str, now: dict[str, str]) -> bool:
        if not name.startswith("worktrees/"):
            return False
        return name not in now and not (self.common_dir / name).parent.exists()


def _steering(common_dir: Path) -> Iterator[tuple[str, str]]:
    places = [common_dir / "config", common_dir / "config.worktree"]
    for folder in ("hooks", "info"):
        places += (Path(parent) / name for parent, _, names in os.walk(common_dir / folder) for name in names)
    for worktree in (common_dir / "worktrees").glob("*"):
        places += (worktree / "config.worktree", worktree / "info" / "attributes")
    for path in places:
        name = path.relative_to(common_dir).as_posix()
        if path.is_symlink():
            yield name, f"link {path.readlink()}"
        elif path.is_file():
            yield name, f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
