"""What our calls take over from the user's git configuration: an allowlist, and who signs our commits.

An empty global configuration would lose identity, trusted folders, ignore rules, line ends and filters; everything else
(aliases, hooks, monitors, helpers) has no place in a call of ours.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from baton_runner.repo.git import Git, user_environ

__all__ = ["Identity", "Scope", "Setting", "UserConfig"]

_FROM_USER = re.compile(
    r"(user|author|committer|gpg)\..+|safe\.directory|core\.(excludesfile|attributesfile|autocrlf|eol|safecrlf)"
    r"|filter\..+\.(clean|smudge|process|required)"
)
_FROM_REPOSITORY = re.compile(
    r"(user|author|committer|gpg)\..+"
    r"|core\.(excludesfile|attributesfile|autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode"
    r"|sharedrepository|longpaths|protecthfs|protectntfs)"
    r"|filter\..+\.(clean|smudge|process|required)"
    r"|extensions\.(objectformat|partialclone|compatobjectformat)|remote\..+\.(url|promisor|partialclonefilter)|lfs\.url"
)
_DEFAULT_NAME = "baton"
_DEFAULT_EMAIL = "baton@localhost"


class Scope(StrEnum):
    """Where a setting was found."""

    USER = "user"
    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration value; ``key`` has lower-case ends and keeps the case of its middle."""

    scope: Scope
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the harness commits as."""

    name: str
    email: str
    is_default: bool

    def environ(self) -> dict[str, str]:
        """The variables that make git use it."""
        return {
            "GIT_AUTHOR_NAME": self.name,
            "GIT_AUTHOR_EMAIL": self.email,
            "GIT_COMMITTER_NAME": self.name,
            "GIT_COMMITTER_EMAIL": self.email,
        }


@dataclass(frozen=True, slots=True)
class UserConfig:
    """The allowed settings, in git's order of precedence (later wins), and the identity they give."""

    settings: tuple[Setting, ...]
    identity: Identity

    @classmethod
    def read(cls, folder: Path, environ: Mapping[str, str]) -> "UserConfig":
        """Ask git once, as the user sees it, about the git directory ``folder``; reading configuration runs nothing."""
        git = Git({**user_environ(environ), "GIT_DIR": str(folder)}, folder)
        listing = git.run("config", "--list", "--null", "--show-scope", "--includes")
        settings = tuple(_settings(listing))
        return cls(tuple(setting for setting in settings if _is_allowed(setting)), _identity(settings, environ))

    def of_repository(self) -> tuple[tuple[str, str], ...]:
        """What the repository itself sets."""
        return tuple((each.key, each.value) for each in self.settings if each.scope is Scope.REPOSITORY)

    def of_user(self) -> tuple[tuple[str, str], ...]:
        """What the user sets for all repositories and this one does not set otherwise."""
        own = {key for key, _ in self.of_repository()}
        return tuple(
            (each.key, each.value) for each in self.settings if each.scope is Scope.USER and each.key not in own
        )


def _settings(listing: bytes) -> list[Setting]:
    fields = os.fsdecode(listing).split("\0")
    found = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, has_value, value = entry.partition("\n")
        place = Scope.REPOSITORY if scope in {"local", "worktree"} else Scope.USER
        found.append(Setting(place, key, value if has_value else "true"))
    return found


def _is_allowed(setting: Setting) -> bool:
    rule = _FROM_USER if setting.scope is Scope.USER else _FROM_REPOSITORY
    return rule.fullmatch(setting.key) is not None


def _identity(settings: list[Setting] | tuple[Setting, ...], environ: Mapping[str, str]) -> Identity:
    values = {setting.key: setting.value for setting in settings}
    name = environ.get("GIT_COMMITTER_NAME") or values.get("committer.name") or values.get("user.name")
    email = (
        environ.get("GIT_COMMITTER_EMAIL")
        or values.get("committer.email")
        or values.get("user.email")
        or environ.get("EMAIL")
    )
    if name and email:
        return Identity(_clean(name), _clean(email), is_default=False)
    return Identity(_DEFAULT_NAME, _DEFAULT_EMAIL, is_default=True)


def _clean(text: str) -> str:
    return re.sub(r"[<>\x00-\x1f]", "", text).strip() or _DEFAULT_NAME
