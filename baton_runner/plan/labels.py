"""The labels in front of verification commands: which words are one, where, and what only looks like one.

*Verify* and its kin mean a check wherever a colon follows them. *Test*, *gate* and *command* are everyday words: they
do so in bold, with a capital letter, or at the start of a line, sentence, bullet or parenthesis. Prose below is
text whose code spans are blanked (:func:`baton_runner.plan.inline.blank_code`).
"""

import re

from baton_runner.plan.inline import blank_code

__all__ = ["LABEL", "bare_label", "has_label", "is_near_label", "may_have_label"]

_WEAK = r"(?:test|gate|command)"
_STRONG = r"(?:verify|verification|validation|acceptance|done\s+when)"
_WORD = rf"(?:{_STRONG}|{_WEAK})"
_CAPITAL = r"(?:Test|TEST|Gate|GATE|Command|COMMAND)"
_FIRST = r"(?:^\s*(?:(?:[-*+]|\d+[.)])\s+)?|(?<=[.;!?)|—–-]\s)|(?<=\())"  # noqa: RUF001 - punctuation of real plans
_COLON = r"(?::(?=[\s*_(]|$)|：)"  # noqa: RUF001 - not test:unit, nor Test::More

LABEL = re.compile(
    rf"(?:{_FIRST}[*_]{{0,3}}(?i:{_WORD}(?:\s+{_WORD})?)"
    rf"|(?<![\w/-])[*_]{{0,3}}(?i:(?:{_WEAK}\s+)?{_STRONG}(?:\s+{_WORD})?)"
    rf"|(?<![\w/-])(?:[*_]{{1,3}}(?i:{_WEAK})|{_CAPITAL})(?i:\s+{_WORD})?)"
    rf"[*_]{{0,3}}\s*{_COLON}[*_]{{0,3}}"
)
_MAYBE = re.compile(rf"{_WORD}[*_]{{0,3}}\s*[:：]", re.IGNORECASE)  # noqa: RUF001
_NEAR = re.compile(
    r"\b(?:verif\w*|validat\w*|accept\w*|tests?|testing|gates?|commands?|checks?|done\s+when|run)"
    rf"(?:[ \t]+[\w-]+){{0,2}}[*_]{{0,3}}[ \t]*{_COLON}[ \t*_(]*(?=`)",
    re.IGNORECASE,
)


def may_have_label(text: str) -> bool:
    """Whether it is worth looking closely: a cheap question to whole texts, code spans and all."""
    return _MAYBE.search(text) is not None


def has_label(prose: str) -> bool:
    """Whether a line of prose holds a label."""
    return LABEL.search(prose) is not None


def bare_label(text: str) -> bool:
    """Whether a line (code spans and all) ends with a label, so that its commands can only stand below."""
    found = list(LABEL.finditer(blank_code(text)))
    return bool(found) and not text[found[-1].end() :].strip(" *_")


def is_near_label(text: str) -> bool:
    """Whether a text (code spans and all) has backticks right behind what reads like a label, be it one or not.

    ``Acceptance criteria: `make` `` and ``add the test: `foo` `` do.
    """
    ticks, at = 0, 0
    for found in _NEAR.finditer(text) if "`" in text else ():
        ticks, at = ticks + text.count("`", at, found.start()), found.start()
        if ticks % 2 == 0:
            return True
    return False
