"""What a repository is tested with, by the files at its top, and the policy that ``baton init`` proposes for it.

Pure: reads a folder, decides, and returns text; nothing is started. The first kind of project found is proposed, the
others are named beside it.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Toolchain", "policy_text", "toolchains"]

_NO_TEST = "no test specified"
_TARGET = re.compile(r"^(check|test)\s*:(?!=)", re.MULTILINE)


@dataclass(frozen=True)
class Toolchain:
    """How one kind of project is tested. ``files`` are those whose change asks for the set-up again."""

    found: str
    test: str
    setup: str = ""
    files: tuple[str, ...] = ()


def toolchains(top: Path) -> tuple[Toolchain, ...]:
    """Every way to test that the files at the top speak of, the best first."""
    finders: tuple[Callable[[Path], Toolchain | None], ...] = (_python, _node, _make, _cargo, _go)
    return tuple(found for finder in finders if (found := finder(top)) is not None)


def policy_text(found: tuple[Toolchain, ...], agent: str) -> str:
    """The WORKFLOW.md for a repository that is tested like this, worked on by this kind of agent."""
    return "\n".join(["---", *_verify(found), *_setup(found), *_agent(agent), "---", ""])


def _verify(found: tuple[Toolchain, ...]) -> Iterator[str]:
    yield "# The commands that must exit 0 before a task counts as done; they are run by baton, not by the agent."
    yield "verify:"
    if not found:
        yield '  # No test command was found. Write yours, for example: commands: ["make test"]'
        yield "  commands: []"
        return
    first, *others = found
    yield "  commands:"
    yield f"    - {_quoted(first.test)}  # found: {first.found}"
    for other in others:
        yield f"    # - {_quoted(other.test)}  # found: {other.found}"


def _setup(found: tuple[Toolchain, ...]) -> Iterator[str]:
    if not found or not found[0].setup:
        return
    yield "# What makes a fresh worktree ready; run again there when one of the files changed."
    yield "workspace:"
    yield "  setup:"
    yield f"    - run: {_quoted(found[0].setup)}"
    yield f"      files: {json.dumps(list(found[0].files))}"


def _agent(agent: str) -> Iterator[str]:
    yield "# Who works: claude_code, command (any program; give it under command.run) or terminal."
    yield "agent:"
    yield f"  kind: {agent}"
    yield "# Below the next line you may write a prompt of your own; while it is empty, a good one is used."


def _quoted(command: str) -> str:
    """A command as a YAML scalar: bare where that is safe, else quoted."""
    return command if re.fullmatch(r"[A-Za-z./][\w./ =-]*", command) else json.dumps(command)


def _python(top: Path) -> Toolchain | None:
    project = _toml(top / "pyproject.toml")
    signs = [name for name in ("pytest.ini", "conftest.py", "tests/conftest.py") if (top / name).is_file()]
    if project is not None and (_asks_for_pytest(project) or _has_tests(top)):
        signs.append("pyproject.toml")
    signs += [name for name in ("tox.ini", "setup.cfg") if "pytest" in _text(top / name)]
    if not signs:
        return None
    sign = "pyproject.toml" if "pyproject.toml" in signs else signs[0]
    if (top / "uv.lock").is_file():
        return Toolchain(f"{sign}, uv.lock", "uv run pytest -q", "uv sync", ("uv.lock",))
    if (top / "poetry.lock").is_file():
        return Toolchain(f"{sign}, poetry.lock", "poetry run pytest -q", "poetry install", ("poetry.lock",))
    if (top / "src").is_dir():
        # before the site-packages: an editable install of the main checkout would be tested instead of the worktree
        return Toolchain(sign, "PYTHONPATH=src python3 -m pytest -q")
    return Toolchain(sign, "python3 -m pytest -q")


def _asks_for_pytest(project: dict[str, Any]) -> bool:
    if "pytest" in _table(project, "tool"):
        return True
    return any(
        name in json.dumps(project) for name in ('"pytest"', '"pytest>', '"pytest=', '"pytest~', '"pytest[', '"pytest ')
    )


def _has_tests(top: Path) -> bool:
    return any((top / "tests").glob("test_*.py")) or any(top.glob("test_*.py"))


def _node(top: Path) -> Toolchain | None:
    try:
        package = json.loads(_text(top / "package.json") or "null")
    except ValueError:
        return None
    test = _table(_table(package, "scripts"), "test") if isinstance(package, dict) else None
    if not isinstance(test, str) or _NO_TEST in test:
        return None
    locks = {
        "pnpm-lock.yaml": ("pnpm test", "pnpm install --frozen-lockfile"),
        "yarn.lock": ("yarn test", "yarn install --frozen-lockfile"),
        "bun.lock": ("bun run test", "bun install --frozen-lockfile"),
        "bun.lockb": ("bun run test", "bun install --frozen-lockfile"),
        "package-lock.json": ("npm test", "npm ci"),
    }
    for lock, (command, setup) in locks.items():
        if (top / lock).is_file():
            return Toolchain(f"package.json, {lock}", command, setup, (lock,))
    depends = _table(package, "dependencies") or _table(package, "devDependencies")
    setup = "npm install --no-package-lock" if depends else ""
    return Toolchain("package.json", "npm test", setup, ("package.json",) if setup else ())


def _make(top: Path) -> Toolchain | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        targets = set(_TARGET.findall(_text(top / name)))
        for target in ("test", "check"):
            if target in targets:
                return Toolchain(name, f"make {target}")
    return None


def _cargo(top: Path) -> Toolchain | None:
    return Toolchain("Cargo.toml", "cargo test") if (top / "Cargo.toml").is_file() else None


def _go(top: Path) -> Toolchain | None:
    return Toolchain("go.mod", "go test ./...") if (top / "go.mod").is_file() else None


def _table(value: Any, key: str) -> Any:
    """A key of a parsed file, {} where it is not there or the file holds something else."""
    return value.get(key, {}) if isinstance(value, dict) else {}


def _toml(path: Path) -> dict[str, Any] | None:
    """A TOML file, None when there is none; one that cannot be parsed is an empty one: it still says "Python"."""
    if not path.is_file():
        return None
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
