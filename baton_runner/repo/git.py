"""The one way this product runs git: argv lists, a hardened environment, an end to every wait, errors without traceback.

No hook, file-system monitor, external diff, credential helper, pager or prompt runs in a call of ours, whatever the
configuration says; variables such as ``GIT_DIR`` that the caller's environment happens to hold never leak in.
"""

import contextlib
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from baton_runner.base.errors import BatonError, RepositoryError

__all__ = ["MINIMUM", "Git", "GitError", "Output", "hardened", "oldest_supported", "settings", "user_environ"]

MINIMUM = (2, 38)
_TIMEOUT_SECONDS = 900.0
_GRACE_SECONDS = 5.0
_SHOWN_LINES = 4
_CHUNK = 65536

_SAFE_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("core.quotePath", "false"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
)
_SAFE_VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}


class GitError(BatonError):
    """Git ended with an error: which command, where, and the first lines it said."""

    code = "git"

    def __init__(self, args: tuple[str, ...], cwd: Path, output: "Output") -> None:
        said = "; ".join(output.stderr.decode("utf-8", "replace").splitlines()[:_SHOWN_LINES])
        shown = " ".join(args[:6]) + (" ..." if len(args) > 6 else "")  # noqa: PLR2004
        super().__init__(
            f"git {shown} ended with exit code {output.code}: {said or 'it said nothing'}",
            where=str(cwd),
            todo=_advice(said),
        )
        self.output = output


