"""The kinds of values that settings hold: each reads one value out of the YAML and states itself as JSON Schema.

A kind raises :class:`~baton_runner.workflow.reading.Misfit` for a value it cannot hold. ``raw`` kinds are commands and
scripts: what is in them belongs to a shell, so no ``$NAME`` in them is replaced (R-022).
"""

import math
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from baton_runner.workflow.front_matter import Key
from baton_runner.workflow.reading import Misfit, Reading
from baton_runner.workflow.resolve import UnresolvedPath, resolve_path, variable_name
from baton_runner.workflow.secret import Secret

__all__ = [
    "Amount",
    "Choice",
    "Choices",
    "Duration",
    "EnvironmentNames",
    "Flag",
    "Integer",
    "Kind",
    "PathText",
    "Script",
    "ScriptList",
    "SecretText",
    "Text",
    "TextList",
    "reference",
]

T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Enum)

Schema = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DIGITS = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})")
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([smh]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Kind(Protocol[T_co]):
    """What a key may hold."""

    raw: ClassVar[bool]

    def read(self, value: Any, reading: Reading, key: Key) -> T_co:
        """The typed value; None never arrives here, since it means that the key is absent (R-007)."""
        ...

    def schema(self) -> Schema:
        """The values that ``read`` takes, as JSON Schema 2020-12."""
        ...


def reference(schema: Schema) -> Schema:
    """A schema that also takes ``$NAME``, resolved before the value is read."""
    return {"anyOf": [schema, {"type": "string", "pattern": r"^\$[A-Za-z_][A-Za-z0-9_]*$"}]}


class Text:
    """One line or block of text, not blank."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> str:  # noqa: ARG002
        """The text as it is."""
        if not isinstance(value, str):
            raise Misfit("must be text", value, todo="put the value in quotes")
        if not value.strip():
            raise Misfit("must not be blank", value, todo="write a value or remove the key")
        return value

    def schema(self) -> Schema:
        """Text with something in it."""
        return {"type": "string", "pattern": r"\S"}


class Script:
    """A command line or a shell script, kept raw; a blank one is kept for the checks to judge."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> str:  # noqa: ARG002
        """The text as it is, never expanded (T014)."""
        if not isinstance(value, str):
            raise Misfit("must be text", value, todo="write one command line, or a block after |")
        return value

    def schema(self) -> Schema:
        """Any text."""
        return {"type": "string"}


@dataclass(frozen=True)
class Integer:
    """A whole number with a smallest and a largest value; text of digits counts, true and false do not (R-023)."""

    minimum: int | None = None
    maximum: int | None = None
    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> int:  # noqa: ARG002
        """The number."""
        number = value
        if isinstance(number, str) and _DIGITS.fullmatch(number.strip()):
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int):
            raise Misfit(f"must be {self._wanted()}", value)
        if self.minimum is not None and number < self.minimum:
            raise Misfit(f"must be {self._wanted()}", value)
        if self.maximum is not None and number > self.maximum:
            raise Misfit(f"must be {self._wanted()}", value)
        return number

    def schema(self) -> Schema:
        """A number in the range, or its digits as text."""
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        number = {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        return {"anyOf": [number, {"type": "string", "pattern": r"^\s*[-+]?[0-9]+\s*$"}]}

    def _wanted(self) -> str:
        if self.maximum is not None:
            return f"a whole number from {self.minimum} to {self.maximum}"
        if self.minimum is None:
            return "a whole number"
        return "a positive whole number" if self.minimum == 1 else f"a whole number of at least {self.minimum}"


class Amount:
    """An amount of money, zero or more; 0 means 0."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> float:  # noqa: ARG002
        """The amount."""
        number = value
        if isinstance(number, str) and _NUMBER.fullmatch(number.strip()):
            number = float(number)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise Misfit("must be a number", value)
        if not math.isfinite(number) or number < 0:
            raise Misfit("must be a number of at least 0", value)
        return float(number)

    def schema(self) -> Schema:
        """A number, or its digits as text."""
        return {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\s*\+?[0-9.]+\s*$"}]}


class Flag:
    """True or false."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> bool:  # noqa: ARG002
        """The flag; the texts ``true`` and ``false`` come from environment variables."""
        if isinstance(value, bool):
            return value
        if value in {"true", "false"} if isinstance(value, str) else False:
            return bool(value == "true")
        raise Misfit("must be true or false", value)

    def schema(self) -> Schema:
        """A boolean, or its name as text."""
        return {"enum": [True, False, "true", "false"]}


@dataclass(frozen=True)
class Choice(Generic[E]):
    """One word of a fixed set."""

    choices: type[E]
    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> E:  # noqa: ARG002
        """The member whose value was written."""
        for choice in self.choices:
            if choice.value == value:
                return choice
        raise Misfit(f"must be {self._words(' or ')}", value, todo=f"write {self._words(' or ')}")

    def schema(self) -> Schema:
        """One of the words."""
        return {"enum": [choice.value for choice in self.choices]}

    def _words(self, glue: str) -> str:
        return glue.join(str(choice.value) for choice in self.choices)


@dataclass(frozen=True)
class Choices(Generic[E]):
    """Some words of a fixed set; one word where a list is meant is a list of one."""

    choices: type[E]
    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[E, ...]:
        """The members in the order they were written, each once."""
        one = Choice(self.choices)
        items = value if isinstance(value, list) else [value]
        return tuple(dict.fromkeys(one.read(item, reading, key) for item in items))

    def schema(self) -> Schema:
        """A word or a list of words."""
        word = Choice(self.choices).schema()
        return {"anyOf": [word, {"type": "array", "items": word}]}


class Duration:
    """A time span above zero: ``90``, ``90s``, ``20m``, ``1h``; kept as seconds."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> float:  # noqa: ARG002
        """Seconds."""
        text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        found = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
        seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
        if seconds <= 0:
            raise Misfit("must be a time span", value, todo="write seconds, or a number with s, m or h, such as 20m")
        return seconds

    def schema(self) -> Schema:
        """A number of seconds, or a number with a unit."""
        text = {"type": "string", "pattern": r"^\s*[0-9]{1,9}(\.[0-9]{1,3})?\s*[smh]?\s*$"}
        return {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, text]}


class TextList:
    """A list of texts; one text where a list is meant is a list of one."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[str, ...]:  # noqa: ARG002
        """The texts in their order; blank ones are kept for the rule of the key to judge."""
        items = value if isinstance(value, list) else [value]
        for at, item in enumerate(items):
            if not isinstance(item, str):
                at_item = (str(at),) if isinstance(value, list) else ()
                raise Misfit("must be text", item, todo="put the value in quotes", at=at_item)
        return tuple(items)

    def schema(self) -> Schema:
        """A text or a list of texts."""
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


class ScriptList(TextList):
    """A list of command lines, kept raw; a single text is one command, whatever it holds."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[str, ...]:
        """The command lines in their order, none blank."""
        commands = super().read(value, reading, key)
        if not all(command.strip() for command in commands):
            raise Misfit("must not hold a blank command", "", todo="write a command line or remove it")
        return commands

    def schema(self) -> Schema:
        """A command line or a list of them."""
        command = {"type": "string", "pattern": r"\S"}
        return {"anyOf": [command, {"type": "array", "items": command}]}


class EnvironmentNames(TextList):
    """A list of names of environment variables: the names, not their values."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[str, ...]:
        """The names; one written as ``$NAME`` is a mistake, since the name is wanted."""
        names = super().read(value, reading, key)
        for name in names:
            if not _NAME.fullmatch(name):
                raise Misfit("must hold names of environment variables", name, todo="write NAME, without $ or =")
        return names

    def schema(self) -> Schema:
        """A name or a list of names."""
        name = {"type": "string", "pattern": f"^{_NAME.pattern}$"}
        return {"anyOf": [name, {"type": "array", "items": name}]}


class PathText:
    """A path: ``~`` expanded, relative to the policy's folder, made absolute (R-022)."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> Path:  # noqa: ARG002
        """The absolute path; nothing is created or looked at."""
        if not isinstance(value, str) or not value.strip():
            raise Misfit("must be a path", value)
        try:
            return resolve_path(value, folder=reading.folder, environ=reading.environ)
        except UnresolvedPath as error:
            raise Misfit(error.what, None, todo=error.todo) from error

    def schema(self) -> Schema:
        """Text with something in it."""
        return {"type": "string", "pattern": r"\S"}


class SecretText:
    """A token. It should come from the environment: one that stands in the file is taken, with a warning."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> Secret | None:
        """The token, which no message shows; None when its variable is unset or empty (R-021)."""
        resolved = reading.expand(value, key)
        if resolved is None:
            return None
        if not isinstance(resolved, str) or not resolved.strip():
            raise Misfit("must be text", None, todo="write $NAME, the variable that holds it")
        if variable_name(value) is None:
            reading.warn(
                key,
                f"{'.'.join(key)} is written into the file",
                todo="keep it in the environment and write $NAME here",
                code="literal_secret",
            )
        return Secret(resolved.strip())

    def schema(self) -> Schema:
        """Text with something in it."""
        return {"type": "string", "pattern": r"\S"}
