"""The sections that only the board service reads: tracker, polling, server, worker (R-025, R-025a, R-150, R-190)."""

# ruff: noqa: RUF009 - setting() declares a field, as dataclasses.field() does

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from baton_runner.workflow.declaration import setting
from baton_runner.workflow.kinds import Choice, Integer, PathText, SecretText, Text, TextList
from baton_runner.workflow.secret import Secret
from baton_runner.workflow.shapes import States

__all__ = [
    "TRACKER_KINDS",
    "OwnerType",
    "PollingSettings",
    "ServerSettings",
    "TrackerSettings",
    "WorkerSettings",
]

TRACKER_KINDS = ("file", "github_projects")
"""What ``tracker.kind`` may name."""


class OwnerType(StrEnum):
    """Whose project board it is."""

    ORGANIZATION = "organization"
    USER = "user"


@dataclass(frozen=True, kw_only=True)
class TrackerSettings:
    """The board. Which keys are needed depends on ``kind``; the service checks that, a build never looks."""

    kind: str | None = setting(Text(), None, "The board's adapter: github_projects or file.")
    endpoint: str = setting(Text(), "https://api.github.com/graphql", "Address of the GraphQL service.")
    token: Secret | None = setting(SecretText(), None, "Token to read the board; without it $GITHUB_TOKEN.")
    owner: str | None = setting(Text(), None, "Organization or user that owns the project.")
    owner_type: OwnerType = setting(Choice(OwnerType), OwnerType.ORGANIZATION, "Kind of the owner.")
    project_number: int | None = setting(Integer(minimum=1), None, "Number of the project.")
    status_field: str = setting(Text(), "Status", "Field that holds the state.")
    priority_field: str | None = setting(Text(), None, "Field that holds the priority.")
    repos: tuple[str, ...] = setting(TextList(), (), "Repositories (owner/name) whose issues count; none is all.")
    required_labels: tuple[str, ...] = setting(TextList(), (), "Labels an issue must have to be worked on.")
    active_states: tuple[str, ...] = setting(States(), ("Todo", "In Progress"), "States whose issues are worked on.")
    terminal_states: tuple[str, ...] = setting(States(), ("Done",), "States whose issues are finished.")
    path: Path | None = setting(PathText(), None, "Folder of cards, for the file adapter.")


@dataclass(frozen=True, kw_only=True)
class PollingSettings:
    """How often the board is read."""

    interval_ms: int = setting(Integer(minimum=1), 30_000, "Milliseconds between the end of a tick and the next.")


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """The status page."""

    port: int | None = setting(Integer(minimum=0, maximum=65_535), None, "Port to listen on; 0 takes a free one.")
    host: str = setting(Text(), "127.0.0.1", "Address to listen on.")


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """Other machines that run agents."""

    ssh_hosts: tuple[str, ...] = setting(TextList(), (), "Hosts to run on; none is this machine.")
    max_concurrent_agents_per_host: int | None = setting(Integer(minimum=1), None, "Agents one host runs at a time.")
