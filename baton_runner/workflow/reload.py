"""A policy that follows its file: what is valid is adopted, what is not leaves the last good one in force (R-026..R-029).

The owner calls :meth:`LivePolicy.refresh` when something may have changed: on a watch event, and before every use in
case an event was lost. A refresh that finds the file as it was costs one stat.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path

from baton_runner.base.errors import PolicyError
from baton_runner.workflow import preflight
from baton_runner.workflow.agent_settings import Use
from baton_runner.workflow.credentials import with_tracker_token
from baton_runner.workflow.findings import as_error, errors_of
from baton_runner.workflow.policy import Policy, read_policy
from baton_runner.workflow.secret import Secret
from baton_runner.workflow.settings import Settings

__all__ = ["LivePolicy", "Refreshed", "changed_parts"]

_Stamp = tuple[int, ...] | None
Applied = Callable[[Policy, frozenset[str]], None]
"""Told of a new policy and of the parts in which it differs: names of sections, and ``prompt``."""


class Refreshed(Enum):
    """What a refresh did."""

    UNCHANGED = "unchanged"
    ADOPTED = "adopted"
    REFUSED = "refused"
    QUEUED = "queued"


class LivePolicy:
    """The last good policy of a file. Safe to refresh from several threads."""

    def __init__(
        self,
        path: Path,
        *,
        environ: Mapping[str, str],
        folder: Path,
        use: Use,
        apply: Applied,
        ask_token: Callable[[], Secret | None] = lambda: None,
    ) -> None:
        """Read the file; PolicyError when it is not valid from the start (R-032), and nothing is applied."""
        self._path = folder.absolute() / path
        self._environ = environ
        self._folder = folder
        self._use = use
        self._apply = apply
        self._ask_token = ask_token
        self._busy = threading.Lock()
        self._pending = threading.Event()
        self._stamp = self._look()
        self._content = self._hash()
        self.error: PolicyError | None = None
        """Why the file as it is now was refused; None while the policy in force is the file."""
        self.policy = self._load()

    def refresh(self) -> Refreshed:
        """Adopt the file if it changed and is valid. During another refresh, one more is queued and this returns."""
        self._pending.set()
        result = Refreshed.QUEUED
        while self._pending.is_set():
            if not self._busy.acquire(blocking=False):
                return result
            try:
                self._pending.clear()
                done = self._refresh()
                result = done if done is not Refreshed.UNCHANGED or result is Refreshed.QUEUED else result
            finally:
                self._busy.release()
        return result

    def _refresh(self) -> Refreshed:
        stamp = self._look()
        if stamp == self._stamp and stamp is not None:
            return Refreshed.UNCHANGED
        content = self._hash()
        unchanged = content == self._content
        self._stamp, self._content = stamp, content
        if unchanged:
            return Refreshed.UNCHANGED
        try:
            policy = self._load()
        except PolicyError as error:
            self.error = error
            return Refreshed.REFUSED
        changed = changed_parts(self.policy, policy)
        self.policy, self.error = policy, None
        if changed:
            self._apply(policy, changed)
        return Refreshed.ADOPTED

    def _load(self) -> Policy:
        """The policy of the file with everything that its use needs; a template error is no reason to refuse (R-011)."""
        loaded = read_policy(self._path, environ=self._environ, folder=self._folder)
        settings = loaded.policy.settings
        if self._use is Use.SERVICE:
            settings = with_tracker_token(settings, self._ask_token)
        preflight.check(settings, self._use, loaded.reading)
        if errors := errors_of(loaded.findings):
            raise as_error(errors)
        return loaded.policy.with_settings(settings)

    def _look(self) -> _Stamp:
        try:
            seen = self._path.stat()
        except OSError:
            return None
        return (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev)

    def _hash(self) -> bytes | None:
        try:
            return hashlib.sha256(self._path.read_bytes()).digest()
        except OSError:
            return None


def changed_parts(before: Policy, after: Policy) -> frozenset[str]:
    """The sections in which two policies differ, and ``prompt``."""
    sections = {
        section.name
        for section in fields(Settings)
        if getattr(before.settings, section.name) != getattr(after.settings, section.name)
    }
    prompt = {"prompt"} if before.prompt.source != after.prompt.source else set()
    return frozenset(sections | prompt)
