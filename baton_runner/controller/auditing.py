"""Audit: hash every receipt and packet again and hold files against refs, without a network and without any command.

Reads only. A fresh clone has refs and no files: what is absent there is no finding, what is there must be whole.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from baton_runner.base.digest import canonical, digest_bytes
from baton_runner.base.errors import DamagedRecord
from baton_runner.base.slug import slug
from baton_runner.controller.project import Project
from baton_runner.evidence.outcome import outcome_bytes
from baton_runner.evidence.receipt import Receipt
from baton_runner.repo.refs import receipts_prefix

__all__ = ["Audit", "audit"]

_PREFIX = receipts_prefix("x").removesuffix("x/")
_RESTORE = "run baton run: it is restored from the other, or the task is verified again"


@dataclass
class Audit:
    """What was looked at, and everything that is not as it was sealed, each ``where: what; what to do``."""

    receipts: int = 0
    packets: int = 0
    problems: list[DamagedRecord] = field(default_factory=list)

    def found(self, where: object, what: str, todo: str) -> None:
        """Note a problem."""
        self.problems.append(DamagedRecord(what, where=str(where), todo=todo))


def audit(project: Project) -> Audit:
    """Look at every record of every change, also of those whose plan is gone."""
    result = Audit()
    refs = project.refs.read(_PREFIX)
    blobs = project.objects.read_blobs(refs.values())
    proofs: dict[str, Receipt] = {}
    for ref, oid in refs.items():
        name = ref.removeprefix(_PREFIX)
        receipt = _decoded(result, blobs[oid], ref, name)
        if receipt is not None:
            proofs[name] = receipt
    for name, path in _files(project.baton / "receipts"):
        data = path.read_bytes()
        receipt = _decoded(result, data, str(path), name)
        if receipt is None:
            continue
        proofs.setdefault(name, receipt)
        blob = refs.get(f"{_PREFIX}{name}")
        if blob is None:
            result.found(path, "has no ref, so it neither survives nor travels", _RESTORE)
        elif blobs[blob] != data:
            result.found(path, f"is another receipt than its ref {_PREFIX}{name}", _RESTORE)
    result.receipts = len(proofs)
    _audit_proofs(result, project, proofs)
    _audit_packets(result, project.baton / "packets")
    return result


def _decoded(result: Audit, data: bytes, where: str, name: str) -> Receipt | None:
    """The receipt, None when it is damaged or that of another task."""
    try:
        receipt = Receipt.decode(data, where=where)
    except DamagedRecord as error:
        result.found(where, error.what, error.todo or _RESTORE)
        return None
    if f"{slug(receipt.change)}/{slug(receipt.key)}" != name:
        result.found(where, f"is the receipt of {receipt.change}:{receipt.task}", _RESTORE)
        return None
    return receipt


def _audit_proofs(result: Audit, project: Project, proofs: Mapping[str, Receipt]) -> None:
    """Hold each receipt against its packet, its outcome and git's objects."""
    known = _existing(project, {oid for receipt in proofs.values() for oid in (receipt.commit, receipt.tree)})
    for name, receipt in proofs.items():
        task = f"{receipt.change}:{receipt.task}"
        packet = project.baton / "packets" / name / f"{receipt.attempt}.json"
        if packet.exists() and digest_bytes(packet.read_bytes()) != receipt.packet:
            result.found(
                packet, f"is not the packet that the receipt of {task} names", "restore it from a backup, or baton redo"
            )
        outcome = project.baton / "outcomes" / f"{name}.json"
        if outcome.exists() and outcome.read_bytes() != outcome_bytes(receipt.outcome):
            result.found(outcome, f"is not the outcome that the receipt of {task} seals", f"delete it, then {_RESTORE}")
        for word, oid in (("commit", receipt.commit), ("tree", receipt.tree)):
            if oid not in known:
                todo = "fetch refs/baton/* and the integration branch from where it was made, or baton redo"
                result.found(task, f"its {word} {oid[:12]} is not in this repository", todo)


def _audit_packets(result: Audit, folder: Path) -> None:
    """Every packet is the canonical bytes of an assignment, at the place that its content names."""
    for path in sorted(folder.glob("*/*/*.json")):
        result.packets += 1
        data = path.read_bytes()
        try:
            packet = json.loads(data)
            whole = canonical(packet) == data
            place = f"{slug(packet['change'])}/{slug(packet['key'])}/{packet['attempt']}.json"
        except (ValueError, KeyError, TypeError):
            whole, place = False, ""
        if not whole:
            result.found(path, "is not a packet as it was written", "restore it from a backup; it only documents")
        elif path.relative_to(folder).as_posix() != place:
            result.found(path, f"is the packet of {place}", "put it back where it was")


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The records of a kind as ``<change slug>/<task slug>`` with their paths."""
    for path in sorted(folder.glob("*/*.json")):
        yield f"{path.parent.name}/{path.stem}", path


def _existing(project: Project, oids: set[str]) -> frozenset[str]:
    """Those of these objects that the repository has; one process for all."""
    if not oids:
        return frozenset()
    asked = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
    listing = project.objects.git.run("cat-file", "--batch-check=%(objectname)", input=asked).decode().splitlines()
    return frozenset(line for line in listing if line in oids)
