"""doit's database for a dodo.py of plans: none, until a task that is not ours needs one.

What is finished, receipts say; so nothing is written beside them, and a failure or an unmet dependency forgets nothing.
"""

from pathlib import Path
from typing import Any

from doit.dependency import SqliteDB

__all__ = ["LazyDatabase"]


class LazyDatabase:
    """doit's SQLite backend, opened at the first need: an existing file is read, a new one made by the first write."""

    desc = "none for plans; SQLite for other tasks"

    def __init__(self, name: str, codec: Any, *, module_name: str | None = None) -> None:
        self.name = name
        self._codec = codec
        self._module_name = module_name
        self._opened: Any = None

    def get(self, task_id: str, dependency: str) -> Any:
        """What was remembered of a task, None when nothing was."""
        return self._database().get(task_id, dependency) if self._exists else None

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Remember something of a task."""
        self._database().set(task_id, dependency, value)

    def in_(self, task_id: str) -> bool:
        """Whether anything is remembered of a task."""
        return bool(self._exists and self._database().in_(task_id))

    def remove(self, task_id: str) -> None:
        """Forget a task."""
        if self._exists:
            self._database().remove(task_id)

    def remove_all(self) -> None:
        """Forget every task."""
        if self._exists:
            self._database().remove_all()

    def dump(self) -> None:
        """Write what is to be remembered, and close."""
        if self._opened is not None:
            self._opened.dump()

    @property
    def _exists(self) -> bool:
        return self._opened is not None or Path(self.name).exists()

    def _database(self) -> Any:
        if self._opened is None:
            self._opened = SqliteDB(self.name, self._codec, module_name=self._module_name)
        return self._opened
