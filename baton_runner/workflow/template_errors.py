"""Errors of a template in words that help: the line in WORKFLOW.md, the name, and what was probably meant.

Knows the syntaxes people paste in by habit (Go templates, Jinja, GitHub expressions) and the names they take for ours.
"""

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from liquid.exceptions import (
    BlockNestingError,
    LiquidError,
    LiquidSyntaxError,
    ResourceLimitError,
    TemplateInheritanceError,
    UndefinedError,
    UnknownFilterError,
)

from baton_runner.base.errors import PolicyError
from baton_runner.workflow import template
from baton_runner.workflow.nearest import nearest
from baton_runner.workflow.prompt_names import name_meant, synonym_of
from baton_runner.workflow.prompt_values import Blocker, known_paths

if TYPE_CHECKING:
    from baton_runner.workflow.prompt import Prompt

__all__ = ["explain"]

_PATH = re.compile(r"'?([^']+?)'? is undefined")
_RESERVED = re.compile(r"expected an identifier, found (\w+)")
_UNCLOSED = re.compile(r"expected tag end(\w+), found")
_JINJA_TAGS = {"set", "macro", "extends", "block", "elif", "import", "from", "call", "with"}
_JINJA_WORDS = {"or", "and", "not", "is", "in", "if", "~"}
_RAW = "wrap text that is not meant for this template in {% raw %} ... {% endraw %}"


def explain(error: Exception, prompt: "Prompt", values: dict[str, Any]) -> PolicyError:
    """The PolicyError of what went wrong while a prompt was parsed or rendered."""
    parse_error = isinstance(error, LiquidSyntaxError | TemplateInheritanceError | BlockNestingError)
    code = "template_parse_error" if parse_error or _is_parsing(error) else "template_render_error"
    what, todo = _words(error, prompt.source, values)
    return PolicyError(what, where=_where(error, prompt), todo=todo, code=code)


def _is_parsing(error: Exception) -> bool:
    return isinstance(error, LiquidError) and "parsing error" in str(error.message)


def _words(error: Exception, source: str, values: dict[str, Any]) -> tuple[str, str]:
    message = str(error.message) if isinstance(error, LiquidError) else f"{type(error).__name__}: {error}"
    if isinstance(error, UndefinedError):
        return _undefined(error, message, source, values)
    if isinstance(error, UnknownFilterError):
        name = message.partition("'")[2].rstrip("'")
        near = nearest(name, template.filter_names())
        return f"there is no filter {name}", f"did you mean {near}?" if near else "remove it"
    if isinstance(error, ResourceLimitError | BlockNestingError | template.OutOfBounds):
        return f"the template is out of bounds: {message}", "shorten its loops and its output"
    if isinstance(error, LiquidSyntaxError):
        return _syntax(error, message, source)
    return f"the template cannot be rendered: {message}", "correct the expression"


def _undefined(error: UndefinedError, message: str, source: str, values: dict[str, Any]) -> tuple[str, str]:
    if _is_github_expression(error, source):
        return f"{message}: this is a GitHub expression", _RAW
    found = _PATH.fullmatch(message)
    if found is None:
        return message, "check the size of the list first"
    path = found[1]
    root, _, rest = path.partition(".")
    if root == "loop":
        return f"{path} is not defined: this is Jinja", "use forloop, such as forloop.index or forloop.last"
    if rest and root in values and values[root] is None:
        twin = f"issue.{synonym_of(rest)}"
        other = f"; use {twin}" if root == "task" and twin in known_paths() else ""
        return (
            f"{path} is not defined: {root} is null here",
            f"put it inside {{% if {root} %}} ... {{% endif %}}{other}",
        )
    if rest and re.search(rf"\bfor\s+{re.escape(root)}\s+in\b", source):
        blocker = ", ".join(part.name for part in fields(Blocker))
        return f"{path} is not defined", f"an item has other fields (a blocker has {blocker})"
    meant = name_meant(path)
    return f"{path} is not defined", f"did you mean {meant}?" if meant else f"known are {', '.join(known_paths())}"


def _syntax(error: LiquidSyntaxError, message: str, source: str) -> tuple[str, str]:
    token = error.token
    written = token.value if token is not None else ""
    if _is_github_expression(error, source):
        return f"{message}: this is a GitHub expression", _RAW
    if written == "." or re.match(r"end\b", _statement(error, source)):
        return (
            f"{message}: this looks like Go template syntax",
            "write {{ issue.title }} without the leading dot and {% endif %}; " + _RAW,
        )
    if reserved := _RESERVED.match(message):
        return f"{message}: the word is reserved", f'write it in brackets: ["{reserved[1]}"]'
    if written in template.UNLOADABLE:
        return "other files cannot be included", "write the text into the prompt itself"
    if written in _JINJA_TAGS or written in _JINJA_WORDS:
        todo = 'use assign, elsif and the filter default, as in {{ issue.description | default: "none" }}'
        return f"{message}: this looks like Jinja syntax", todo
    if unclosed := _UNCLOSED.match(message):
        return f"a block {unclosed[1]} is never closed", f"close it with {{% end{unclosed[1]} %}}"
    if written in {"&", "|", "="}:
        return f"the syntax is wrong: {message}", "write and, or, == in conditions"
    return f"the syntax is wrong: {message}", _RAW


def _is_github_expression(error: LiquidError, source: str) -> bool:
    opening = _opening(error, source)
    return opening > 0 and source[opening - 1] == "$"


def _statement(error: LiquidError, source: str) -> str:
    """The text of the output statement an error is in, without its braces."""
    opening = _opening(error, source)
    return source[opening + 2 :].lstrip("- ") if opening >= 0 else ""


def _opening(error: LiquidError, source: str) -> int:
    index = error.token.start_index if error.token is not None else -1
    return source.rfind("{{", 0, index + 1) if index >= 0 else -1


def _where(error: Exception, prompt: "Prompt") -> str:
    line = _line(error, prompt.source)
    return f"{prompt.where}:{prompt.first_line + line}" if line is not None else f"{prompt.where}:{prompt.first_line}"


def _line(error: Exception, source: str) -> int | None:
    """The line of an error in the template, from 0; None when the engine does not know."""
    if not isinstance(error, LiquidError):
        return None
    token = error.token
    if token is not None and token.start_index >= 0:
        return source.count("\n", 0, token.start_index)
    unclosed = _UNCLOSED.match(str(error.message))
    at = _last_open(unclosed[1], source) if unclosed else re.search(r"\{\{-?\s*-?\}\}", source)
    return source.count("\n", 0, at.start()) if at else None


def _last_open(name: str, source: str) -> re.Match[str] | None:
    """The opening tag of a kind of block that no end tag answers."""
    waiting: list[re.Match[str]] = []
    for tag in re.finditer(rf"\{{%-?\s*(end)?{re.escape(name)}\b", source):
        if tag[1] is None:
            waiting.append(tag)
        elif waiting:
            waiting.pop()
    return waiting[-1] if waiting else None
