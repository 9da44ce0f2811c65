"""A policy: WORKFLOW.md read, resolved and typed, with its prompt template. Without a file, the defaults.

Loading promises: nothing but a PolicyError for whatever the file holds, everything wrong in it at once; neither the
template engine nor, without a file, the YAML parser is imported.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from baton_runner.base.digest import digest, digest_bytes
from baton_runner.base.errors import PolicyError
from baton_runner.workflow.document import Document, split
from baton_runner.workflow.findings import Finding, as_error, errors_of
from baton_runner.workflow.front_matter import FrontMatter, read_front_matter
from baton_runner.workflow.prompt import Prompt, default_prompt
from baton_runner.workflow.reading import Reading
from baton_runner.workflow.secret import Secret
from baton_runner.workflow.settings import Settings, read_settings

__all__ = ["FILE_NAME", "Loaded", "Policy", "find_policy", "load_policy", "read_policy"]

FILE_NAME = "WORKFLOW.md"
_NO_MATTER = FrontMatter({}, {})


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a build, a session or the service was told to do.

    ``variables`` are the names of the environment variables that were looked up, set or not: a change of one may
    change the settings.
    """

    path: Path | None
    settings: Settings
    prompt: Prompt
    warnings: tuple[Finding, ...] = ()
    variables: frozenset[str] = frozenset()

    @property
    def prompt_digest(self) -> str:
        """Digest of the prompt template's text."""
        return digest_bytes(self.prompt.source.encode())

    @property
    def agent_digest(self) -> str:
        """Digest of who works and with what: the kind and its section, without limits of time."""
        runner = self.settings.runner()
        section = {} if runner is None else dataclasses.asdict(runner)
        told = {name: value for name, value in section.items() if not name.endswith(("timeout_ms", "timeout"))}
        return digest({"kind": self.settings.agent.kind, **told})

    def with_settings(self, settings: Settings) -> Self:
        """The same policy with other settings, such as a token that was asked for."""
        return dataclasses.replace(self, settings=settings)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A file as far as it could be read: the policy, and all findings, errors among them."""

    policy: Policy
    document: Document
    reading: Reading

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was noted, in the order of the file's sections."""
        return tuple(self.reading.findings)


def find_policy(top: Path) -> Path | None:
    """The policy of a repository: ``WORKFLOW.md`` at its top, None when there is none."""
    path = top / FILE_NAME
    return path if path.is_file() else None


def load_policy(path: Path | None, *, environ: Mapping[str, str], folder: Path) -> Policy:
    """The policy of a file, or the defaults when ``path`` is None.

    ``folder`` is where a relative ``path`` starts and what messages show paths relative to; relative paths in the file
    start at the file's own folder (R-001). Raises PolicyError with the code ``missing_workflow_file``,
    ``workflow_parse_error``, ``workflow_front_matter_not_a_map`` or ``config_invalid``.
    """
    if path is None:
        return Policy(path=None, settings=Settings(), prompt=default_prompt())
    loaded = read_policy(path, environ=environ, folder=folder)
    errors = errors_of(loaded.findings)
    if errors:
        raise as_error(errors)
    return loaded.policy


def read_policy(path: Path, *, environ: Mapping[str, str], folder: Path) -> Loaded:
    """A file read as far as possible: only what cannot be split or parsed raises; wrong values are findings."""
    absolute = folder.absolute() / path
    source = _shown(absolute, folder)
    document = split(_bytes(absolute, source), source)
    matter = _NO_MATTER if document.front is None else read_front_matter(document.front, source, document.front_line)
    reading = Reading(source=source, lines=matter.lines, environ=environ, folder=absolute.parent, hint=document.hint)
    if document.hint:
        reading.warn((), document.hint, todo="move the settings to the top of the file", code="unseen_front_matter")
    settings = _with_tracker_token(read_settings(matter.values, reading), reading)
    prompt = Prompt(document.body, source, document.body_line) if document.body else default_prompt()
    policy = Policy(
        path=absolute,
        settings=settings,
        prompt=prompt,
        warnings=tuple(reading.findings),
        variables=frozenset(reading.variables),
    )
    return Loaded(policy=policy, document=document, reading=reading)


def _bytes(path: Path, source: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PolicyError(
            f"cannot be read: {error.strerror or error}",
            where=source,
            todo="create it, or name another file",
            code="missing_workflow_file",
        ) from error


def _shown(path: Path, folder: Path) -> str:
    try:
        return str(path.relative_to(folder.absolute()))
    except ValueError:
        return str(path)


def _with_tracker_token(settings: Settings, reading: Reading) -> Settings:
    """A GitHub board without a token uses ``$GITHUB_TOKEN``, unless its own variable is set but empty (R-021)."""
    tracker = settings.tracker
    if tracker.kind != "github_projects" or tracker.token is not None or ("tracker", "token") in reading.empty:
        return settings
    value = reading.variable("GITHUB_TOKEN")
    token = Secret(value) if value else None
    return dataclasses.replace(settings, tracker=dataclasses.replace(tracker, token=token))
