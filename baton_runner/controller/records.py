"""Reading and mending what is known of each task: receipts and their refs, decisions, tick marks, failures.

The ref is the truth that survives and travels, the file a cache of it: a file that is lost or damaged is restored from
its ref, a ref that is lost is set again from a whole file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from baton_runner.base.errors import BatonError, DamagedRecord
from baton_runner.base.slug import slug
from baton_runner.controller.states import Facts
from baton_runner.controller.strays import orphaned, strays
from baton_runner.evidence.decisions import Failure, Redo, TickMark
from baton_runner.evidence.layout import Layout
from baton_runner.evidence.receipt import Receipt
from baton_runner.plan.model import Mark, Task
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs, receipt_ref, receipts_prefix

__all__ = ["Records"]

_Helpful = TypeVar("_Helpful", TickMark, Failure)


class Records:
    """What is on disk about the tasks of one change, but for what git's history and locks say."""

    def __init__(self, layout: Layout, refs: Refs, objects: Objects, live: Iterable[str] = ()) -> None:
        self._layout = layout
        self._live = tuple(live)
        self._refs = refs
        self._objects = objects

    def all(self, tasks: Sequence[Task]) -> dict[str, Facts]:
        """The facts of every task; folders are listed once, so that what is not there costs nothing."""
        refs = self._refs.read(receipts_prefix(self._layout.change))
        present = {kind: _names(self._layout.folder(kind)) for kind in ("receipts", "redo", "ticks", "failures")}
        facts = {task.key: self._facts(task.key, refs, present) for task in tasks}
        ticked = [task for task in tasks if task.mark is Mark.RESOLVED and facts[task.key] == Facts()]
        if not ticked:
            return facts
        orphans = orphaned(self._layout.change, facts, self._live, self._refs, self._objects)
        found = strays(ticked, self._layout.change, orphans)
        return facts | {key: replace(facts[key], stray=stray) for key, stray in found.items()}

    def one(self, key: str) -> Facts:
        """The facts of one task, read now."""
        name = receipt_ref(self._layout.change, key)
        blob = self._refs.get(name)
        return self._facts(key, {name: blob} if blob else {}, None)

    def _facts(self, key: str, refs: Mapping[str, str], present: Mapping[str, set[str]] | None) -> Facts:
        name = f"{slug(key)}.json"

        def there(kind: str) -> bool:
            return present is None or name in present[kind]

        blob = refs.get(receipt_ref(self._layout.change, key))
        receipt, damage = self._receipt(key) if there("receipts") else (None, "")
        if receipt is None and blob is not None and (kept := self._of_ref(key, blob)) is not None:
            receipt, damage = kept, ""  # the file is a cache: lost or damaged, the ref counts
        tick = _tolerant(TickMark, self._layout.tick_mark(key)) if there("ticks") else None
        return Facts(
            receipt=receipt,
            damage=damage,
            redo=Redo.read(self._layout.redo(key)) if there("redo") else None,
            tick=tick,
            failure=_tolerant(Failure, self._layout.failure(key)) if there("failures") else None,
            named=tick is not None or blob is not None,
        )

    def _of_ref(self, key: str, blob: str) -> Receipt | None:
        try:
            receipt = Receipt.decode(self._objects.read_blob(blob), where=blob)
        except BatonError:
            return None  # promise 2: what cannot be read proves nothing
        return receipt if (receipt.key, receipt.change) == (key, self._layout.change) else None

    def _receipt(self, key: str) -> tuple[Receipt | None, str]:
        path = self._layout.receipt(key)
        try:
            receipt = Receipt.decode(path.read_bytes(), where=str(path))
        except FileNotFoundError:
            return None, ""
        except DamagedRecord as error:
            return None, f"its receipt {error.what}"
        if receipt.key != key or receipt.change != self._layout.change:
            return None, f"its receipt is that of {receipt.change}:{receipt.task}"
        return receipt, ""


def _tolerant(kind: type[_Helpful], path: Path) -> _Helpful | None:
    """Read a record that only helps; a damaged one is none."""
    try:
        return kind.read(path)
    except DamagedRecord:
        return None


def _names(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return set()
    except NotADirectoryError as error:
        raise DamagedRecord("is not a folder", where=str(folder), todo="move it away; receipts come back") from error
