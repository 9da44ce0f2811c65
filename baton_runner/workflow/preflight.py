"""What must be there before work can start (R-034): a board, an agent, a command. Every failing check, each with its code.

Pure: the service asks again before every tick (R-033), the validator once.
"""

from collections.abc import Iterator

from baton_runner.workflow.agent_settings import AGENT_KINDS, Use
from baton_runner.workflow.front_matter import Key
from baton_runner.workflow.reading import Reading
from baton_runner.workflow.service_settings import TRACKER_KINDS
from baton_runner.workflow.settings import Settings
from baton_runner.workflow.unknown import meant_kind

__all__ = ["Missing", "check", "missing"]

Missing = tuple[Key, str, str, str]
"""The key, what is wrong, what to do, the code."""

_SERVICE_AGENTS = tuple(kind for kind in AGENT_KINDS if kind != "session")


def check(settings: Settings, use: Use, reading: Reading) -> None:
    """Note everything that is missing as an error of the reading."""
    for key, what, todo, code in missing(settings, use):
        reading.error(key, what, todo=todo, code=code)


def missing(settings: Settings, use: Use) -> tuple[Missing, ...]:
    """Everything that keeps this use from starting; a build needs no board, and no agent until one has to work."""
    tracker = _tracker(settings) if use is Use.SERVICE else ()
    return (*tracker, *_agent(settings, use))


def _tracker(settings: Settings) -> Iterator[Missing]:
    tracker = settings.tracker
    if tracker.kind not in TRACKER_KINDS:
        yield _unsupported(("tracker", "kind"), tracker.kind, TRACKER_KINDS, "unsupported_tracker_kind")
        return
    if tracker.kind == "file":
        if tracker.path is None:
            yield ("tracker", "path"), "tracker.path is missing", "name the folder of cards", "missing_tracker_path"
        return
    if tracker.token is None:
        todo = "set tracker.token: $NAME or GITHUB_TOKEN, or log in with gh"
        yield ("tracker", "token"), "tracker.token is missing", todo, "missing_tracker_token"
    if tracker.owner is None:
        todo = "name the organization or user that owns the project"
        yield ("tracker", "owner"), "tracker.owner is missing", todo, "missing_tracker_project"
    if tracker.project_number is None:
        todo = "write the number at the end of the project's address"
        yield ("tracker", "project_number"), "tracker.project_number is missing", todo, "missing_tracker_project"


def _agent(settings: Settings, use: Use) -> Iterator[Missing]:
    kind = settings.agent.kind
    if kind is None and use is Use.BUILD:
        return
    supported = _SERVICE_AGENTS if use is Use.SERVICE else AGENT_KINDS
    if kind not in supported:
        yield _unsupported(("agent", "kind"), kind, supported, "unsupported_agent_kind")
        return
    name = "run" if kind == "command" else "command"
    command = getattr(settings.runner(kind), name, "-")
    if command is None or not command.strip():
        yield (kind, name), f"{kind}.{name} is missing or blank", "write the command line", "missing_agent_command"


def _unsupported(key: Key, written: str | None, supported: tuple[str, ...], code: str) -> Missing:
    name = ".".join(key)
    if written is None:
        return key, f"{name} is missing", f"use one of {', '.join(supported)}", code
    meant = meant_kind(written, supported)
    todo = f"did you mean {meant}?" if meant else f"use one of {', '.join(supported)}"
    return key, f"{name} {written!r} is not supported", todo, code
