"""Claims: the right to work on a task, held as an OS lock that dies with its process (design 4.6).

One lock a task, and one for each resource it names, all or none; they lie in the git common directory, so every
worktree of the repository sees the same ones, whatever happens to ``.baton``. The next holder ends what a dead one
left running.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.locks import Lock
from baton_runner.base.processes import end_marked
from baton_runner.base.slug import slug

__all__ = ["Claims", "Denied"]


@dataclass(frozen=True)
class Denied:
    """The task or a resource of it is taken: which, and by whom."""

    what: str
    owner: str


class Claims:
    """The locks of one change's tasks. ``prefix`` makes the process marks of this repository and change."""

    def __init__(self, locks: Path, change: str, prefix: str) -> None:
        self._tasks = locks / "tasks" / slug(change)
        self._resources = locks / "resources"
        self._prefix = prefix

    def marker(self, key: str) -> str:
        """The mark that every process working on a task carries."""
        return f"{self._prefix}/{slug(key)}"

    def owner(self, key: str) -> str:
        """Who works on a task now, empty when nobody does."""
        lock = Lock(self._task_path(key))
        return str(lock.owner() or "another process") if lock.is_taken() else ""

    def owners(self, keys: Sequence[str]) -> dict[str, str]:
        """The tasks in work now and their owners, out of these; tasks that were never claimed cost nothing."""
        if not self._tasks.is_dir():
            return {}
        known = {path.name for path in self._tasks.iterdir()}
        return {key: owner for key in keys if f"{slug(key)}.lock" in known and (owner := self.owner(key))}

    @contextlib.contextmanager
    def claim(self, key: str, resources: Sequence[str], note: str) -> Iterator[Denied | None]:
        """Take a task with its resources, or say who has it; what a dead owner left running is ended first."""
        wanted = [(self._task_path(key), key)]
        wanted += [(self._resources / f"{slug(name)}.lock", f"resource {name}") for name in sorted(set(resources))]
        with contextlib.ExitStack() as held:
            for path, what in wanted:
                lock = Lock(path, note=note)
                before = lock.owner()
                if not lock.try_acquire():
                    yield Denied(what, str(lock.owner() or "another process"))
                    return
                held.callback(lock.release)
                if before is not None and what == key:  # a clean release wipes the label: this owner died
                    end_marked(self.marker(key))
            yield None

    def _task_path(self, key: str) -> Path:
        return self._tasks / f"{slug(key)}.lock"
