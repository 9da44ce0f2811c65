"""Doctor: what of this machine, repository and policy would spoil a run, each with its remedy.

Looks at files, variables and programs on PATH; starts nothing but git. What cannot be found out is not guessed.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import unquote, urlsplit

from baton_runner.agents.registry import agent_for
from baton_runner.base.errors import BatonError
from baton_runner.base.files import read_json
from baton_runner.controller.controller import Controller
from baton_runner.controller.project import Project
from baton_runner.controller.states import State
from baton_runner.plan.model import Mark

__all__ = ["Diagnosis", "Health", "diagnose", "editable_installs", "wrong_code"]

_LEAST_BYTES = 1 << 30
_LEAST_INODES = 10_000
_EDITABLE_URL = re.compile(r'"url"\s*:\s*"(file:[^"]*)"')


class Health(Enum):
    """How good or bad something is."""

    GOOD = "good"
    DOUBT = "doubt"
    BAD = "bad"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at: what was found and, where it is not good, what to do."""

    about: str
    health: Health
    what: str
    todo: str = ""


def diagnose(project: Project) -> tuple[Diagnosis, ...]:
    """Look at everything."""
    looks: tuple[Callable[[Project], Iterator[Diagnosis]], ...] = (
        _git,
        _policy,
        _agent,
        _worktrees,
        _disk,
        wrong_code,
        _lfs,
        _submodules,
        _boxes,
        _leftovers,
    )
    return tuple(diagnosis for look in looks for diagnosis in look(project))


def _git(project: Project) -> Iterator[Diagnosis]:
    repository = project.repository
    yield Diagnosis("git", Health.GOOD, repository.git.line("version").removeprefix("git version "))
    try:
        repository.head()
    except BatonError as error:
        yield Diagnosis("commit", Health.BAD, error.what, error.todo)
    identity = repository.identity
    if identity.is_default:
        todo = 'git config --global user.name "..." and user.email; until then baton commits under its own name'
        yield Diagnosis("identity", Health.DOUBT, "git knows no name and address of yours", todo)
    else:
        yield Diagnosis("identity", Health.GOOD, f"{identity.name} <{identity.email}>")
    if (repository.common_dir / "shallow").exists():
        yield Diagnosis(
            "history", Health.DOUBT, "the clone is shallow", "git fetch --unshallow, or merges may lack their base"
        )


def _policy(project: Project) -> Iterator[Diagnosis]:
    path = project.policy.path
    if path is None:
        yield Diagnosis("policy", Health.DOUBT, "there is no WORKFLOW.md", "baton init writes one")
        return
    yield Diagnosis("policy", Health.GOOD, path.name)
    verify = project.policy.settings.verify
    if not (verify.commands or verify.tasks or verify.sections):
        todo = "set verify.commands, unless every task names its own"
        yield Diagnosis("verification", Health.DOUBT, "the policy names no command that proves a task", todo)


def _agent(project: Project) -> Iterator[Diagnosis]:
    settings = project.policy.settings
    kind = settings.agent.kind
    if kind is None:
        yield Diagnosis(
            "agent", Health.DOUBT, "the policy names none", "set agent.kind, unless every task has run: commands"
        )
        return
    try:
        problem = agent_for(kind, settings).available(project.environ)
    except BatonError as error:
        yield Diagnosis("agent", Health.BAD, f"{kind}: {error.what}", error.todo)
        return
    if problem:
        what, _, todo = problem.partition("; ")
        yield Diagnosis("agent", Health.BAD, f"{kind}: {what}", todo or "install it or put it on PATH")
        return
    yield Diagnosis("agent", Health.GOOD, kind)
    if kind == "claude_code" and not _claude_login(project.environ):
        todo = "run claude once and log in, or pass ANTHROPIC_API_KEY"
        yield Diagnosis("login", Health.DOUBT, "no login of Claude Code was found", todo)


