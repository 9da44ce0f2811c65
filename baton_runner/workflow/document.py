"""The file WORKFLOW.md as text: split into front matter and prompt body, on lines, before anything is interpreted.

Promises: UTF-8 under every locale; delimiters are lines of exactly ``---`` with nothing but blanks after them, so an
indented ``---`` in a hook's here-document is none (R-003); a file that looks as if its front matter went unseen gets a
hint that says why.
"""

import re
from dataclasses import dataclass
from typing import TypedDict

from baton_runner.base.errors import PolicyError

__all__ = ["MAX_FRONT_MATTER", "MAX_SIZE", "Document", "split"]

MAX_FRONT_MATTER = 256 * 1024
"""Bytes of front matter; real files hold up to 39 kB, and a YAML bomb needs room."""
MAX_SIZE = 4 * 1024 * 1024
"""Bytes of the whole file."""

_DELIMITER = re.compile(r"---[ \t]*")
_YAML_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*ya?ml\b.*?^tracker:", re.MULTILINE | re.DOTALL)
_KEY = re.compile(r"[a-z_]+:(\s|$)")
_BOM = b"\xef\xbb\xbf"


class _Body(TypedDict):
    body: str
    body_line: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """The two halves of a file. ``front`` is None where there is none; lines count from 1 in the file."""

    front: str | None
    front_line: int
    body: str
    body_line: int
    hint: str = ""


def split(data: bytes, where: str) -> Document:
    """Split a file's bytes; PolicyError (``workflow_parse_error``) for what cannot be text or never ends."""
    text = _decode(data, where)
    lines = text.replace("\r\n", "\n").split("\n")
    if not _DELIMITER.fullmatch(lines[0]):
        return Document(front=None, front_line=1, hint=_unseen(text, lines), **_body(lines, 0))
    end = next((at for at, line in enumerate(lines) if at and _DELIMITER.fullmatch(line)), None)
    if end is None:
        raise _unreadable("the front matter that starts here never ends", f"{where}:1", "close it with a line of ---")
    front = "\n".join(lines[1:end])
    if len(front.encode()) > MAX_FRONT_MATTER:
        raise _unreadable(
            f"the front matter is larger than {MAX_FRONT_MATTER // 1024} KiB", f"{where}:1", "move text to the body"
        )
    return Document(front=front, front_line=2, **_body(lines, end + 1))


def _decode(data: bytes, where: str) -> str:
    if len(data) > MAX_SIZE:
        raise _unreadable(f"the file is larger than {MAX_SIZE // 1024 // 1024} MiB", where, "shorten the prompt")
    if data.startswith(_BOM):
        raise _unreadable(
            "starts with a byte-order mark, which hides the front matter", f"{where}:1", "save it as UTF-8 without BOM"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable("is not UTF-8", f"{where}:{line}", "save the file as UTF-8") from error


def _body(lines: list[str], first: int) -> _Body:
    """The prompt without surrounding blanks (R-006), and the line of the file it starts on."""
    text = "\n".join(lines[first:])
    body = text.strip()
    leading = text[: len(text) - len(text.lstrip())]
    return {"body": body, "body_line": first + 1 + leading.count("\n")}


def _unseen(text: str, lines: list[str]) -> str:
    """Why a file without front matter may hold some all the same, else an empty text; a mere rule in prose is none."""
    later = next((at for at, line in enumerate(lines) if at and _DELIMITER.fullmatch(line)), None)
    if _YAML_FENCE.search(text):
        seen = "a yaml code fence with tracker: is in the text"
    elif later is not None and any(_KEY.match(line) for line in lines[later + 1 :]):
        seen = f"a line of --- is at line {later + 1}"
    else:
        return ""
    return f"no settings were read although {seen}: front matter must start on line 1, with a line of ---"


def _unreadable(what: str, where: str, todo: str) -> PolicyError:
    return PolicyError(what, where=where, todo=todo, code="workflow_parse_error")
