"""Ticks of ours whose proof lies under another name: the change's folder was renamed, or a task without an id reworded.

Such a box must not read as ticked by hand. It is recognised by what its receipt says was done: the same definition in a
change that is gone, or nearly the same words in this one.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from baton_runner.base.errors import BatonError
from baton_runner.base.slug import slug
from baton_runner.evidence.receipt import Receipt
from baton_runner.plan.definition import definition_digest, plain_words
from baton_runner.plan.model import Task
from baton_runner.repo.objects import Objects
from baton_runner.repo.refs import PREFIX, Refs

__all__ = ["Stray", "orphaned", "strays"]

_RECEIPTS = f"{PREFIX}receipts/"
_ALIKE = 0.6


@dataclass(frozen=True)
class Stray:
    """The receipt that a tick was made for, and what became of its name."""

    receipt: Receipt
    renamed: bool
    """Whether its change is gone (renamed); otherwise its task was reworded."""


def strays(tasks: Sequence[Task], change: str, orphans: Iterable[Receipt]) -> Mapping[str, Stray]:
    """Task key to stray, for ticked tasks of a change that nothing of ours names; see :func:`orphaned`."""
    found = list(orphans)
    matched = ((task, _match(task, change, found)) for task in tasks)
    return {task.key: stray for task, stray in matched if stray is not None}


def orphaned(change: str, keys: Iterable[str], live: Iterable[str], refs: Refs, objects: Objects) -> Iterator[Receipt]:
    """The receipts of no task: of changes that are gone (not among ``live``), and of this one but none of its ``keys``."""
    known = {f"{slug(change)}/{slug(key)}" for key in keys}
    others = {slug(each) for each in live} - {slug(change)}
    for name, blob in refs.read(_RECEIPTS).items():
        place = name.removeprefix(_RECEIPTS)
        if place in known or place.partition("/")[0] in others:
            continue
        receipt = _read(blob, objects)
        if receipt is not None:
            yield receipt


def _match(task: Task, change: str, receipts: Sequence[Receipt]) -> Stray | None:
    digest = definition_digest(task)
    for receipt in receipts:
        if receipt.change != change and receipt.definition_digest == digest:
            return Stray(receipt, renamed=True)
    if not task.synthetic:
        return None
    words = plain_words(task.text)
    for receipt in receipts:
        if receipt.change == change and _alike(words, str(receipt.definition.get("text", ""))):
            return Stray(receipt, renamed=False)
    return None


def _alike(one: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _read(blob: str, objects: Objects) -> Receipt | None:
    try:
        return Receipt.decode(objects.read_blob(blob), where=blob)
    except BatonError:
        return None  # promise 2: what cannot be read proves nothing