@dataclass(frozen=True, slots=True)
class Output:
    """What a git process left: exit code and bytes."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def line(self) -> str:
        """Standard output as one stripped line of text."""
        return os.fsdecode(self.stdout).strip()


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one place, with one environment; immutable, safe to use from many threads."""

    environ: Mapping[str, str]
    cwd: Path

    def at(self, cwd: Path, **variables: str) -> "Git":
        """The same runner in another folder, with more variables."""
        return replace(self, cwd=cwd, environ={**self.environ, **variables})

    def configured(self, pairs: Iterable[tuple[str, str]]) -> "Git":
        """The same runner with more settings, which win over all others."""
        variables = dict(self.environ)
        count = int(variables.get("GIT_CONFIG_COUNT", "0"))
        for number, (key, value) in enumerate(pairs, count):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
            count = number + 1
        return replace(self, environ={**variables, "GIT_CONFIG_COUNT": str(count)})

    def run(
        self,
        *args: str,
        input: bytes = b"",  # noqa: A002 - the name subprocess gives it
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Standard output of ``git args``; GitError when the exit code is not 0."""
        output = self.try_run(*args, input=input, cwd=cwd, env=env)
        if output.code:
            raise GitError(args, cwd or self.cwd, output)
        return output.stdout

    def line(self, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        """The one line that ``git args`` prints."""
        return os.fsdecode(self.run(*args, cwd=cwd, env=env)).strip()

    def try_run(
        self,
        *args: str,
        input: bytes = b"",  # noqa: A002 - the name subprocess gives it
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Output:
        """Run git and hand back whatever came; raises only when git cannot be started or does not end."""
        place = cwd or self.cwd
        environ = {**self.environ, **env} if env else self.environ
        try:
            process = subprocess.Popen(
                (_program(environ.get("PATH", os.defpath)), *args),
                cwd=place,
                env=environ,
                stdin=subprocess.PIPE if input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,  # Ctrl-C ends the harness in good order, never a git process half way
            )
        except FileNotFoundError as error:
            raise _cannot_start(place, environ) from error
        except NotADirectoryError as error:
            raise RepositoryError("is not a folder", where=str(place), todo="give a folder of a repository") from error
        with process:
            try:
                stdout, stderr = _converse(process, input)
            except BaseException:  # an interruption waits for what git has begun, but not for ever
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=_GRACE_SECONDS)
                process.kill()
                raise
            if stdout is None:
                process.kill()
                raise GitError(args, place, Output(-1, b"", f"did not end within {_TIMEOUT_SECONDS:.0f} s".encode()))
        return Output(process.returncode, stdout, stderr)


def user_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's own view of git, without what would point it at another repository: to read their configuration."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_") or _is_users_choice(name)}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": ""}


def hardened(environ: Mapping[str, str], extra: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """The environment of our calls: inherited ``GIT_*`` dropped, safe settings and then ``extra`` settings on top."""
    kept = {
        name: value for name, value in environ.items() if not name.startswith("GIT_") or name.startswith("GIT_LFS_")
    }
    return {**kept, **_SAFE_VARIABLES, **settings((*extra, *_SAFE_SETTINGS))}


def settings(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Git settings as ``GIT_CONFIG_KEY_n`` variables: the same as ``-c``, but no limit of an argument list."""
    numbered = tuple(enumerate(pairs))
    keys = {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in numbered}
    values = {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in numbered}
    return {**keys, **values, "GIT_CONFIG_COUNT": str(len(numbered))}


def oldest_supported(version: str) -> None:
    """RepositoryError when ``git version`` names a git that lacks ``merge-tree --write-tree``."""
    numbers = tuple(int(part) for part in version.removeprefix("git version ").split(".")[:2] if part.isdigit())
    if numbers < MINIMUM:
        wanted = ".".join(map(str, MINIMUM))
        raise RepositoryError(
            f"is too old ({version or 'no version'})",
            where="git",
            todo=f"install git {wanted} or newer, then run again",
        )


def _is_users_choice(name: str) -> bool:
    return name.startswith(("GIT_CONFIG", "GIT_AUTHOR_", "GIT_COMMITTER_"))


@lru_cache(maxsize=8)
def _program(path: str) -> str:
    """Git's own path, looked up once for each value of PATH."""
    return shutil.which("git", path=path) or "git"


def _converse(process: subprocess.Popen[bytes], data: bytes) -> tuple[bytes | None, bytes]:
    """Feed and read a process until it closes its ends; no output at all (None) when the time is over.

    ``Popen.communicate`` with a time-out polls for the exit with growing sleeps, which costs as much as git itself.
    """
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    unsent = memoryview(data)
    received: dict[int, list[bytes]] = {}
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                received[stream.fileno()] = []
                selector.register(stream, selectors.EVENT_READ)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            for key, event in selector.select(deadline - time.monotonic()):
                if event == selectors.EVENT_WRITE:
                    unsent = _send(key, unsent, selector)
                elif chunk := os.read(key.fd, _CHUNK):
                    received[key.fd].append(chunk)
                else:
                    selector.unregister(key.fileobj)
            if time.monotonic() >= deadline:
                return None, b""
    stdout, stderr = (b"".join(chunks) for chunks in received.values())
    return stdout, stderr


def _send(key: selectors.SelectorKey, unsent: memoryview, selector: selectors.BaseSelector) -> memoryview:
    """Write what the pipe takes; close it after the last byte, or when git has stopped reading."""
    stream = key.fileobj
    try:
        unsent = unsent[os.write(key.fd, unsent[:_CHUNK]) :]
    except BrokenPipeError:
        unsent = unsent[:0]
    if not unsent and not isinstance(stream, int):
        selector.unregister(stream)
        stream.close()  # type: ignore[attr-defined]
    return unsent


def _cannot_start(place: Path, environ: Mapping[str, str]) -> RepositoryError:
    if not place.is_dir():
        return RepositoryError("does not exist", where=str(place), todo="give a folder of a repository")
    return RepositoryError(
        f"was not found (PATH is {environ.get('PATH', '')!r})",
        where="git",
        todo=f"install git {'.'.join(map(str, MINIMUM))} or newer",
    )


def _advice(said: str) -> str:
    if "git-lfs" in said:
        return "install git-lfs, or set GIT_LFS_SKIP_SMUDGE=1 and the LFS filter off for this repository"
    if "dubious ownership" in said:
        return "the repository belongs to another user; add it to safe.directory"
    if "No space left" in said or "Disk quota" in said:
        return "free some space, then run again; nothing was lost"
    if ".lock" in said and "File exists" in said:
        return "another git process is at work or died there; wait for it, or remove the lock file when none runs"
    return ""
