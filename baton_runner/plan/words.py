"""The words of a box: its line and the lines below as text, and the insides of the comments that stood in them.

A comment is no part of a task's words, except inside a code fence, where it is code.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from baton_runner.plan.inline import scan
from baton_runner.plan.lines import Kind, Line
from baton_runner.plan.outline import Draft

__all__ = ["Words", "body_of", "words_of"]

_TAB = 4


@dataclass(frozen=True, slots=True)
class Words:
    """``text``: the line behind the box; ``body``: the lines below, dedented; ``comments``: their insides, in order."""

    text: str
    body: str = ""
    comments: tuple[str, ...] = ()


def words_of(draft: Draft) -> Words:
    """The words of a task or step; a star right behind the box (an optional task) is none of them."""
    rest = draft.head.rest
    text = rest[1:] if rest.startswith(("* ", "*\t")) else rest
    if not draft.body and "<!--" not in text:  # the ordinary case
        return Words(text.strip())
    if "<!--" not in text and not any("<!--" in line.text for line in draft.body):
        return Words(text.strip(), _dedent([line.text for line in draft.body]))
    head = Line(draft.head.number, text)
    (first, *below), comments = _cut([head, *draft.body])
    text, _, more = first.partition("\n")
    return Words(text.strip(), _dedent([*([more] if more.strip() else []), *below]), tuple(comments))


def body_of(lines: list[Line]) -> str:
    """Lines below a heading or group box as text, without comments."""
    return _dedent(_cut(lines)[0])


def _cut(lines: list[Line]) -> tuple[list[str], list[str]]:
    """The texts without comments, and the comments' insides; a line that was nothing but a comment is gone."""
    kept: list[str] = []
    comments: list[str] = []
    for block in _blocks(lines):
        text = "\n".join(line.text for line in block)
        if block[0].kind is not Kind.FENCED and "<!--" in text:
            found = scan(text)
            comments += [inner for _, _, inner in found.comments]
            text = found.without_comments(text)
            if not text.strip() and block[0] is not lines[0]:
                continue
        kept.append(text)
    return kept, comments


def _blocks(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines, with those of a comment that goes on below gathered to one block."""
    block: list[Line] = []
    for line in lines:
        if block and not (line.kind is Kind.COMMENT and line.opener <= block[-1].number - 1):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _dedent(lines: list[str]) -> str:
    if not lines:
        return ""
    text = "\n".join(lines)
    if "\t" in text:
        text = "\n".join(line.expandtabs(_TAB) for line in lines)
    return textwrap.dedent(text).strip("\n").rstrip()
