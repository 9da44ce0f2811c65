"""What a prompt template may read, as typed values, and how they look inside the template.

The shapes are shielded against the mistakes people make: labels print ``bug, ai``, a blank text is null (an empty one
would be true in a condition), an issue, a task or a blocker prints as JSON, times are ISO text. Text of a tracker or a
plan is data: it is handed over as a value and never parsed (R-009b).
"""

import datetime as dt
import json
from dataclasses import dataclass, fields
from typing import Any

from baton_runner.base.clock import rfc3339

__all__ = [
    "Blocker",
    "JsonList",
    "JsonMap",
    "Lines",
    "PromptFailure",
    "PromptIssue",
    "PromptTask",
    "Words",
    "issue_from_task",
    "known_paths",
    "template_values",
]


@dataclass(frozen=True, kw_only=True)
class PromptTask:
    """A task of a plan, as ``task`` in the template. ``key`` is ``<change>:<id>``; ``verification`` are commands."""

    id: str
    key: str
    title: str
    text: str
    body: str
    steps: tuple[str, ...]
    section: str
    change: str
    verification: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PromptFailure:
    """What was red in the attempt or turn before: its kind, the command, the end of its output, a remark."""

    kind: str
    command: str = ""
    output: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Blocker:
    """An issue that must be resolved first."""

    id: str
    identifier: str
    state: str


@dataclass(frozen=True, kw_only=True)
class PromptIssue:
    """An issue of a board, as ``issue`` in the template (R-008, R-133a)."""

    id: str
    identifier: str
    title: str
    state: str
    item_id: str | None = None
    number: int | None = None
    repository: str | None = None
    description: str | None = None
    priority: int | None = None
    branch_name: str | None = None
    url: str | None = None
    labels: tuple[str, ...] = ()
    blocked_by: tuple[Blocker, ...] = ()
    created_at: dt.datetime | str | None = None
    updated_at: dt.datetime | str | None = None
    closed: bool = False


class JsonMap(dict[str, Any]):
    """A map that prints as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, ensure_ascii=False)


class JsonList(list[Any]):
    """A list that prints as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, ensure_ascii=False)


class Words(list[str]):
    """A list of short texts that prints ``bug, ai``."""

    def __str__(self) -> str:
        return ", ".join(self)


class Lines(list[str]):
    """A list of texts that prints one a line."""

    def __str__(self) -> str:
        return "\n".join(self)


def issue_from_task(task: PromptTask) -> PromptIssue:
    """A task in the shape of an issue, so that one template serves a build and the service."""
    steps = "\n".join(f"- {step}" for step in task.steps)
    return PromptIssue(
        id=task.key,
        identifier=task.key,
        title=task.title,
        state="In Progress",
        description="\n\n".join(part for part in (task.body.strip(), steps) if part) or None,
    )


def template_values(
    *, task: PromptTask | None, attempt: int | None, failure: PromptFailure | None, issue: PromptIssue | None
) -> dict[str, Any]:
    """The variables of one rendering. Every one is defined; what does not apply is null (R-008)."""
    if issue is None and task is not None:
        issue = issue_from_task(task)
    return {
        "task": None if task is None else _task(task),
        "issue": None if issue is None else _issue(issue),
        "attempt": attempt,
        "failure": None if failure is None else _plain_map(failure),
    }


def known_paths() -> tuple[str, ...]:
    """Every name a template may print: ``issue.title``, ``task.id``, ``attempt`` ..."""
    shapes = {"issue": PromptIssue, "task": PromptTask, "failure": PromptFailure}
    return ("attempt", *(f"{name}.{part.name}" for name, shape in shapes.items() for part in fields(shape)))


def _task(task: PromptTask) -> JsonMap:
    return JsonMap(
        _plain_map(task)
        | {"steps": Lines(map(_text, task.steps)), "verification": Lines(map(_text, task.verification))}
    )


def _issue(issue: PromptIssue) -> JsonMap:
    blockers = JsonList(_plain_map(blocker) for blocker in issue.blocked_by)
    return JsonMap(_plain_map(issue) | {"labels": Words(map(_text, issue.labels)), "blocked_by": blockers})


def _plain_map(value: Any) -> JsonMap:
    return JsonMap({part.name: _plain(getattr(value, part.name)) for part in fields(value)})


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return rfc3339(value)
    if isinstance(value, str):
        return _text(value) if value.strip() else None
    return value


def _text(value: str) -> str:
    """A text that can be written as UTF-8: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8")
