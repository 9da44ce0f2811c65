"""``-k``: which tasks a boolean expression of words means, as pytest reads it.

A word matches a task when its name (``<change>:<id>``) or title holds it, whatever the case; words are joined by ``and``, ``or``,
``not`` and parentheses.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from baton_runner.base.errors import UsageError

__all__ = ["Matcher", "parse_expression"]

Matcher = Callable[[str], bool]
"""Whether a text (a task's name and title) is meant."""

_TOKEN = re.compile(r"\s*(?:(?P<sign>[()])|(?P<word>[^\s()]+))")


def parse_expression(text: str) -> Matcher:
    """The matcher of an expression. Raises UsageError when it is none."""
    return _Parser(text).parse()


@dataclass
class _Parser:
    text: str
    tokens: list[str] = field(default_factory=list)

    def parse(self) -> Matcher:
        self.tokens = [found["sign"] or found["word"] for found in _TOKEN.finditer(self.text)]
        matcher = self._any()
        if self.tokens:
            raise self._unexpected()
        return matcher

    def _any(self) -> Matcher:
        found = [self._all()]
        while self._take("or"):
            found.append(self._all())
        return found[0] if len(found) == 1 else lambda text: any(each(text) for each in found)

    def _all(self) -> Matcher:
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        return found[0] if len(found) == 1 else lambda text: all(each(text) for each in found)

    def _one(self) -> Matcher:
        if self._take("not"):
            inner = self._one()
            return lambda text: not inner(text)
        if self._take("("):
            inner = self._any()
            if not self._take(")"):
                raise self._unexpected()
            return inner
        if not self.tokens or self.tokens[0] in {"and", "or", ")"}:
            raise self._unexpected()
        word = self.tokens.pop(0).casefold()
        return lambda text: word in text.casefold()

    def _take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def _unexpected(self) -> UsageError:
        what = f"{self.tokens[0]!r} stands where a word should" if self.tokens else "it ends too early"
        return UsageError(
            f"cannot be read: {what}", where=f"-k {self.text!r}", todo="join words with and, or, not and parentheses"
        )