def _claude_login(environ: Mapping[str, str]) -> bool:
    """Whether Claude Code has credentials: a variable, its file, or an account that its settings name (keychain)."""
    if any(environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")):
        return True
    if any(environ.get(name) for name in ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")):
        return True
    home = Path(environ.get("HOME", "~")).expanduser()
    folder = Path(environ["CLAUDE_CONFIG_DIR"]) if environ.get("CLAUDE_CONFIG_DIR") else home / ".claude"
    accounts = (folder / ".claude.json", home / ".claude.json")
    return (folder / ".credentials.json").is_file() or any('"oauthAccount"' in _text(path) for path in accounts)


def _worktrees(project: Project) -> Iterator[Diagnosis]:
    root = project.workspaces.root
    there = _nearest(root)
    if os.access(there, os.W_OK | os.X_OK) and there.is_dir():
        yield Diagnosis("worktrees", Health.GOOD, str(root))
    else:
        todo = "make it writable, or set workspace.root to another folder"
        yield Diagnosis("worktrees", Health.BAD, f"{there} cannot be written", todo)
    if root.is_relative_to(project.top):
        todo = "set workspace.root to a folder outside: watchers and test runners would find worktrees"
        yield Diagnosis("worktrees", Health.DOUBT, f"{root} lies inside the repository", todo)


def _disk(project: Project) -> Iterator[Diagnosis]:
    places = {"worktrees": _nearest(project.workspaces.root), "repository": _nearest(project.repository.common_dir)}
    for name, place in places.items():
        found = os.statvfs(place)
        free, inodes = found.f_bavail * found.f_frsize, found.f_favail
        scarce = [f"{free >> 20} MiB"] if free < _LEAST_BYTES else []
        scarce += [f"{inodes} inodes"] if found.f_files and inodes < _LEAST_INODES else []
        if scarce:
            todo = "make room, or set workspace.root to another disk"
            yield Diagnosis("disk", Health.DOUBT, f"{' and '.join(scarce)} left for the {name} ({place})", todo)
            return
    yield Diagnosis("disk", Health.GOOD, f"{free >> 30} GiB free")


def wrong_code(project: Project) -> Iterator[Diagnosis]:
    """Editable installs of the main checkout, by which a check in a worktree could test other code than it seems to.

    Nothing is said where the policy puts the worktree's sources first (PYTHONPATH, by command or by ``verify.env``).
    """
    verify = project.policy.settings.verify
    if "PYTHONPATH" in verify.env or (verify.commands and all("PYTHONPATH" in command for command in verify.commands)):
        return
    for package, place in editable_installs(project.top, project.environ):
        todo = "set verify.env: {PYTHONPATH: ...} to its sources, or make an environment in workspace.setup"
        what = f"{package} is installed from this checkout: tests in a worktree could import the wrong code ({place})"
        yield Diagnosis("python", Health.DOUBT, what, todo)


def editable_installs(top: Path, environ: Mapping[str, str]) -> tuple[tuple[str, Path], ...]:
    """Packages that the Python on PATH (and a ``.venv`` at the top) imports from below ``top``, with where that is said.

    Reads ``direct_url.json`` and ``.pth`` files; a virtual environment that lies below ``top`` is no such package.
    """
    found: dict[str, Path] = {}
    for folder in _site_packages(top, environ):
        for record in sorted(folder.glob("*.dist-info/direct_url.json")):
            if '"editable"' in _text(record) and _is_below(_text(record), top):
                found.setdefault(record.parent.name.partition("-")[0], record)
        for path in sorted(folder.glob("*.pth")):
            lines = [line.strip() for line in _text(path).splitlines()]
            places = [Path(line) for line in lines if line.startswith("/")]
            if any(
                place == top or (place.is_relative_to(top) and not place.is_relative_to(folder)) for place in places
            ):
                found.setdefault(path.stem.removeprefix("__editable__.").partition("-")[0], path)
    return tuple(sorted(found.items()))


def _is_below(record: str, top: Path) -> bool:
    url = _EDITABLE_URL.search(record)
    return url is not None and Path(unquote(urlsplit(url[1]).path)).is_relative_to(top)


def _site_packages(top: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    prefixes = [top / ".venv", top / "venv"]
    if environ.get("VIRTUAL_ENV"):
        prefixes.append(Path(environ["VIRTUAL_ENV"]))
    for program in ("python3", "python"):
        path = shutil.which(program, path=environ.get("PATH"))
        if path is not None:
            prefixes.append(Path(path).parent.parent)
    for prefix in dict.fromkeys(prefixes):
        yield from sorted(prefix.glob("lib/python3*/site-packages"))


def _lfs(project: Project) -> Iterator[Diagnosis]:
    if "filter=lfs" not in _text(project.top / ".gitattributes"):
        return
    if shutil.which("git-lfs", path=project.environ.get("PATH")) is None:
        todo = "install git-lfs and run git lfs install, or set GIT_LFS_SKIP_SMUDGE=1"
        yield Diagnosis("LFS", Health.BAD, "files are kept by git-lfs, which was not found", todo)
    else:
        yield Diagnosis("LFS", Health.GOOD, "git-lfs was found")


def _submodules(project: Project) -> Iterator[Diagnosis]:
    if not (project.top / ".gitmodules").is_file():
        return
    setup = [step.run for step in project.policy.settings.workspace.setup]
    if any("submodule" in run for run in setup):
        yield Diagnosis("submodules", Health.GOOD, "workspace.setup fetches them")
    else:
        todo = "add `git submodule update --init` to workspace.setup where a check needs them"
        yield Diagnosis("submodules", Health.DOUBT, "worktrees start with empty submodules", todo)


def _boxes(project: Project) -> Iterator[Diagnosis]:
    """Where boxes and receipts disagree: a run mends the one, only a person knows the other."""
    for change in project.changes:
        try:
            controller = Controller(project, change)
        except BatonError as error:
            yield Diagnosis("plan", Health.BAD, str(error), "see baton lint")
            continue
        states = controller.states()
        lost = [
            task.id
            for task in controller.plan.tasks
            if task.mark is Mark.READY and states[task.key].state is State.RESOLVED
        ]
        claimed = [
            task.id
            for task in controller.plan.tasks
            if task.mark is Mark.RESOLVED and not states[task.key].state.finished
        ]
        if lost:
            todo = "the next run ticks them again; baton redo does them again"
            yield Diagnosis("boxes", Health.DOUBT, f"{change.id}: proven but not ticked: {_listed(lost)}", todo)
        if claimed:
            todo = "see baton why; the next run does them"
            yield Diagnosis("boxes", Health.DOUBT, f"{change.id}: ticked but not proven: {_listed(claimed)}", todo)


def _leftovers(project: Project) -> Iterator[Diagnosis]:
    kept = len(project.workspaces.kept())
    if kept:
        todo = "look at them (baton status), then baton clean"
        yield Diagnosis("worktrees", Health.DOUBT, f"{kept} kept for a person", todo)
    if read_json(project.baton / "finish.json") is not None:
        yield Diagnosis(
            "finish", Health.DOUBT, "a baton finish died half way", "run baton finish again: it is undone or ended"
        )


def _nearest(path: Path) -> Path:
    """The path itself, or the nearest folder above it that exists."""
    while not path.exists():
        path = path.parent
    return path


def _listed(ids: list[str]) -> str:
    most = 10
    return ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
