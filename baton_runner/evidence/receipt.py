"""The receipt: the sealed JSON that proves a task, and the only thing that does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

from baton_runner.base.digest import digest
from baton_runner.base.errors import DamagedRecord
from baton_runner.evidence import sealed

__all__ = ["Before", "CheckProof", "Inputs", "Receipt", "Work"]

SCHEMA = "baton.receipt/1"

Before = Literal["red", "green", "unknown"]
"""What a command said on the base: red (now newly proven), green (regression only), or it was not run there."""


@dataclass(frozen=True)
class CheckProof:
    """One command that the harness saw exit 0 on the sealed tree."""

    command: str
    source: str
    before: Before = "unknown"
    cached: bool = False


@dataclass(frozen=True)
class Inputs:
    """What a task's work was built on: the gates before its section, and the outcomes of its explicit blockers."""

    gates: Mapping[str, str] = field(default_factory=dict)
    edges: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The inputs digest of design 4.1."""
        return digest({"gates": dict(self.gates), "edges": dict(self.edges)})


@dataclass(frozen=True)
class Work:
    """Who did it and what it took: agent kind, session, turns of the attempt, tokens, cost in USD, seconds."""

    agent: str
    session: str | None = None
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        """Both together; the session is the later one."""
        costs = [each.cost_usd for each in (self, other) if each.cost_usd is not None]
        return Work(
            agent=other.agent,
            session=other.session,
            turns=self.turns + other.turns,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=sum(costs) if costs else None,
            seconds=round(self.seconds + other.seconds, 3),
        )


@dataclass(frozen=True)
class Receipt:
    """The proof of one task.

    ``commit`` is the task commit (the integration head where nothing was changed), ``tree`` the merged tree on which
    every check was green, ``definition`` the definition's content and ``definition_digest`` its digest, ``outcome``
    the digest dependants look at. A receipt never holds the merge commit: that one names the receipt.
    """

    change: str
    task: str
    key: str
    attempt: int
    packet: str
    definition: Mapping[str, Any]
    definition_digest: str
    inputs: Inputs
    commit: str
    base: str
    tree: str
    outcome: str
    checks: tuple[CheckProof, ...]
    work: Work
    finished: str
    recipe: Mapping[str, str] = field(default_factory=dict)
    supersedes: str | None = None

    @property
    def proof(self) -> Literal["checks", "none"]:
        """``none`` where the policy allowed a task without any command."""
        return "checks" if self.checks else "none"

    @cached_property
    def encoded(self) -> bytes:
        """The canonical sealed bytes."""
        content = asdict(self)
        content |= {"schema": SCHEMA, "proof": self.proof, "checks": [asdict(check) for check in self.checks]}
        return sealed.sealed(content)

    @cached_property
    def seal(self) -> str:
        """The digest of all other content."""
        seal: str = sealed.parse(self.encoded, where="receipt")["seal"]
        return seal

    @classmethod
    def decode(cls, data: bytes, *, where: str) -> Self:
        """Read a receipt; DamagedRecord when it was altered or is of another kind."""
        record = sealed.parse(data, where=where)
        if record.pop("schema", None) != SCHEMA:
            raise DamagedRecord("is not a receipt this version understands", where=where, todo="upgrade baton")
        try:
            seal = record.pop("seal")
            del record["proof"]
            record["inputs"] = Inputs(**record["inputs"])
            record["work"] = Work(**record["work"])
            record["checks"] = tuple(CheckProof(**check) for check in record["checks"])
            receipt = cls(**record)
        except (TypeError, KeyError) as error:
            raise DamagedRecord(f"lacks or adds a field ({error})", where=where) from error
        vars(receipt).update(encoded=data, seal=seal)  # what was read is exactly what encoding it again would give
        return receipt
