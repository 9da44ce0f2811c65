"""The documentation as values: pages with their headings, links, code spans and fenced blocks.

A comment right above a fence says what the block is for: ``scene: NAME`` (its commands are run), ``scene: NAME, file: PATH``
(its text is written there), ``not run: REASON``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["ROOT", "Block", "Page", "pages"]

ROOT = Path(__file__).parents[2]
_DESIGN = "design.md"
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: the line it begins on, its language, its text, and the settings of the comment above it."""

    line: int
    language: str
    text: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """One file of the documentation."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks())

    @cached_property
    def links(self) -> tuple[str, ...]:
        return tuple(str(token.attrs["href"]) for token in self._inline if token.type == "link_open")

    @cached_property
    def spans(self) -> tuple[str, ...]:
        """What stands in backticks in running text."""
        return tuple(token.content for token in self._inline if token.type == "code_inline")

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The anchors of its headings, made as GitHub makes them."""
        found: dict[str, int] = {}
        anchors = set()
        for before, token in zip(self._tokens, self._tokens[1:], strict=False):
            if before.type != "heading_open":
                continue
            words = "".join(child.content for child in token.children or ())
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            seen = found.setdefault(anchor, 0)
            found[anchor] += 1
            anchors.add(f"{anchor}-{seen}" if seen else anchor)
        return frozenset(anchors)

    @cached_property
    def _tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    @cached_property
    def _inline(self) -> list[Token]:
        return [child for token in self._tokens for child in token.children or ()]

    def _blocks(self) -> Iterator[Block]:
        for before, token in zip([None, *self._tokens], self._tokens, strict=False):
            if token.type != "fence":
                continue
            comment = _COMMENT.fullmatch(before.content.strip()) if before and before.type == "html_block" else None
            line = (token.map or [0])[0] + 1
            yield Block(line, token.info.strip(), token.content, _settings(comment[1]) if comment else {})


def pages() -> tuple[Page, ...]:
    """Every page for users and contributors; the design is a document of its own and speaks of the future too."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return tuple(Page(path) for path in found if path.name != _DESIGN)


def _settings(comment: str) -> dict[str, str]:
    parts = (part.partition(":") for part in comment.split(","))
    return {name.strip(): value.strip() for name, _, value in parts}
