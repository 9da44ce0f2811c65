"""The definition of a task: what an agent is asked to do, and nothing else.

Text, body and step texts with their blanks normalised, run commands as they are, allow-empty. Cut out: every mark, the id, verification
commands, dependency notes, markers for the scheduler, comments. So ticking, renumbering, moving or a new check leave
the digest as it is, and any changed word of the work does not (design 4.1).
"""

import re
from typing import Any

from baton_runner.base.digest import digest
from baton_runner.plan.ids import leading_id
from baton_runner.plan.model import Task
from baton_runner.plan.notes import cut_notes, is_body_note
from baton_runner.plan.verification import Split, split, split_task

__all__ = ["definition", "definition_digest", "plain_words"]

_NOTABLE = re.compile(r"[(\[:（：]")  # noqa: RUF001 - what a note, a marker or a label cannot do without


def definition(task: Task) -> dict[str, Any]:
    """The canonical JSON value of a task's work."""
    text, body = split_task(task.text, task.body)
    return {
        "allow_empty": task.directives.allow_empty,
        "body": _words(body),
        "run": list(task.recipe),
        "steps": [plain_words(_without_id(step.text)) for step in task.steps],
        "text": _words(text),
    }


def definition_digest(task: Task) -> str:
    """``sha256:<hex>`` of :func:`definition`."""
    return digest(definition(task))


def plain_words(text: str) -> str:
    """A text without commands, notes and markers, its blanks made single ones."""
    return _words(split(text))


def _words(found: Split) -> str:
    text = found.rest
    if _NOTABLE.search(text):
        kept = [line for line in text.split("\n") if not is_body_note(line)]
        text = cut_notes("\n".join(kept))
    return " ".join(text.split())


def _without_id(text: str) -> str:
    found = leading_id(text)
    return found.rest if found else text
