"""Where the records of one change lie under ``.baton/`` (design section 6). Paths only; nothing is read or written."""

from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.slug import slug

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """The folders of one change; ``root`` is the repository's ``.baton``."""

    root: Path
    change: str

    @property
    def slug(self) -> str:
        """The change as a path component."""
        return slug(self.change)

    def definition(self, key: str) -> Path:
        """What doit sees as a task's file_dep."""
        return self._record("definitions", key)

    def packets(self, key: str) -> Path:
        """The folder of a task's packets."""
        return self.root / "packets" / slug(self.change) / slug(key)

    def packet(self, key: str, attempt: int) -> Path:
        """The immutable statement of one assignment."""
        return self.packets(key) / f"{attempt}.json"

    def pending(self, key: str) -> Path:
        """A verified result that is on its way into the integration branch."""
        return self._record("pending", key)

    def receipt(self, key: str) -> Path:
        """The proof of a task: doit's target, a cache of the receipt ref."""
        return self._record("receipts", key)

    def outcome(self, key: str) -> Path:
        """What dependants look at; its bytes change only when the outcome does."""
        return self._record("outcomes", key)

    def gate(self, section: int) -> Path:
        """The chained digest of everything up to and including a section (``@`` is in no slug)."""
        return self.root / "outcomes" / slug(self.change) / f"@gate-{section}.json"

    def tick_mark(self, key: str) -> Path:
        """Which receipt the box was ticked for."""
        return self._record("ticks", key)

    def redo(self, key: str) -> Path:
        """A person's or the harness's decision that a task is to be done again."""
        return self._record("redo", key)

    def failure(self, key: str) -> Path:
        """Why the last attempt ended without a receipt; removed by the next success."""
        return self._record("failures", key)

    def logs(self, key: str, attempt: int) -> Path:
        """Outputs of one attempt."""
        return self.task_logs(key) / str(attempt)

    def task_logs(self, key: str) -> Path:
        """Outputs of all attempts at a task."""
        return self.root / "logs" / slug(self.change) / slug(key)

    def change_logs(self, what: str) -> Path:
        """Outputs of checks that belong to no task: ``base``, ``closing`` (``@`` is in no slug)."""
        return self.folder("logs") / f"@{what}"

    def baseline(self) -> Path:
        """What each command said on the base."""
        return self.root / "baseline" / f"{slug(self.change)}.json"

    def complete(self) -> Path:
        """The fact that every check was green on the head's tree."""
        return self.root / "complete" / f"{slug(self.change)}.json"

    def folder(self, kind: str) -> Path:
        """The folder that holds this change's records of a kind (``receipts``, ``pending``, ...)."""
        return self.root / kind / slug(self.change)

    def _record(self, kind: str, key: str) -> Path:
        return self.folder(kind) / f"{slug(key)}.json"
