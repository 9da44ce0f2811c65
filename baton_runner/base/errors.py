"""The one tree of errors a person can act on: where it is, what it is, what to do.

Each class says what kind of end it is; only the command line turns a kind into an exit code. ``code`` is stable and
machine-readable, the message reads ``where: what; what to do``.
"""

from collections.abc import Iterable

__all__ = [
    "ActionNeeded",
    "BatonError",
    "DamagedRecord",
    "Interrupted",
    "NothingCollected",
    "PlanError",
    "PolicyError",
    "Problems",
    "RepositoryError",
    "UsageError",
]


class BatonError(Exception):
    """Something went wrong that the reader can mend; base of all our errors."""

    code = "error"

    def __init__(self, what: str, *, where: str = "", todo: str = "", code: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo
        if code:
            self.code = code

    def __str__(self) -> str:
        """``where: what; what to do``, leaving out what is not known."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; {self.todo}" if self.todo else text


class UsageError(BatonError):
    """The command, a file or a setting was not understood."""

    code = "usage"


class PlanError(UsageError):
    """A plan that cannot be read, ordered or written as asked."""

    code = "plan_error"


class PolicyError(UsageError):
    """WORKFLOW.md is missing, malformed or holds a value that cannot be used. ``code`` is the service specification's."""

    code = "config_invalid"


class RepositoryError(UsageError):
    """The git repository is not in a state in which work can start (too old a git, no commit, no repository)."""

    code = "repository"


class Problems(UsageError):
    """Several errors found in one reading, shown one a line."""

    code = "problems"

    def __init__(self, errors: Iterable[BatonError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class NothingCollected(BatonError):
    """There is nothing to do and nothing that was done: no change, no task, no match."""

    code = "nothing_collected"


class ActionNeeded(BatonError):
    """Work stopped in good order and a person must decide or repair something before it can go on."""

    code = "action_needed"


class DamagedRecord(BatonError):
    """A record of ours (receipt, packet, pending publish) does not match its seal or cannot be parsed."""

    code = "damaged_record"


class Interrupted(BatonError):
    """The user or the system asked us to stop; what ran was ended and is kept."""

    code = "interrupted"
