"""What is wrong or doubtful in a policy: where, what, what to do, and a stable code."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from baton_runner.base.errors import PolicyError

__all__ = ["Finding", "Severity", "as_error", "errors_of"]


class Severity(StrEnum):
    """Whether a finding stops the work or is only said."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One remark on a policy; ``where`` reads ``WORKFLOW.md:12``."""

    severity: Severity
    where: str
    what: str
    todo: str
    code: str

    def __str__(self) -> str:
        """``where: what; what to do``, leaving out what is not known."""
        return str(_error(self))


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those findings that stop the work."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def as_error(errors: tuple[Finding, ...]) -> PolicyError:
    """One exception for all errors of a file; several are shown one a line, and the first gives the code."""
    if len(errors) == 1:
        return _error(errors[0])
    return PolicyError("\n".join(str(error) for error in errors), code=errors[0].code)


def _error(finding: Finding) -> PolicyError:
    return PolicyError(finding.what, where=finding.where, todo=finding.todo, code=finding.code)
