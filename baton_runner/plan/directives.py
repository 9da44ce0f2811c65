"""Directives in HTML comments: ``<!-- run: ... -->``, ``<!-- verify: ... -->``, ``<!-- baton: key=value, ... -->``.

Other comments are nobody's business here. A name or value that is not understood is a complaint, never ignored.
"""

import difflib
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from baton_runner.plan.model import Directives

__all__ = ["Comments", "is_directive", "parse_comments", "seconds"]

_DIRECTIVE = re.compile(r"\s*(?P<kind>run|verify|baton)\s*:(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?")
_NO_DIRECTIVES = Directives()
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_SWITCH = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


@dataclass(frozen=True, slots=True)
class Comments:
    """What a task's comments ask for; ``complaints`` are (what, what to do)."""

    recipe: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    directives: Directives = _NO_DIRECTIVES
    complaints: tuple[tuple[str, str], ...] = ()


_NOTHING = Comments()


def is_directive(comment: str) -> bool:
    """Whether the inside of a comment is addressed to us."""
    return _DIRECTIVE.match(comment) is not None


def parse_comments(comments: Sequence[str]) -> Comments:
    """Read the insides of a task's comments. A command keeps its lines: a comment of several lines is one script."""
    if not comments:
        return _NOTHING
    recipe: list[str] = []
    verify: list[str] = []
    complaints: list[tuple[str, str]] = []
    directives = _NO_DIRECTIVES
    for comment in comments:
        found = _DIRECTIVE.match(comment)
        if found is None:
            continue
        kind, value = found["kind"].lower(), found["value"]
        if kind == "baton":
            directives, more = _settings(directives, value)
            complaints += more
        elif command := _command(value):
            (recipe if kind == "run" else verify).append(command)
        else:
            complaints.append((f"the comment `{kind}:` names no command", "write the command behind the colon"))
    return Comments(tuple(recipe), tuple(verify), directives, tuple(complaints))


def seconds(text: str) -> float:
    """A duration such as ``90``, ``90s``, ``20m``, ``1h`` in seconds; ValueError when it is none or zero."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise ValueError(text)
    return float(found[1]) * _UNITS[found[2]]


def _command(value: str) -> str:
    first, _, more = value.partition("\n")
    return "\n".join(part for part in (first.strip(), textwrap.dedent(more).strip("\n").rstrip()) if part)


def _settings(directives: Directives, value: str) -> tuple[Directives, list[tuple[str, str]]]:
    complaints = []
    for setting in filter(None, (part.strip() for part in re.split(r"[,\n]", value))):
        name, _, given = (part.strip() for part in setting.partition("="))
        read = _READERS.get(name.lower().replace("_", "-"))
        if read is None:
            near = difflib.get_close_matches(name.lower(), _READERS, n=1)
            advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(_READERS)}"
            complaints.append((f"directive {name} is not known", advice))
            continue
        try:
            directives = read(directives, given)
        except (ValueError, KeyError):
            complaints.append(
                (
                    f"directive {name} cannot be {given or 'empty'}",
                    f"write it as {_FORMS[name.lower().replace('_', '-')]}",
                )
            )
    return directives, complaints


def _allow_empty(directives: Directives, value: str) -> Directives:
    return replace(directives, allow_empty=_SWITCH[value.lower() or "on"])


def _agent(directives: Directives, value: str) -> Directives:
    return replace(directives, agent=_named(value))


def _timeout(directives: Directives, value: str) -> Directives:
    return replace(directives, timeout=seconds(value))


def _resources(directives: Directives, value: str) -> Directives:
    names = re.split(r"[+\s]+", _named(value))
    return replace(directives, resources=tuple(dict.fromkeys((*directives.resources, *names))))


def _verify(directives: Directives, value: str) -> Directives:
    return replace(directives, verify_once={"once": True, "always": False}[value.lower()])


def _protect(directives: Directives, value: str) -> Directives:
    return replace(directives, protect=_SWITCH[value.lower()])


def _named(value: str) -> str:
    if not value:
        raise ValueError(value)
    return value


_READERS: dict[str, Callable[[Directives, str], Directives]] = {
    "allow-empty": _allow_empty,
    "agent": _agent,
    "timeout": _timeout,
    "resources": _resources,
    "verify": _verify,
    "protect": _protect,
}
_FORMS = {
    "allow-empty": "allow-empty",
    "agent": "agent=NAME",
    "timeout": "timeout=90s, 20m or 1h",
    "resources": "resources=db or resources=db+gpu",
    "verify": "verify=once or verify=always",
    "protect": "protect=off or protect=on",
}
