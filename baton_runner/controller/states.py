"""The state of a task, in one enum, and the facts it is decided from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from baton_runner.controller.strays import Stray
from baton_runner.evidence.decisions import Failure, Redo, TickMark
from baton_runner.evidence.receipt import Inputs, Receipt

__all__ = ["Assessment", "Facts", "Need", "State"]


class State(Enum):
    """What a task is; the values are the words of ``list --json``."""

    RESOLVED = "resolved"
    """A valid receipt whose work is integrated and whose definition and inputs are those of today."""
    ACCEPTED = "accepted"
    """Ticked by hand, without a receipt; nothing of ours ever named it."""
    READY = "ready"
    """Can be worked on now."""
    BLOCKED = "blocked"
    """Waits for a task that is not resolved."""
    RUNNING = "running"
    """Some process of this machine holds its lock."""
    FAILED = "failed"
    """The last attempt ended without proof; the next run tries again."""
    HELD = "held"
    """A mark other than ``x`` or blank: never dispatched, not resolved."""
    MANUAL = "manual"
    """For people only."""
    REDO = "redo"
    """A durable decision says that it is to be done again."""
    STALE = "stale"
    """Finished for another definition or other inputs than today's."""
    BROKEN = "broken"
    """Its receipt does not match its seal, and no whole one is known."""
    NOT_INTEGRATED = "not_integrated"
    """Finished, but its commit is not part of the integration branch."""
    CONFLICT = "conflict"
    """Its verified work could not be merged and is kept for a person."""
    DUPLICATE = "duplicate"
    """Its id stands twice in the plan: neither is dispatched."""

    @property
    def finished(self) -> bool:
        """Whether dependants may rely on it."""
        return self in {State.RESOLVED, State.ACCEPTED}


class Need(Enum):
    """The cheapest work that could make a task resolved."""

    NOTHING = "nothing"
    AGENT = "agent"
    """An agent works on it."""
    REVERIFY = "re-verify"
    """Its checks on today's tree; an agent only when they are red."""
    INTEGRATE = "integrate"
    """Merge and verify the commit that is there; an agent only when that fails."""
    PERSON = "person"
    """Nobody but a person can go on."""


@dataclass(frozen=True)
class Facts:
    """What is on disk about one task.

    ``named`` says that a receipt ref or tick mark of ours knows it, ``stray`` that its tick was made under another name.
    """

    receipt: Receipt | None = None
    damage: str = ""
    redo: Redo | None = None
    tick: TickMark | None = None
    failure: Failure | None = None
    named: bool = False
    stray: Stray | None = None
    integrated: bool = False
    worker: str = ""


@dataclass(frozen=True)
class Assessment:
    """The state of one task now, why, and what it needs. ``blockers`` are ids of unresolved tasks or gates."""

    state: State
    need: Need
    reason: str
    inputs: Inputs = field(default_factory=Inputs)
    outcome: str | None = None
    blockers: tuple[str, ...] = ()
    differs: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether work could start now."""
        return not self.blockers and self.need not in {Need.NOTHING, Need.PERSON} and self.state is not State.RUNNING
