"""Settings are declared once, as fields of a frozen dataclass: kind, default and meaning stand together.

From that one declaration come the reader (:func:`read_section`) and the JSON Schema (:func:`section_schema`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, field, fields
from typing import Any, TypeVar

from baton_runner.workflow.front_matter import Key
from baton_runner.workflow.kinds import Kind, reference
from baton_runner.workflow.reading import Misfit, Reading, shown

__all__ = ["key_names", "read_section", "section_schema", "setting"]

T = TypeVar("T")
S = TypeVar("S")


def setting(kind: Kind[T], default: T, meaning: str) -> T:
    """Declare one key: what it holds, what it is when absent, what it means (for the schema and the docs)."""
    return field(default_factory=lambda: default, metadata={"kind": kind, "default": default, "meaning": meaning})


def key_names(section: type[Any]) -> tuple[str, ...]:
    """The keys of a section, in the order of their declaration."""
    return tuple(declared.name for declared in _declared(section))


def read_section(section: type[S], raw: Any, key: Key, reading: Reading) -> S:
    """A section from its part of the YAML: null and absent keys have their defaults, what does not fit is noted."""
    if raw is None:
        return section()
    if not isinstance(raw, Mapping):
        reading.error(
            key, f"{'.'.join(key)} must be a map, found {shown(raw)}", todo="write its keys below it, indented"
        )
        return section()
    values: dict[str, Any] = {}
    for declared in _declared(section):
        kind: Kind[Any] = declared.metadata["kind"]
        at = (*key, declared.name)
        value = raw.get(declared.name)
        if not kind.raw:
            value = reading.expand(value, at)
        if value is None:
            continue
        try:
            values[declared.name] = kind.read(value, reading, at)
        except Misfit as misfit:
            reading.misfit(at, misfit)
    return section(**values)


def section_schema(section: type[Any]) -> dict[str, Any]:
    """A section as JSON Schema: unknown keys are allowed (R-007), null means absent."""
    return {
        "type": ["object", "null"],
        "description": (section.__doc__ or "").partition("\n")[0],
        "properties": {declared.name: _key_schema(declared) for declared in _declared(section)},
    }


def _key_schema(declared: Field[Any]) -> dict[str, Any]:
    kind: Kind[Any] = declared.metadata["kind"]
    schema = kind.schema() if kind.raw else reference(kind.schema())
    return {"description": declared.metadata["meaning"], "anyOf": [{"type": "null"}, *schema.get("anyOf", [schema])]}


def _declared(section: type[Any]) -> Iterator[Field[Any]]:
    return (declared for declared in fields(section) if "kind" in declared.metadata)
