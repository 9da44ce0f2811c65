"""The check cache: which command is known to be green on which tree. Only greens are kept.

A green is valid for exactly the key it was seen under: tree, command, environment the policy gives, copied files and
set-up. Small files, so that it survives a lost database and can be read while a run goes on.
"""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base import files
from baton_runner.base.digest import canonical, digest

__all__ = ["CheckCache", "CheckSetting"]


@dataclass(frozen=True)
class CheckSetting:
    """What a command's result depends on besides the tree: policy environment, copied files and set-up digests."""

    environment: Mapping[str, str]
    setup: str

    def key(self, command: str) -> str:
        """The name of a green, a hex digest."""
        value = {"command": command, "environment": dict(self.environment), "setup": self.setup}
        return digest(value).removeprefix("sha256:")


class CheckCache:
    """Known greens under ``.baton/checks/<tree>/<key>.json``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def is_green(self, tree: str, command: str, setting: CheckSetting) -> bool:
        """Whether this command was seen to exit 0 on this tree in this setting."""
        return self._path(tree, command, setting).exists()

    def add(self, tree: str, command: str, setting: CheckSetting, *, seconds: float, at: str) -> None:
        """Remember a green."""
        record = canonical({"command": command, "seconds": seconds, "at": at})
        files.replace_file(self._path(tree, command, setting), record)

    def prune(self, keep: Collection[str], *, most: int) -> None:
        """Forget trees beyond the newest ``most``, except those in ``keep``."""
        if not self._folder.is_dir():
            return
        others = [folder for folder in self._folder.iterdir() if folder.name not in keep]
        others.sort(key=_age, reverse=True)
        for folder in others[most:]:
            shutil.rmtree(folder, ignore_errors=True)

    def _path(self, tree: str, command: str, setting: CheckSetting) -> Path:
        return self._folder / tree / f"{setting.key(command)}.json"


def _age(folder: Path) -> float:
    """When something was last remembered in a folder; one that somebody else prunes meanwhile is the oldest."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return 0.0
