"""Claims: the right to work on a task, held as an OS lock that dies with its process (design 4.6).

One lock a task, and one for each resource it names, all or none; they lie in the git common directory, so every
worktree of the repository sees the same ones, whatever happens to ``.baton``. The next holder ends what a dead one
left running.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.locks import Lock
from baton_runner.base.processes import end_marked
from baton_runner.base.slug import slug

__all__ = ["Claims", "Denied", "Resources"]

_WAIT_SECONDS = 3600.0


@dataclass(frozen=True)
class Denied:
    """The task or a resource of it is taken: which, and by whom."""

    what: str
    owner: str


class Resources:
    """Named things that only one task, or one verification, of this repository uses at a time."""

    def __init__(self, locks: Path) -> None:
        self._folder = locks / "resources"

    def lock(self, name: str, note: str) -> Lock:
        """A holder of one resource."""
        return Lock(self._folder / f"{slug(name)}.lock", note=note)

    @contextlib.contextmanager
    def held(self, names: Iterable[str], note: str) -> Iterator[None]:
        """Hold several resources, waiting for them in one order everywhere, so that nobody waits in a circle."""
        with contextlib.ExitStack() as stack:
            for name in sorted(set(names)):
                lock = self.lock(name, note)
                lock.acquire(_WAIT_SECONDS)
                stack.callback(lock.release)
            yield


class Claims:
    """The locks of one change's tasks. ``prefix`` makes the process marks of this repository and change."""

    def __init__(self, locks: Path, change: str, prefix: str) -> None:
        self._tasks = locks / "tasks" / slug(change)
        self._resources = Resources(locks)
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
        wanted = [(Lock(self._task_path(key), note=note), key)]
        wanted += [(self._resources.lock(name, note), f"resource {name}") for name in sorted(set(resources))]
        with contextlib.ExitStack() as held:
            for lock, what in wanted:
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
