"""Scenes: the console blocks of a page, run in order by a real shell in a scratch world, and what they must print.

A line ``$ command`` is run (a backslash at its end continues it); the lines below are its whole output. ``...`` stands
for anything inside a line, a line of ``...`` alone for any lines; a rule of ``=`` is as long as it is. Every command must
exit 0.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import Block, Page, pages

__all__ = ["Command", "Scene", "World", "commands", "pattern", "scenes"]

_PROMPT = "$ "
_RULE = re.compile(r"={4,}")
_ENDED = re.compile(r"\x1e(\d+)\x1e\n")


@dataclass(frozen=True)
class Command:
    """A command of a console block and what it is said to print; ``line`` counts from 1 in the page."""

    line: int
    text: str
    expected: str


@dataclass(frozen=True)
class Scene:
    """Blocks of one page that happen in one world, in their order."""

    page: Page
    name: str
    blocks: tuple[Block, ...]

    @property
    def label(self) -> str:
        return f"{self.page.name}:{self.name}"


def scenes() -> tuple[Scene, ...]:
    """Every scene of the documentation."""
    found: dict[tuple[str, str], list[Block]] = {}
    by_name = {page.name: page for page in pages()}
    for page in by_name.values():
        for block in page.blocks:
            if "scene" in block.settings:
                found.setdefault((page.name, block.settings["scene"]), []).append(block)
    return tuple(Scene(by_name[page], name, tuple(blocks)) for (page, name), blocks in found.items())


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; text before the first one is a mistake."""
    text, start, begun = "", 0, False
    expected: list[str] = []
    for line, content in enumerate(block.text.splitlines(), block.line + 1):
        if begun and text.endswith("\\\n"):
            text += content + "\n"
        elif content.startswith(_PROMPT):
            if begun:
                yield Command(start, text.strip(), "\n".join(expected))
            text, expected, start, begun = content.removeprefix(_PROMPT) + "\n", [], line, True
        else:
            assert begun, f"line {line}: output before any command"
            expected.append(content)
    assert begun, f"line {block.line}: a console block without a command"
    yield Command(start, text.strip(), "\n".join(expected))


def pattern(expected: str) -> re.Pattern[str]:
    """What an output must match, whole."""
    parts = []
    for line in expected.rstrip().split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            escaped = ".*?".join(re.escape(part) for part in line.rstrip().split("..."))
            parts.append(_RULE.sub("={4,}", escaped) + "\n")
    return re.compile("".join(parts) if expected.strip() else "")


class World:
    """A home folder with a git identity and an empty project; every block is one shell that goes on where the last was."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        project = self.home / "project"
        project.mkdir(parents=True)
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = You\n\temail = you@example.invalid\n[init]\n\tdefaultBranch = main\n"
        )
        self._where = root / "where"
        self._where.write_text(str(project))
        self._environ = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(root),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "80",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def write(self, name: str, text: str) -> None:
        """Write a file a page shows: below the home folder when it begins with ``~/``, else where the shell is."""
        folder = self.home if name.startswith("~/") else Path(self._where.read_text().strip())
        path = folder / name.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def play(self, block: Block, page: Page) -> None:
        """Run the commands of a block and hold their outputs against what the page says."""
        asked = tuple(commands(block))
        outputs = self._run(asked)
        for number, command in enumerate(asked):
            where = f"{page.name}:{command.line}: $ {command.text}"
            assert number < len(outputs), f"{where}\nwas not reached"
            code, output = outputs[number]
            assert code == 0, f"{where}\nexit {code}\n{output}"
            assert pattern(command.expected).fullmatch(output), (
                f"{where}\nprinted\n{output}\nexpected\n{command.expected}"
            )

    def _run(self, asked: tuple[Command, ...]) -> list[tuple[int, str]]:
        steps = [f"{command.text}\nprintf '\\036%d\\036\\n' $?" for command in asked]
        script = "\n".join(['cd "$(cat "$1")"', *steps, 'pwd >"$1"'])
        done = subprocess.run(
            ["bash", "-c", script, "scene", str(self._where)],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=110,
        )
        *parts, rest = _ENDED.split(done.stdout)
        assert not rest.strip(), rest
        return [(int(parts[at + 1]), _normal(parts[at])) for at in range(0, len(parts), 2)]


def _normal(output: str) -> str:
    lines = [line.rstrip() for line in output.rstrip().split("\n")]
    return "\n".join(lines) + "\n" if output.strip() else ""
