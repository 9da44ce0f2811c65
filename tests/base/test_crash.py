"""Crash points: every durable write has one, and a kill there is a kill."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import baton_runner
from baton_runner.base import crash

PACKAGE = Path(baton_runner.__file__).parent
WRITERS = {"write_atomic": 2, "write_if_changed": 2, "rename": 2, "remove": 1}
"""The durable writes of base/files.py, and at which argument each takes its crash point."""

RAW = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "replace", "rename", "unlink"}
"""Methods of pathlib that change a disk. ``replace`` and ``rename`` with one argument: two make it a text's."""

ALLOWED = {
    # where: why no crash point is needed
    "base/files.py": "the durable writes themselves",
    "base/locks.py": "a lock's label; the lock holds without it",
    "base/transcript.py": "a log of what is running now; losing its end loses no work",
    "build/projection.py": "doit's file_dep: made again from the plan whenever it is missing or other",
    "build/report/output.py": "a stream that a reporter was asked to write to; a run's truth is not in it",
    "cli/demo.py": "a throw-away repository to show the product in",
    "cli/exits.py": "the traceback of an internal error, for a person to send",
    "controller/abandoning.py": "removes what a person asked to be removed; asked again, it goes on",
    "evidence/checks.py": "forgets known greens; a check is run again",
    "plan/ticking.py": "the copy that waited to become the plan, when a user's own edit came first",
    "repo/own_git.py": "made in a scratch folder that is renamed as a whole at a crash point of its own",
    "repo/refs.py": "stale locks of git, removed at a crash point of its own",
    "store/database.py": "a damaged database is moved aside; it holds history only",
    # worktrees: what only they hold is parked under a ref before anything is removed
    "repo/commits.py": "the index lock of a git that was killed with its agent",
    "repo/files_within.py": "a worktree's copies of ignored files, brought again by the next set-up",
    "repo/finish.py": "removes marks of an undone merge in the checkout that was asked for",
    "repo/parking.py": "a scratch index",
    "repo/setup.py": "links and copies of a worktree, brought again by the next set-up",
    "repo/slots.py": "a worktree slot's own record; a slot without one is an orphan",
    "repo/sparse.py": "a worktree's sparse pattern, written again before its next use",
    "repo/worktree.py": "a worktree's own marks, made again before its next use",
    "repo/worktrees.py": "worktree administration, mended when the slot is taken next",
}


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_bytes())


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


def _is_raw_write(name: str, call: ast.Call) -> bool:
    """Whether a call changes the disk past base/files.py."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    module = owner.id if isinstance(owner, ast.Name) else ""
    if name in {"replace", "rename"}:
        if module in {"dataclasses", "files"} or owner is None:
            return False
        one = len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) and not call.keywords
        return module == "os" or one
    if name in {"open", "fdopen"}:
        return any(_asks_to_write(argument) for argument in call.args)
    if name in {"rmtree", "copyfile", "copy", "copy2", "copytree", "move"}:
        return module == "shutil"
    return name in RAW and owner is not None


def _asks_to_write(argument: ast.expr) -> bool:
    """Whether an argument of ``open`` is a mode or has a flag that may change the file."""
    if isinstance(argument, ast.Constant):
        return (
            isinstance(argument.value, str) and re.fullmatch(r"[rwaxbt+]*[wax+][rwaxbt+]*", argument.value) is not None
        )
    return any(
        isinstance(part, ast.Attribute) and part.attr in {"O_WRONLY", "O_RDWR", "O_CREAT"}
        for part in ast.walk(argument)
    )


def _names_of_points(tree: ast.Module) -> set[str]:
    """The module's names that are bound to a declared crash point, or are arguments that can only be given one."""
    names = {arg.arg for arg in ast.walk(tree) if isinstance(arg, ast.arg) and _is_point(arg.annotation)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called in {"crash.declare", "declare"}:
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _is_point(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation) in {"crash.CrashPoint", "CrashPoint"}


def test_every_durable_write_names_a_point_declared_in_its_module() -> None:
    found = []
    for path, tree in _sources():
        points = _names_of_points(tree)
        for name, call in _calls(tree):
            place = WRITERS.get(name)
            if place is None or path == "base/files.py" or _is_raw_write(name, call):
                continue
            named = ast.unparse(call.args[place]) if len(call.args) > place else ""
            owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else "files"
            if owner == "files" and named not in points:
                found.append(f"{path}:{call.lineno}: {name}(.., {named or 'nothing'})")
    assert not found


def test_nothing_is_written_past_the_durable_writes_without_a_reason() -> None:
    found = {}
    for path, tree in _sources():
        lines = [f"{path}:{call.lineno} {name}" for name, call in _calls(tree) if _is_raw_write(name, call)]
        if lines and path not in ALLOWED:
            found[path] = lines
    assert not found


def test_every_reason_is_still_needed() -> None:
    """An allowance that nothing uses would hide the next write."""
    used = {path for path, tree in _sources() if any(_is_raw_write(name, call) for name, call in _calls(tree))}
    assert set(ALLOWED) <= used


def test_every_point_is_declared_once_in_the_whole_product() -> None:
    """Importing every module declares all points; a second declaration of a name would raise."""
    for module in pkgutil.walk_packages(baton_runner.__path__, "baton_runner."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert {"publish.pending", "publish.finished", "redo.write", "packet.write"} <= crash.declared()


def test_a_name_stands_for_one_place() -> None:
    crash.declare("test.once")
    with pytest.raises(ValueError, match=r"test\.once is declared twice"):
        crash.declare("test.once")


PASSES = """\
from baton_runner.base import crash
one, two = crash.declare("one"), crash.declare("two")
for number in range(3):
    print(number, flush=True)
    crash.reach(one)
    crash.reach(two)
"""


@pytest.mark.parametrize(
    ("wanted", "code", "passed"), [("", 0, 3), ("one", -9, 1), ("two@2", -9, 2), ("one@9", 0, 3), ("other", 0, 3)]
)
def test_the_process_dies_at_the_named_passing_and_at_no_other(wanted: str, code: int, passed: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PASSES], env={crash.VARIABLE: wanted}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, len(ended.stdout.split())) == (code, passed)
