"""Where a token comes from when no setting and no variable holds it: the user's own ``gh`` login."""

import dataclasses
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from baton_runner.workflow.secret import Secret
from baton_runner.workflow.settings import Settings

__all__ = ["ask_gh", "has_gh_login", "with_tracker_token"]

_SECONDS = 10


def ask_gh() -> Secret | None:
    """The token that ``gh auth token`` prints; None without gh, without a login, or without an answer (R-021)."""
    program = shutil.which("gh")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "auth", "token"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    token = done.stdout.decode("utf-8", "replace").strip()
    return Secret(token) if done.returncode == 0 and token else None


def has_gh_login(environ: Mapping[str, str]) -> bool:
    """Whether ``gh`` has a login on disk, which an agent with the user's HOME shares."""
    home = Path(environ.get("HOME") or Path.home())
    config = environ.get("XDG_CONFIG_HOME")
    folder = environ.get("GH_CONFIG_DIR") or (Path(config) if config else home / ".config") / "gh"
    return (Path(folder) / "hosts.yml").is_file()


def with_tracker_token(settings: Settings, ask: Callable[[], Secret | None]) -> Settings:
    """The settings with the board's token asked for, where a GitHub board has none."""
    tracker = settings.tracker
    if tracker.kind != "github_projects" or tracker.token is not None:
        return settings
    return dataclasses.replace(settings, tracker=dataclasses.replace(tracker, token=ask()))
