"""Verification: commands run by the harness on an exact tree, in a worktree that no agent touched (design 4.2).

A green is remembered by tree and setting and not run again; a red is always run again. Nothing an agent says counts.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baton_runner.base.cancel import Cancel
from baton_runner.base.clock import Clock, rfc3339
from baton_runner.base.processes import Reason, run_command
from baton_runner.base.transcript import Redact
from baton_runner.controller.preparation import Preparation
from baton_runner.evidence.checks import CheckCache, CheckSetting
from baton_runner.plan.scripts import as_script
from baton_runner.repo.setup import Brought
from baton_runner.repo.slots import Kind, Purpose
from baton_runner.repo.worktrees import Workspaces, Worktree

__all__ = ["Check", "CheckResult", "Verifier"]


@dataclass(frozen=True)
class Check:
    """A command that must exit 0, and where it was found. ``seconds`` is its limit."""

    command: str
    source: str
    seconds: float


@dataclass(frozen=True)
class CheckResult:
    """One command's result on one tree. ``code`` is the exit status, None where it never ran to its end."""

    check: Check
    green: bool
    seconds: float = 0.0
    cached: bool = False
    code: int | None = 0
    reason: Reason = Reason.EXITED
    tail: str = ""
    log: str = ""

    @property
    def said(self) -> str:
        """The result in a few words, for people and agents."""
        if self.green:
            return "exit 0"
        return f"exit {self.code}" if self.reason is Reason.EXITED else self.reason.value


class Verifier:
    """Runs checks in one verification worktree, which it takes at the first need and gives back at the end."""

    def __init__(
        self,
        *,
        change: str,
        workspaces: Workspaces,
        preparation: Preparation,
        cache: CheckCache,
        environ: Mapping[str, str],
        policy_environ: Mapping[str, str],
        marker: str,
        cancel: Cancel,
        clock: Clock,
        pristine: bool,
        redact: Redact | None,
    ) -> None:
        self._change = change
        self._workspaces = workspaces
        self._preparation = preparation
        self._cache = cache
        self._environ = {**environ, **policy_environ}
        self._policy_environ = policy_environ
        self._marker = marker
        self._cancel = cancel
        self._clock = clock
        self._pristine = pristine
        self._redact = redact
        self._worktree: Worktree | None = None
        self._brought = Brought()
        self._turn = threading.Lock()

    def verify(
        self, commit: str, tree: str, checks: Sequence[Check], logs: Path, *, first_red_ends: bool = True
    ) -> tuple[CheckResult, ...]:
        """Run the checks that are not known to be green on ``tree``; ``commit`` is one near it, to check out from.

        Ends at the first red, unless every answer is wanted.
        """
        with self._turn:
            results = []
            worktree = self._at(commit, tree) if checks else None
            prepared = False
            for check in checks:
                assert worktree is not None  # noqa: S101 - there are checks
                if self._cache.is_green(tree, as_script(check.command), self._setting(worktree)):
                    results.append(CheckResult(check, green=True, cached=True))
                    continue
                if not prepared:
                    self._preparation.run(worktree, logs)
                    prepared = True
                result = self._run(worktree, check, logs)
                results.append(result)
                if result.green:
                    self._remember(worktree, tree, result)
                elif first_red_ends or self._cancel.is_set:
                    break
            return tuple(results)

    def close(self) -> None:
        """Give the worktree back."""
        with self._turn:
            if self._worktree is not None:
                self._worktree.release()
                self._worktree = None

    def _at(self, commit: str, tree: str) -> Worktree:
        """The verification worktree with exactly this tree in it."""
        if self._worktree is None:
            self._worktree = self._workspaces.acquire(Purpose(Kind.VERIFY, self._change, "checks"), commit)
            self._brought = self._preparation.bring(self._worktree)
        self._worktree.at_tree(tree)
        if self._pristine:
            self._worktree.scrub()
        return self._worktree

    def _setting(self, worktree: Worktree) -> CheckSetting:
        return CheckSetting(self._policy_environ, self._preparation.digest(worktree, self._brought))

    def _remember(self, worktree: Worktree, tree: str, result: CheckResult) -> None:
        """A green that leaves changed files behind it was still seen on exactly this tree, before them."""
        at = rfc3339(self._clock.now())
        script = as_script(result.check.command)
        self._cache.add(tree, script, self._setting(worktree), seconds=result.seconds, at=at)

    def _run(self, worktree: Worktree, check: Check, logs: Path) -> CheckResult:
        log = _next_log(logs)
        ended = run_command(
            as_script(check.command),
            cwd=worktree.path,
            environ=self._environ,
            log=log,
            timeout=check.seconds,
            marker=self._marker,
            cancel=self._cancel,
            redact=self._redact,
        )
        green = ended.code == 0 and ended.reason is Reason.EXITED
        return CheckResult(
            check, green, ended.seconds, code=ended.code, reason=ended.reason, tail=ended.tail, log=str(log)
        )


def _next_log(folder: Path) -> Path:
    """The first free ``verify-<n>.log``."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + sum(1 for _ in folder.glob("verify-*.log"))
    return folder / f"verify-{number}.log"
