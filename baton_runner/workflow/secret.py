"""A value that must never be shown: it takes a deliberate call to read it."""

from dataclasses import dataclass, field

__all__ = ["Secret"]


@dataclass(frozen=True)
class Secret:
    """A token; printing, formatting or dumping it shows only that there is one (R-162)."""

    _value: str = field(repr=False)

    def reveal(self) -> str:
        """The value itself, for the one place that must send it."""
        return self._value

    def __str__(self) -> str:
        return "(secret)"

    def __repr__(self) -> str:
        return "Secret(...)"
