"""Publish: the order of durable writes that makes a verified result part of the branch (design 4.4).

    merge commit object -> pending record -> branch and receipt ref, compared and swapped -> outcome -> receipt
    -> decisions that it answers -> pending removed

Every object it needs is durable before the pending record is: the attempt's when its ref was made, the merged trees by
the merge, the merge commit and the receipt's blob when they are written.

Each step is idempotent and has a crash point; whoever finds a pending record goes on from the first step that is
missing. The tick follows and is a projection: it can always be made again from the receipt.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.errors import DamagedRecord
from baton_runner.controller.branch import Branch
from baton_runner.evidence import sealed
from baton_runner.evidence.decisions import Redo
from baton_runner.evidence.layout import Layout
from baton_runner.evidence.outcome import outcome_bytes
from baton_runner.evidence.receipt import Receipt
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import Refs, RefUpdate, receipt_ref

__all__ = ["Pending", "Publisher", "message_of"]

SCHEMA = "baton.pending/1"
PENDING = crash.declare("publish.pending")
REFS = crash.declare("publish.refs")
MOVED = crash.declare("publish.moved")
OUTCOME = crash.declare("publish.outcome")
RECEIPT = crash.declare("publish.receipt")
REDO = crash.declare("publish.redo")
FAILURE = crash.declare("publish.failure")
FINISHED = crash.declare("publish.finished")


@dataclass(frozen=True)
class Pending:
    """A verified result on its way: the receipt, the branch as it was verified against, the merge (None: no merge).

    ``answers`` is the redo decision that the work answers; one made later is left alone.
    """

    receipt: Receipt
    old_head: str
    merge: str | None
    answers: Redo | None = None

    @property
    def new_head(self) -> str:
        """Where the branch stands after the publication."""
        return self.merge or self.old_head

    def encode(self) -> bytes:
        """The sealed bytes."""
        return sealed.sealed(
            {
                "schema": SCHEMA,
                "receipt": self.receipt.encoded.decode(),
                "old_head": self.old_head,
                "merge": self.merge,
                "answers": None if self.answers is None else vars(self.answers),
            }
        )

    @classmethod
    def read(cls, path: Path) -> "Pending | None":
        """The pending record of a task, None when there is none; DamagedRecord when it is not whole."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        record = sealed.parse(data, where=str(path))
        if record.get("schema") != SCHEMA:
            raise DamagedRecord("is no publication this version understands", where=str(path), todo="upgrade baton")
        receipt = Receipt.decode(record["receipt"].encode(), where=str(path))
        answers = Redo(**record["answers"]) if record["answers"] else None
        return cls(receipt, record["old_head"], record["merge"], answers)


class Publisher:
    """Carries out publications of one change. The caller holds the integration lock."""

    def __init__(self, layout: Layout, objects: Objects, refs: Refs, branch: Branch) -> None:
        self._layout = layout
        self._objects = objects
        self._refs = refs
        self._branch = branch

    def publish(self, pending: Pending) -> None:
        """Make a verified result durable and part of the branch; RefMoved when somebody else moved a ref."""
        receipt = pending.receipt
        files.write_atomic(self._layout.pending(receipt.key), pending.encode(), PENDING)
        self.resume(pending)

    def resume(self, pending: Pending) -> None:
        """Go on with a publication whose pending record is on disk."""
        receipt = pending.receipt
        self._move(pending)
        crash.reach(MOVED)
        if pending.merge is not None:
            self._branch.advanced(pending.old_head, pending.merge, receipt.commit)
        self.install(receipt)
        self._answer(pending)
        files.remove(self._layout.pending(receipt.key), FINISHED)

    def install(self, receipt: Receipt) -> None:
        """Write the files that mirror a receipt ref: the outcome, then the receipt, each only if its bytes differ."""
        files.write_if_changed(self._layout.outcome(receipt.key), outcome_bytes(receipt.outcome), OUTCOME)
        files.write_if_changed(self._layout.receipt(receipt.key), receipt.encoded, RECEIPT)

    def _move(self, pending: Pending) -> None:
        """Swap the branch and the receipt ref in one transaction, leaving out what has moved already."""
        name = receipt_ref(pending.receipt.change, pending.receipt.key)
        blob = self._objects.blob(pending.receipt.encoded)
        present = self._refs.get(name)
        updates = [] if present == blob else [RefUpdate(name, blob, present)]
        tip = self._branch.tip()
        if pending.merge is not None and not self._is_part(pending, tip):
            updates.insert(0, RefUpdate(self._branch.ref, pending.merge, pending.old_head))
        crash.reach(REFS)
        self._refs.transaction(updates)

    def _is_part(self, pending: Pending, tip: str | None) -> bool:
        """Whether the branch has the merge already; git is asked only when somebody moved on from it."""
        if tip is None or tip == pending.old_head or pending.merge is None:
            return False
        return self._objects.is_ancestor(pending.merge, tip)

    def _answer(self, pending: Pending) -> None:
        """Remove the decision that this work answers, and the failure it overcame."""
        key = pending.receipt.key
        redo = self._layout.redo(key)
        if pending.answers is not None and Redo.read(redo) == pending.answers:
            files.remove(redo, REDO)
        failure = self._layout.failure(key)
        if failure.exists():
            files.remove(failure, FAILURE)


def message_of(receipt: Receipt, title: str) -> str:
    """The message of a merge commit: the task, and trailers that name the proof."""
    seal = json.loads(receipt.encoded)["seal"]
    return (
        f"{receipt.change}:{receipt.task} {title}\n\n"
        f"Baton-Task: {receipt.change}:{receipt.task}\nBaton-Receipt: {seal}\nBaton-Packet: {receipt.packet}\n"
    )
