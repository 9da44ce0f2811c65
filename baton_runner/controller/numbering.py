"""Attempt numbers: one more than the largest that anything on disk knows, so that none is ever used twice."""

import re
from collections.abc import Iterable
from pathlib import Path

from baton_runner.evidence.layout import Layout
from baton_runner.repo.refs import Refs, attempts_prefix
from baton_runner.repo.worktrees import Workspaces

__all__ = ["next_attempt"]

_NUMBER = re.compile(r"(\d+)")


def next_attempt(layout: Layout, refs: Refs, workspaces: Workspaces, key: str) -> int:
    """The number of a task's next attempt, from packets, logs, attempt refs and worktrees."""
    names = [*_names(layout.packets(key)), *_names(layout.task_logs(key))]
    prefix = attempts_prefix(layout.change, key)
    names += [name.removeprefix(prefix) for name in refs.names(prefix)]
    numbers = [int(match[1]) for name in names if (match := _NUMBER.match(name))]
    numbers += [
        record.purpose.attempt
        for _, record in workspaces.records()
        if (record.purpose.change, record.purpose.key) == (layout.change, key)
    ]
    return 1 + max(numbers, default=0)


def _names(folder: Path) -> Iterable[str]:
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []
