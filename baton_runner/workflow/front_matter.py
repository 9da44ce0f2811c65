"""The guarded YAML reader: text in, plain values and their lines out, and nothing but a PolicyError for what is wrong.

PyYAML parses; this module builds the values from its events, one pass, so that every guard holds before memory is
spent: depth, aliases, size after aliases. Scalars follow the YAML 1.2 core rules (``on``, ``off``, ``yes``, ``no``,
``12:30`` and dates are text), tags and merge keys are refused, and a key that appears twice is an error with both lines
(threat: YAML bombs, typed constructors, silent last-one-wins).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from baton_runner.base.errors import PolicyError

__all__ = ["MAX_ALIASES", "MAX_DEPTH", "MAX_VALUES", "FrontMatter", "Key", "read_front_matter"]

Key = tuple[str, ...]
"""A dotted key in parts: ``("agent", "max_turns")``; list items by their index."""

MAX_DEPTH = 32
MAX_ALIASES = 64
MAX_VALUES = 50_000
"""Values after every alias is written out."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?:\.[0-9]*)?(?=[eE]))([eE][-+]?[0-9]{1,3})?")
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True)
class FrontMatter:
    """The root map and the line of every key."""

    values: Mapping[str, Any]
    lines: Mapping[Key, int]


def read_front_matter(text: str, where: str, first_line: int) -> FrontMatter:
    """Read the YAML between the delimiters; ``first_line`` is its line in the file.

    Raises PolicyError ``workflow_parse_error`` or, for a root that is a list or a scalar,
    ``workflow_front_matter_not_a_map`` (R-005). Empty and null give an empty map (R-004).
    """
    import yaml

    builder = _Builder(where, first_line)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        line = first_line + (mark.line if mark else 0)
        raise _refused(f"is not valid YAML ({problem})", f"{where}:{line}", "correct the front matter") from error
    if builder.root is None:
        return FrontMatter({}, {})
    if not isinstance(builder.root, dict):
        raise PolicyError(
            f"the front matter is {'a list' if isinstance(builder.root, list) else 'a single value'}, not a map",
            where=f"{where}:{first_line}",
            todo="write keys such as `agent:` at its top level",
            code="workflow_front_matter_not_a_map",
        )
    return FrontMatter(builder.root, builder.lines)


@dataclass
class _Open:
    """A collection that is still being read."""

    value: dict[str, Any] | list[Any]
    path: Key
    anchor: str | None
    size: int = 1
    key: str | None = None


@dataclass
class _Builder:
    """Builds values from the parser's events."""

    where: str
    first_line: int
    root: Any = None
    lines: dict[Key, int] = field(default_factory=dict)
    _open: list[_Open] = field(default_factory=list)
    _anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    _aliases: int = 0
    _documents: int = 0

    def take(self, event: Any) -> None:
        """Take one event of ``yaml.parse``."""
        kind = type(event).__name__
        line = self.first_line + event.start_mark.line
        if getattr(event, "tag", None) is not None:
            raise self._refuse(line, f"the tag {event.tag} is not allowed", "remove it and write the plain value")
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise self._refuse(line, "a second YAML document starts here", "keep the settings in one document")
        elif kind in {"MappingStartEvent", "SequenceStartEvent"}:
            self._start({} if kind == "MappingStartEvent" else [], event.anchor, line)
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            done = self._open.pop()
            self._place(done.value, done.size, done.anchor, line)
        elif kind == "AliasEvent":
            self._alias(event.anchor, line)
        elif kind == "ScalarEvent":
            self._scalar(event, line)

    def _start(self, value: dict[str, Any] | list[Any], anchor: str | None, line: int) -> None:
        if self._open and self._wants_key():
            raise self._refuse(line, "a list or map stands where a key is expected", "write the key as text")
        if len(self._open) >= MAX_DEPTH:
            raise self._refuse(line, f"is nested more than {MAX_DEPTH} levels deep", "flatten the settings")
        self._open.append(_Open(value, self._path(), anchor))

    def _alias(self, name: str, line: int) -> None:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._refuse(line, f"uses more than {MAX_ALIASES} aliases", "write the values out")
        if name not in self._anchors:
            raise self._refuse(line, f"the alias *{name} names nothing that is complete", "write the value out")
        if self._wants_key():
            raise self._refuse(line, f"the alias *{name} stands where a key is expected", "write the key as text")
        value, size = self._anchors[name]
        self._place(value, size, None, line)

    def _scalar(self, event: Any, line: int) -> None:
        if self._wants_key():
            self._key(event.value, line)
            return
        plain = not event.style
        self._place(_plain_value(event.value) if plain else event.value, 1, event.anchor, line)

    def _key(self, name: str, line: int) -> None:
        if name == "<<":
            raise self._refuse(line, "merge keys (<<) are not supported", "write the keys out")
        top = self._open[-1]
        path = (*top.path, name)
        if name in top.value:
            raise self._refuse(
                line, f"{'.'.join(path)} appears twice; first at line {self.lines[path]}", "keep one of them"
            )
        self.lines[path] = line
        top.key = name

    def _place(self, value: Any, size: int, anchor: str | None, line: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)
        if not self._open:
            self.root = value
            return
        top = self._open[-1]
        top.size += size
        if top.size > MAX_VALUES:
            raise self._refuse(line, f"holds more than {MAX_VALUES} values", "shorten the settings")
        if isinstance(top.value, list):
            top.value.append(value)
            return
        top.value[str(top.key)] = value
        top.key = None

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _path(self) -> Key:
        if not self._open:
            return ()
        top = self._open[-1]
        return (*top.path, str(len(top.value)) if isinstance(top.value, list) else str(top.key))

    def _refuse(self, line: int, what: str, todo: str) -> PolicyError:
        return _refused(what, f"{self.where}:{line}", todo)


def _plain_value(text: str) -> Any:
    """A scalar without quotes, by the core rules of YAML 1.2 (numbers that would not survive as such stay text)."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _refused(what: str, where: str, todo: str) -> PolicyError:
    return PolicyError(what, where=where, todo=todo, code="workflow_parse_error")
