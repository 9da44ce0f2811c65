"""The environment of an agent, said explicitly: a base list, what its adapter needs, and what the policy names.

Nothing is inherited by default, so the credentials of the user's shell stay there (threat 11). The marks of a coding
agent that we ourselves run under never pass: they make a nested one refuse or change its ways (field report 34).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["BASE_NAMES", "GIT_IDENTITY", "Identity", "agent_environment", "selected"]

BASE_NAMES = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
)
"""What every agent gets of our own environment; ``*`` stands for any end of a name."""

_NEVER = ("CLAUDECODE*", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "BATON_MARKER")
_TOKEN_NAMES = ("GITHUB_TOKEN", "GH_TOKEN")
GIT_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


@dataclass(frozen=True)
class Identity:
    """Who commits where git knows nobody."""

    name: str
    email: str


def agent_environment(
    own: Mapping[str, str],
    *,
    needed: Iterable[str] = (),
    named: Iterable[str] = (),
    token: str | None = None,
    withheld: Iterable[str] = (),
    identity: Identity | None = None,
) -> dict[str, str]:
    """The environment for an agent out of our ``own``.

    ``needed`` are the adapter's names, ``named`` the policy's ``agent.env``, both with ``*`` for a prefix. ``token``
    (``agent.token``) becomes GITHUB_TOKEN and GH_TOKEN. ``withheld`` are values, such as the tracker's token, that pass
    under no name unless they are the agent's own token. ``identity`` is given where git has none: ``git commit`` fails
    without.
    """
    kept_back = {value for value in withheld if value and value != token}
    passed = selected(own, (*BASE_NAMES, *needed, *named))
    environ = {name: value for name, value in passed.items() if value not in kept_back}
    if token:
        environ |= dict.fromkeys(_TOKEN_NAMES, token)
    if identity:
        people = (identity.name, identity.email, identity.name, identity.email)
        environ |= dict(zip(GIT_IDENTITY, people, strict=True))
    return environ


def selected(own: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables that bear one of the names, without those that never pass."""
    wanted = tuple(names)
    return {
        name: value
        for name, value in own.items()
        if any(_matches(name, pattern) for pattern in wanted) and not any(_matches(name, bad) for bad in _NEVER)
    }


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
