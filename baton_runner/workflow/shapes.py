"""Kinds with a shape of their own: maps of commands, environments, set-up steps, terminal answers, states."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from baton_runner.workflow.front_matter import Key
from baton_runner.workflow.kinds import Integer, ScriptList, TextList
from baton_runner.workflow.reading import Misfit, Reading

__all__ = [
    "Answer",
    "Answers",
    "CommandMap",
    "EnvironmentMap",
    "PatternList",
    "SetupStep",
    "SetupSteps",
    "StateLimits",
    "States",
    "normal_state",
]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class SetupStep:
    """A command that prepares a worktree, run before its first use and again when one of ``files`` changed."""

    run: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a terminal agent is told when its screen shows a pattern (a regular expression)."""

    pattern: str
    reply: str


class CommandMap:
    """``{glob: commands}``: which commands prove which tasks."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> Mapping[str, tuple[str, ...]]:
        """The commands of every glob, in the order they were written."""
        if not isinstance(value, Mapping):
            raise Misfit("must be a map of globs to commands", value)
        commands = ScriptList()
        read: dict[str, tuple[str, ...]] = {}
        for glob, item in value.items():
            try:
                read[glob] = commands.read([] if item is None else item, reading, (*key, glob))
            except Misfit as misfit:
                raise Misfit(misfit.expected, misfit.found, todo=misfit.todo, at=(glob, *misfit.at)) from misfit
        return MappingProxyType(read)

    def schema(self) -> dict[str, Any]:
        """A map of command lists."""
        return {"type": "object", "additionalProperties": ScriptList().schema()}


class EnvironmentMap:
    """``{NAME: value}``: variables that verification commands get."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> Mapping[str, str]:  # noqa: ARG002
        """Names and values; numbers and booleans become their text."""
        if not isinstance(value, Mapping):
            raise Misfit("must be a map of variable names to values", value)
        read: dict[str, str] = {}
        for name, item in value.items():
            if not _NAME.fullmatch(name):
                raise Misfit("must hold names of environment variables", name, todo="use letters, digits and _")
            if isinstance(item, Mapping | list):
                raise Misfit("must be one value", item, at=(name,))
            if item is not None:
                read[name] = str(item).lower() if isinstance(item, bool) else str(item)
        return MappingProxyType(read)

    def schema(self) -> dict[str, Any]:
        """A map of plain values."""
        plain = {"type": ["string", "number", "boolean", "null"]}
        return {"type": "object", "propertyNames": {"pattern": f"^{_NAME.pattern}$"}, "additionalProperties": plain}


class SetupSteps:
    """Commands that prepare a worktree: a text, a list of texts, or maps of ``run`` and ``files``."""

    raw: ClassVar[bool] = True

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[SetupStep, ...]:
        """The steps in their order."""
        if not isinstance(value, list):
            return (self._step(value, reading, key, ()),)
        return tuple(self._step(item, reading, key, (str(at),)) for at, item in enumerate(value))

    def schema(self) -> dict[str, Any]:
        """One step or a list of them."""
        command = {"type": "string", "pattern": r"\S"}
        step = {
            "anyOf": [
                command,
                {
                    "type": "object",
                    "properties": {"run": command, "files": TextList().schema()},
                    "required": ["run"],
                    "additionalProperties": False,
                },
            ]
        }
        return {"anyOf": [*step["anyOf"], {"type": "array", "items": step}]}

    def _step(self, item: Any, reading: Reading, key: Key, at: Key) -> SetupStep:
        if isinstance(item, str) and item.strip():
            return SetupStep(item)
        if not isinstance(item, Mapping):
            raise Misfit("must be a command, or a map of run and files", item, at=at)
        if unknown := sorted(set(item) - {"run", "files"}):
            raise Misfit(f"has no key {unknown[0]}", None, todo="use run and files", at=at)
        run = item.get("run")
        if not isinstance(run, str) or not run.strip():
            raise Misfit("must be a command line", run, at=(*at, "run"))
        files = item.get("files")
        return SetupStep(run, TextList().read([] if files is None else files, reading, (*key, *at, "files")))


class Answers:
    """A list of ``{pattern, reply}``."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[Answer, ...]:  # noqa: ARG002
        """The answers in their order."""
        if not isinstance(value, list):
            raise Misfit("must be a list of maps with pattern and reply", value)
        return tuple(self._answer(item, str(at)) for at, item in enumerate(value))

    def schema(self) -> dict[str, Any]:
        """A list of pattern and reply."""
        text = {"type": "string"}
        item = {
            "type": "object",
            "properties": {"pattern": text, "reply": text},
            "required": ["pattern", "reply"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": item}

    def _answer(self, item: Any, at: str) -> Answer:
        if not isinstance(item, Mapping) or set(item) != {"pattern", "reply"}:
            raise Misfit("must be a map of pattern and reply", item, at=(at,))
        for name in ("pattern", "reply"):
            if not isinstance(item[name], str):
                raise Misfit("must be text", item[name], todo="put it in quotes", at=(at, name))
        check_pattern(item["pattern"], (at, "pattern"))
        return Answer(item["pattern"], item["reply"])


class PatternList(TextList):
    """A list of regular expressions."""

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[str, ...]:
        """The expressions, each of which compiles."""
        patterns = super().read(value, reading, key)
        for at, pattern in enumerate(patterns):
            check_pattern(pattern, (str(at),) if isinstance(value, list) else ())
        return patterns


class States(TextList):
    """A list of board states; one text with commas is taken apart, as an older specification allowed."""

    def read(self, value: Any, reading: Reading, key: Key) -> tuple[str, ...]:
        """The states as they were written, trimmed."""
        if isinstance(value, str) and "," in value:
            reading.warn(
                key,
                f"{'.'.join(key)} is one text with commas",
                todo=f"write a list: [{value.strip()}]",
                code="comma_list",
            )
            value = [state for state in value.split(",") if state.strip()]
        return tuple(state.strip() for state in super().read(value, reading, key))


class StateLimits:
    """``{state: limit}``: names are compared trimmed and in lower case; useless limits are dropped (R-024, D16)."""

    raw: ClassVar[bool] = False

    def read(self, value: Any, reading: Reading, key: Key) -> Mapping[str, int]:
        """The limits by normal state name."""
        if not isinstance(value, Mapping):
            raise Misfit("must be a map of states to limits", value)
        limits: dict[str, int] = {}
        for state, item in value.items():
            try:
                limits[normal_state(state)] = Integer(minimum=1).read(item, reading, (*key, state))
            except Misfit as misfit:
                reading.warn(
                    (*key, state),
                    f"{'.'.join((*key, state))} {misfit.expected}; the entry is ignored",
                    todo="write a positive whole number or remove it",
                    code="ignored_limit",
                )
        return MappingProxyType(limits)

    def schema(self) -> dict[str, Any]:
        """A map; what its entries hold is judged one by one."""
        return {"type": "object"}


def normal_state(name: str) -> str:
    """The form in which state names are compared (R-024, R-054)."""
    return name.strip().lower()


def check_pattern(pattern: str, at: Key) -> None:
    """Misfit when a regular expression does not compile."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Misfit(f"is not a regular expression ({error})", pattern, at=at) from error
