"""The template engine: Liquid, strict, bounded and single-pass. Import it only to render; it is slow to import.

Bounds: nesting, loop iterations, bytes of output and of variables, and a wall-clock limit that is looked at on every
variable and filter (threat: a template that never ends). No loader: a template cannot read files.
"""

import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any, TextIO

import liquid
from liquid.builtin.output import Output, OutputNode
from liquid.builtin.tags.echo_tag import EchoNode, EchoTag
from liquid.exceptions import LiquidError, LiquidSyntaxError
from liquid.filter import liquid_filter
from liquid.output import LimitedStringIO
from liquid.token import TOKEN_OUTPUT, Token

from baton_runner.workflow.fence import fenced
from baton_runner.workflow.prompt_values import JsonList, JsonMap, Lines, Words

__all__ = ["MAX_SECONDS", "UNLOADABLE", "OutOfBounds", "filter_names", "parse", "render", "used_filters", "used_names"]

MAX_OUTPUT = 4 * 1024 * 1024
"""Bytes of a rendered prompt, and of what a template keeps in variables."""
MAX_ITERATIONS = 100_000
MAX_SECONDS = 5.0
"""Wall-clock limit of one rendering."""

UNLOADABLE = ("include", "render")
"""Tags that read other files, which a prompt cannot."""

_LITERAL_END = re.compile(r"\{%-?\s*end(raw|comment|doc)\b")
"""The end of a block whose text is not read as a template."""


class OutOfBounds(LiquidError):
    """A rendering took too long or would have grown too large."""


class _Context(liquid.RenderContext):
    """A context that ends when its time is over."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        parent = kwargs.get("parent_context")
        self.deadline: float = parent.deadline if isinstance(parent, _Context) else time.monotonic() + MAX_SECONDS

    def get(self, path: list[object], *, token: Token | None, default: object = liquid.undefined.UNDEFINED) -> object:
        self._check(token)
        return super().get(path, token=token, default=default)

    def filter(self, name: str, token: Token | None) -> Callable[..., object]:
        self._check(token)
        return super().filter(name, token)

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:
        return _buffer(buf.size if isinstance(buf, LimitedStringIO) else 0)

    def _check(self, token: Token | None) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfBounds(f"the template takes longer than {MAX_SECONDS:g} s", token=token)


class _Template(liquid.BoundTemplate):
    context_class = _Context

    def _get_buffer(self) -> StringIO:
        return _buffer(0)


class _Environment(liquid.Environment):
    template_class = _Template
    block_nesting_limit = 30
    context_depth_limit = 30
    loop_iteration_limit = MAX_ITERATIONS
    local_namespace_limit = MAX_OUTPUT
    output_stream_limit = MAX_OUTPUT


class _OutputNode(OutputNode):
    """An output statement whose collections print as people expect."""

    def render_to_output(self, context: liquid.RenderContext, buffer: TextIO) -> int:
        return _print(self, context, buffer)


class _Output(Output):
    node_class = _OutputNode


class _EchoNode(EchoNode):
    def render_to_output(self, context: liquid.RenderContext, buffer: TextIO) -> int:
        return _print(self, context, buffer)


class _EchoTag(EchoTag):
    node_class = _EchoNode


def parse(source: str) -> liquid.BoundTemplate:
    """A template ready to render; LiquidError when its syntax is wrong."""
    return _parsed(source)


def render(source: str, values: Mapping[str, Any]) -> str:
    """The text of a template with its variables; LiquidError and its kin when it cannot be rendered."""
    return parse(source).render(**values)


def filter_names() -> frozenset[str]:
    """The filters a template may use."""
    return frozenset(_environment().filters)


def used_filters(source: str) -> Mapping[str, int]:
    """The filters a template uses, in branches not taken too, and the line of the first use of each (from 1)."""
    uses = parse(source).analyze(include_partials=False).filters
    return {name: source.count("\n", 0, spans[0].index) + 1 for name, spans in uses.items()}


def used_names(source: str) -> Mapping[str, int]:
    """The outside names a template reads, as dotted paths, and the line of the first use of each (from 1)."""
    uses = parse(source).analyze(include_partials=False).globals
    found = (variable for variables in uses.values() for variable in variables)
    return {
        ".".join(str(segment) for segment in variable.segments if isinstance(segment, str)): source.count(
            "\n", 0, variable.span.index
        )
        + 1
        for variable in found
    }


@functools.lru_cache(maxsize=16)
def _parsed(source: str) -> liquid.BoundTemplate:
    _refuse_unclosed(source)
    return _environment().from_string(source)


def _refuse_unclosed(source: str) -> None:
    """LiquidSyntaxError for a ``{{`` that nothing closes: the engine's lexer would look for its end for minutes."""
    opening = source.find("{{", source.rfind("}}") + 1)
    if opening >= 0 and not _LITERAL_END.search(source, opening):
        token = Token(kind=TOKEN_OUTPUT, value="{{", start_index=opening, source=source)
        raise LiquidSyntaxError("{{ is never closed by }}", token=token)


@functools.cache
def _environment() -> liquid.Environment:
    environment = _Environment(undefined=liquid.StrictUndefined, strict_filters=True, tolerance=liquid.Mode.STRICT)
    for name in UNLOADABLE:
        environment.tags.pop(name, None)
    environment.add_tag(_Output)
    environment.add_tag(_EchoTag)
    for name in ("join", "date"):
        environment.add_filter(name, _null_is_empty(environment.filters[name]))
    environment.add_filter("replace", _bounded_replace(environment.filters["replace"]))
    environment.add_filter("json", _json)
    environment.add_filter("fence", _fence)
    return environment


def _buffer(used: int) -> LimitedStringIO:
    """Where output goes: bounded, and without the translation of line ends that would change foreign text."""
    return LimitedStringIO(limit=MAX_OUTPUT - used, newline="")


def _print(node: OutputNode, context: liquid.RenderContext, buffer: TextIO) -> int:
    value = node.expression.evaluate(context)
    if isinstance(value, JsonMap | JsonList | Words | Lines):
        return buffer.write(str(value))
    return buffer.write(liquid.stringify.to_liquid_string(value, context.autoescape))


def _null_is_empty(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that makes nothing out of null instead of failing or printing ``None``."""

    @functools.wraps(wrapped)
    def shielded(value: Any, *args: Any, **kwargs: Any) -> Any:
        return "" if value is None else wrapped(value, *args, **kwargs)

    return shielded


def _bounded_replace(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """``replace`` that refuses before it fills the memory."""

    @functools.wraps(wrapped)
    def bounded(value: Any, *args: Any, **kwargs: Any) -> Any:
        text, old, new = str("" if value is None else value), str(args[0]) if args else "", str((*args, "", "")[1])
        if text.count(old) * len(new) > MAX_OUTPUT:
            raise OutOfBounds("replace would make a text that is too large", token=None)
        return wrapped(value, *args, **kwargs)

    return bounded


@liquid_filter
def _json(value: Any, indent: Any = None) -> str:
    """A value as JSON text; an undefined one fails as everywhere."""
    return json.dumps(value, ensure_ascii=False, indent=indent if isinstance(indent, int) else None, default=str)


@liquid_filter
def _fence(value: Any) -> str:
    """A text between fences that nothing in it can close."""
    return fenced("" if value is None else str(value))
