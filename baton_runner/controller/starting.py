"""The files that ``baton init`` writes: each whole where it is missing, and never a byte of one that is there.

For a file that exists, what should be in it is returned, so that a person can add it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.controller.proposal import policy_text, toolchains

__all__ = ["Extra", "Proposed", "propose", "write"]

_WRITE = crash.declare("init.write")

_DODO = 'from baton_runner.doit import DOIT_CONFIG, task_baton\n\n__all__ = ["DOIT_CONFIG", "task_baton"]\n'
_DODO_LINE = "from baton_runner.doit import task_baton\n"
_NOX = 'from baton_runner.nox import session_baton\n\n__all__ = ["session_baton"]\n'
_NOX_LINE = "from baton_runner.nox import session_baton\n"
_MAKE = ".PHONY: baton\nbaton:\n\tbaton run\n"
_CI = """\
# Works on the plans when asked to, or only proves what is finished; receipts travel as refs, so nothing is done twice.
name: baton
on:
  workflow_dispatch:
permissions:
  contents: write
concurrency: baton
jobs:
  baton:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install baton-runner
      - run: git fetch origin 'refs/baton/*:refs/baton/*' 'refs/heads/baton/*:refs/heads/baton/*'
      - run: baton verify
      - run: baton run
      - if: always()
        run: git push origin 'refs/baton/*' 'refs/heads/baton/*'
"""
_PLAN = """\
# Say hello

## 1. Say it

- [ ] 1.1 Add a file `hello.txt` with one friendly line in it
  - Verify: `test -s hello.txt`

## 2. Tell others

- [ ] 2.1 Mention `hello.txt` in the README
  - Verify: `grep -q hello.txt README.md`
"""


class Extra(StrEnum):
    """What may be written besides WORKFLOW.md and dodo.py."""

    NOX = "nox"
    MAKE = "make"
    CI = "ci"
    EXAMPLE = "example"


@dataclass(frozen=True)
class Proposed:
    """A file of the repository and what belongs into it. ``exists``: it is there, and stays as it is.

    ``addition`` is what to add by hand to a file that is there.
    """

    path: Path
    text: str
    addition: str
    exists: bool


def propose(top: Path, agent: str, extras: Iterable[Extra]) -> tuple[Proposed, ...]:
    """The files for a repository, in the order in which they are shown."""
    texts = {"WORKFLOW.md": policy_text(toolchains(top), agent), "dodo.py": _DODO}
    chosen = set(extras)
    more = {
        Extra.NOX: ("noxfile.py", _NOX),
        Extra.MAKE: (_makefile(top), _MAKE),
        Extra.CI: (".github/workflows/baton.yml", _CI),
        Extra.EXAMPLE: (_example(top), _PLAN),
    }
    texts |= dict(more[extra] for extra in Extra if extra in chosen)
    additions = {"dodo.py": _DODO_LINE, "noxfile.py": _NOX_LINE}
    return tuple(
        Proposed(top / name, text, additions.get(name, text), (top / name).exists()) for name, text in texts.items()
    )


def write(proposed: Proposed) -> None:
    """Write a file that is missing."""
    if not proposed.exists:
        files.write_atomic(proposed.path, proposed.text.encode(), _WRITE)


def _makefile(top: Path) -> str:
    return next((name for name in ("GNUmakefile", "makefile") if (top / name).exists()), "Makefile")


def _example(top: Path) -> str:
    """The example plan lies where the repository's changes do."""
    home = "openspec/changes" if (top / "openspec/changes").is_dir() else "tasks"
    return f"{home}/say-hello/tasks.md"
