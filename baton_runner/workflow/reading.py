"""One reading of a file's settings: what it may look up, and what it found out on the way."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from baton_runner.workflow.findings import Finding, Severity
from baton_runner.workflow.front_matter import Key
from baton_runner.workflow.resolve import braced_name, variable_name

__all__ = ["Misfit", "Reading", "shown"]


class Misfit(ValueError):
    """A value that its key cannot hold: ``agent.max_turns must be ...``; caught where the key is known."""

    def __init__(self, expected: str, found: Any, *, todo: str = "", at: Key = ()) -> None:
        super().__init__(expected)
        self.expected = expected
        self.found = found
        self.todo = todo
        self.at = at


class Reading:
    """Collects findings, used variables and notes while settings are read; everything wrong is found at once."""

    def __init__(
        self, *, source: str, lines: Mapping[Key, int], environ: Mapping[str, str], folder: Path, hint: str = ""
    ) -> None:
        self.source = source
        self.environ = environ
        self.folder = folder
        self.findings: list[Finding] = []
        self.variables: set[str] = set()
        self.empty: set[Key] = set()
        self._lines = lines
        self._hint = hint

    def where(self, key: Key) -> str:
        """``WORKFLOW.md:12`` for a key, or for the nearest key around it."""
        for end in range(len(key), 0, -1):
            if key[:end] in self._lines:
                return f"{self.source}:{self._lines[key[:end]]}"
        return self.source

    def error(self, key: Key, what: str, *, todo: str, code: str = "config_invalid") -> None:
        """Note what stops the work."""
        self._note(Severity.ERROR, key, what, todo, code)

    def warn(self, key: Key, what: str, *, todo: str, code: str) -> None:
        """Note what may be a mistake."""
        self._note(Severity.WARNING, key, what, todo, code)

    def misfit(self, key: Key, misfit: Misfit) -> None:
        """Note a value that its key cannot hold."""
        at = (*key, *misfit.at)
        found = f", found {shown(misfit.found)}" if misfit.found is not None else ""
        self.error(at, f"{'.'.join(at)} {misfit.expected}{found}", todo=misfit.todo or "correct the value")

    def variable(self, name: str) -> str | None:
        """A variable's value, None when it is unset or empty; the policy remembers that it looked."""
        self.variables.add(name)
        return self.environ.get(name) or None

    def expand(self, value: Any, key: Key) -> Any:
        """A value with every leaf that is exactly ``$NAME`` replaced; what is unset or empty vanishes (R-021)."""
        if isinstance(value, Mapping):
            pairs = ((name, self.expand(item, (*key, name))) for name, item in value.items())
            return {name: item for name, item in pairs if item is not None}
        if isinstance(value, list):
            items = (self.expand(item, (*key, str(at))) for at, item in enumerate(value))
            return [item for item in items if item is not None]
        name = variable_name(value)
        if name is not None:
            return self._variable_of(name, key)
        if braced := braced_name(value):
            self.warn(
                key,
                f"{'.'.join(key)} is the literal text ${{{braced}}}",
                todo=f"write ${braced} to read the variable",
                code="braced_variable",
            )
        return value

    def _variable_of(self, name: str, key: Key) -> str | None:
        value = self.variable(name)
        if value is None:
            state = "empty" if name in self.environ else "not set"
            if state == "empty":
                self.empty.add(key)
            self.warn(
                key,
                f"{'.'.join(key)} reads ${name}, which is {state}; the key counts as absent",
                todo=f"set {name} in the environment",
                code="unset_variable",
            )
        return value

    def _note(self, severity: Severity, key: Key, what: str, todo: str, code: str) -> None:
        hint = f" ({self._hint})" if severity is Severity.ERROR and self._hint else ""
        self.findings.append(Finding(severity=severity, where=self.where(key), what=what + hint, todo=todo, code=code))


def shown(value: Any) -> str:
    """A value as messages show it: short, and by its kind where it is a collection."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return str(value)
