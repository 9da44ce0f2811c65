"""Keys that no section has: what was probably meant (from what people really write in such files)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from baton_runner.workflow.nearest import nearest
from baton_runner.workflow.reading import Reading

__all__ = ["meant_kind", "warn_unknown"]

_SECTIONS_MEANT = {
    "claude": "claude_code",
    "claude-code": "claude_code",
    "claudecode": "claude_code",
    "copilot-cli": "copilot",
    "copilot_cli": "copilot",
    "github_copilot": "copilot",
    "runner": "agent, claude_code or copilot",
}
_KINDS_MEANT = {
    "claude": "claude_code",
    "claude-code": "claude_code",
    "claudecode": "claude_code",
    "copilot-cli": "copilot",
    "copilot_cli": "copilot",
    "github-copilot": "copilot",
    "shell": "command",
    "github": "github_projects",
    "github-project": "github_projects",
    "github-projects": "github_projects",
    "github_project": "github_projects",
    "github_projects_v2": "github_projects",
}
_TIMEOUTS = {"turn_timeout_ms", "stall_timeout_ms", "read_timeout_ms"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def meant_kind(written: str, known: Iterable[str]) -> str | None:
    """The right spelling of a kind of agent or tracker."""
    known = tuple(known)
    meant = _KINDS_MEANT.get(written.strip().casefold())
    return meant if meant in known else nearest(written, known)


def warn_unknown(values: Mapping[str, Any], sections: Mapping[str, tuple[str, ...]], reading: Reading) -> None:
    """Note every key that is not a setting, with what was probably meant; never an error (R-007)."""
    for name, section in values.items():
        if name not in sections:
            _warn(reading, (name,), _section_meant(name, tuple(sections)))
        elif isinstance(section, Mapping):
            for key in section:
                if key not in sections[name]:
                    _warn(reading, (name, key), _key_meant(name, key, sections))


def _section_meant(name: str, sections: tuple[str, ...]) -> str | None:
    return _SECTIONS_MEANT.get(name.casefold()) or nearest(name, sections)


def _key_meant(section: str, key: str, sections: Mapping[str, tuple[str, ...]]) -> str | None:
    snake = _HUMP.sub("_", key).lower().replace("-", "_")
    if snake in sections[section]:
        return f"{section}.{snake}"
    if section == "agent" and snake in _TIMEOUTS:
        return f"{'stall_timeout_ms' if snake == 'read_timeout_ms' else snake} in the section of the runner (claude_code, ...)"
    near = nearest(key, sections[section])
    if near is not None:
        return f"{section}.{near}"
    elsewhere = next((other for other, keys in sections.items() if snake in keys), None)
    return f"{elsewhere}.{snake}" if elsewhere else None


def _warn(reading: Reading, key: tuple[str, ...], meant: str | None) -> None:
    reading.warn(
        key,
        f"{'.'.join(key)} is not a setting and is ignored",
        todo=f"did you mean {meant}?" if meant else "remove it, or leave it for the tool that reads it",
        code="unknown_key",
    )
