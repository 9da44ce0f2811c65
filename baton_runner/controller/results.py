"""How the work at one task ended, as reporters and exit codes need it."""

from dataclasses import dataclass, field
from enum import Enum

from baton_runner.evidence.decisions import Failure
from baton_runner.evidence.receipt import Work

__all__ = ["Result", "Verdict"]


class Verdict(Enum):
    """The end of ``perform`` for one task."""

    RESOLVED = "resolved"
    """Worked on, verified, merged and ticked."""
    RENEWED = "renewed"
    """Its checks are green on today's tree; nothing had to be done."""
    CURRENT = "up to date"
    FAILED = "failed"
    CONFLICT = "conflict"
    DEFERRED = "in work elsewhere"
    """Another process holds the task's lock."""
    BLOCKED = "blocked"
    EDITED = "plan edited"
    """The plan is no longer the one that was read: nothing was tried, it is to be read again."""
    PERSON = "needs a person"
    STOPPED = "stopped"
    """The run was interrupted, or a ceiling was reached."""

    @property
    def good(self) -> bool:
        """Whether dependants may go on."""
        return self in {Verdict.RESOLVED, Verdict.RENEWED, Verdict.CURRENT}


@dataclass(frozen=True)
class Result:
    """The end of the work at a task in this run."""

    change: str
    key: str
    verdict: Verdict
    message: str = ""
    failure: Failure | None = None
    work: Work = field(default_factory=lambda: Work("none"))
    attempts: int = 0
    seconds: float = 0.0
