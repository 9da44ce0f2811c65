"""Preparing a worktree: ignored files brought from the user's checkout, links, setup commands, the context folder.

What is brought is never tracked, never followed through a link, and readable by the owner alone. A setup command runs
before a worktree's first use and again when a file it names changed; a digest says what a worktree was prepared with.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.cancel import Cancel
from baton_runner.base.digest import digest
from baton_runner.base.errors import ActionNeeded, PolicyError
from baton_runner.base.files import replace_file
from baton_runner.base.processes import Reason, run_command
from baton_runner.repo.checkout import Watch
from baton_runner.repo.files_within import copy_private, place_link
from baton_runner.repo.slots import remove_folder
from baton_runner.repo.worktrees import Worktree
from baton_runner.workflow.build_settings import WorkspaceSettings
from baton_runner.workflow.shapes import SetupStep

__all__ = [
    "INCLUDE_FILE",
    "Brought",
    "SetupFailed",
    "bring",
    "place_context",
    "run_setup",
    "setup_digest",
    "wanted_files",
]

INCLUDE_FILE = ".worktreeinclude"
_STATE = "setup.json"
_SHOWN_BYTES = 2000


class SetupFailed(ActionNeeded):
    """A ``workspace.setup`` command did not exit 0: no agent and no check can start in that worktree."""

    code = "setup_failed"


@dataclass(frozen=True, slots=True)
class Brought:
    """What came from the user's checkout. ``skipped`` are paths left out, each with the reason."""

    copied: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    digest: str = ""


def bring(worktree: Worktree, source: Watch | None, settings: WorkspaceSettings) -> Brought:
    """Copy ignored files (``workspace.copy`` and ``.worktreeinclude``, gitignore syntax) and make links.

    ``source`` is the user's checkout, None for a bare repository. ``digest`` stands for names and bytes of what was
    copied. Raises PolicyError when a link would be seen as a new file by git.
    """
    if source is None:
        return Brought()
    copied: dict[str, str] = {}
    skipped: list[str] = []
    for path in wanted_files(source, settings.copy):
        outcome = copy_private(source.top, worktree.path, path)
        if outcome.reason:
            skipped.append(f"{path}: {outcome.reason}")
        else:
            copied[path] = outcome.digest
    linked = [path for path in settings.link if _link(worktree, source, path, skipped)]
    return Brought(tuple(copied), tuple(linked), tuple(skipped), digest([copied, linked]) if copied or linked else "")


def run_setup(
    worktree: Worktree,
    steps: Sequence[SetupStep],
    *,
    environ: Mapping[str, str],
    log_folder: Path,
    timeout: float,
    marker: str,
    cancel: Cancel | None = None,
) -> tuple[str, ...]:
    """Run the setup commands whose digest is not the one they last ran with here; return those that ran.

    After one that runs, all later ones run too: they may build on it. ``timeout`` is in seconds for each. Raises
    SetupFailed with the end of the output.
    """
    if not steps:
        return ()
    done = _done(worktree)
    wanted = _step_digests(worktree, steps)
    first = next((n for n, each in enumerate(wanted) if n >= len(done) or done[n] != each), None)
    if first is None:
        return ()
    for number in range(first, len(steps)):
        _remember(worktree, wanted[:number])
        log = log_folder / f"setup-{number + 1}.log"
        ended = run_command(
            steps[number].run,
            cwd=worktree.path,
            environ=environ,
            log=log,
            timeout=timeout,
            marker=marker,
            cancel=cancel,
        )
        if ended.reason is not Reason.EXITED or ended.code != 0:
            how = f"exit code {ended.code}" if ended.reason is Reason.EXITED else ended.reason.value
            raise SetupFailed(
                f"workspace.setup {steps[number].run!r} failed ({how}): {ended.tail[-_SHOWN_BYTES:].strip()}",
                where=str(worktree.path),
                todo=f"repair the command or the machine; the whole output is in {log}",
            )
    _remember(worktree, wanted)
    return tuple(step.run for step in steps[first:])


def setup_digest(worktree: Worktree, steps: Sequence[SetupStep], brought: Brought) -> str:
    """What a check's result depends on beside the tree: setup commands, the files they name, copied files."""
    return digest([list(_step_digests(worktree, steps)), brought.digest])


def place_context(worktree: Worktree, source: Path, paths: Iterable[str]) -> Path:
    """Copy files below ``source`` (relative paths) into the read-only folder beside the worktree, replacing it."""
    folder = worktree.slot.context
    remove_folder(folder)
    folder.mkdir(parents=True)
    for path in paths:
        if copy_private(source, folder, path).reason:
            continue
        (folder / path).chmod(0o400)
    for parent, _, _ in os.walk(folder, topdown=False):
        os.chmod(parent, 0o500)  # noqa: PTH101 - walking bottom up, by name
    return folder


def wanted_files(source: Watch, patterns: Sequence[str]) -> tuple[str, ...]:
    """The ignored, untracked files that the patterns name, sorted."""
    include = source.top / INCLUDE_FILE
    has_file = include.is_file() and not include.is_symlink()
    if not patterns and not has_file:
        return ()
    args = [f"--exclude={pattern}" for pattern in patterns] + ([f"--exclude-from={include}"] if has_file else [])
    named = source.git.run("ls-files", "--others", "--ignored", "-z", *args)
    if not named:
        return ()
    ignored = source.git.try_run("check-ignore", "-z", "--stdin", input=named)  # exit code 1: none of them
    return tuple(sorted(path for path in os.fsdecode(ignored.stdout).split("\0") if path))


def _link(worktree: Worktree, source: Watch, path: str, skipped: list[str]) -> bool:
    reason = place_link(source.top, worktree.path, path)
    if reason:
        skipped.append(f"{path}: {reason}")
        return False
    if worktree.git.try_run("check-ignore", "--quiet", "--", path).code != 0:
        (worktree.path / path).unlink()
        raise PolicyError(
            f"{path} is not ignored by git as a link",
            where="workspace.link",
            todo=f"put {path} into .gitignore without a slash at its end, or copy it instead",
        )
    return True


def _step_digests(worktree: Worktree, steps: Sequence[SetupStep]) -> tuple[str, ...]:
    return tuple(
        digest([step.run, [[name, _file_digest(worktree.path / name)] for name in step.files]]) for step in steps
    )


def _file_digest(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return "absent"
    return hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else "not a file"


def _done(worktree: Worktree) -> tuple[str, ...]:
    try:
        value = json.loads((worktree.slot.folder / _STATE).read_bytes())
    except (OSError, ValueError):
        return ()
    return tuple(value["steps"]) if isinstance(value, dict) and value.get("tree") == _identity(worktree) else ()


def _remember(worktree: Worktree, steps: Sequence[str]) -> None:
    value = {"tree": _identity(worktree), "steps": list(steps)}
    replace_file(worktree.slot.folder / _STATE, json.dumps(value).encode())


def _identity(worktree: Worktree) -> list[int]:
    """Tells a checkout made anew in the same slot from the one that was prepared."""
    found = worktree.path.stat()
    return [found.st_dev, found.st_ino]
