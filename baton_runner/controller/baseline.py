"""The base first: before an agent is paid, the distinct commands run once on the tree the change started from.

What is red there already is no agent's fault: a policy-wide command stops the run (``verify.base``), a task's own one
is recorded, so that its receipt can say *newly proven* instead of *regression only* (design 4.2).
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from baton_runner.base import crash, files
from baton_runner.base.digest import canonical
from baton_runner.base.errors import ActionNeeded, DamagedRecord
from baton_runner.controller.branch import Branch
from baton_runner.controller.verification import Check, CheckResult, Verifier
from baton_runner.evidence.receipt import Before
from baton_runner.plan.model import Source
from baton_runner.repo.objects import Objects

__all__ = ["Baseline"]

WRITE = crash.declare("baseline.write")


class Baseline:
    """What each command said on the base of one change; asked once a run, remembered on disk."""

    def __init__(
        self,
        *,
        record: Path,
        logs: Path,
        objects: Objects,
        branch: Branch,
        verifier: Verifier,
        stops: bool,
        warn: Callable[[str], None],
    ) -> None:
        self._record = record
        self._logs = logs
        self._objects = objects
        self._branch = branch
        self._verifier = verifier
        self._stops = stops
        self._warn = warn
        self._turn = threading.Lock()
        self._checked = False
        self._refusal: ActionNeeded | None = None
        self._known: dict[str, Before] | None = None

    def before(self, command: str) -> Before:
        """What a command said on the base, ``unknown`` when it was not run there."""
        if self._known is None:
            self._known = self._read(self._tree())
        return self._known.get(command, "unknown")

    def require(self, checks: Callable[[], Sequence[Check]]) -> None:
        """Run commands on the base, once in this run; ActionNeeded (``base_red``) when a policy-wide one is red.

        ``checks`` is asked for them the first time.
        """
        with self._turn:
            if self._refusal is not None:
                raise self._refusal
            if self._checked:
                return
            commit = self._commit()
            tree = self._objects.tree_of(commit)
            known = self._read(tree)
            due = [check for check in checks() if _is_policy_wide(check) or check.command not in known]
            results = self._verifier.verify(commit, tree, due, self._logs, first_red_ends=False)
            known |= {result.check.command: "green" if result.green else "red" for result in results}
            files.write_if_changed(self._record, canonical({"tree": tree, "before": known}), WRITE)
            self._known = known
            red = [result for result in results if not result.green and _is_policy_wide(result.check)]
            if red:
                self._refuse(red, commit)
            self._checked = True

    def _refuse(self, red: Sequence[CheckResult], commit: str) -> None:
        listed = "; ".join(f"`{result.check.command}` ({result.said}, see {result.log})" for result in red)
        message = f"red before any work, on the base {commit[:12]}: {listed}"
        if not self._stops:
            self._warn(message)
            return
        self._refusal = ActionNeeded(
            message,
            todo="repair the base (or correct verify.commands), then run again; verify.base: warn goes on regardless",
            code="base_red",
        )
        raise self._refusal

    def _commit(self) -> str:
        base = self._branch.base()
        return base.base_commit if base is not None else self._branch.head()

    def _tree(self) -> str:
        return self._objects.tree_of(self._commit())

    def _read(self, tree: str) -> dict[str, Before]:
        try:
            record = files.read_json(self._record)
        except DamagedRecord:
            return {}  # it only saves runs: what is not known is asked again
        known = record.get("before") if isinstance(record, dict) and record.get("tree") == tree else None
        return dict(known) if isinstance(known, dict) else {}


def _is_policy_wide(check: Check) -> bool:
    return check.source == Source.POLICY_ALL.value
