"""Inside an assignment nothing of ours schedules anything: an agent that calls ``baton run`` or ``doit`` is told so."""

import os
from pathlib import Path

from baton_runner.base.errors import UsageError
from baton_runner.base.marked import MARKER
from baton_runner.controller.project import Project

__all__ = ["refuse_in_assignment"]

_TASK = "BATON_TASK_ID"


def refuse_in_assignment(project: Project) -> None:
    """Raise UsageError (code ``in_assignment``) when an agent's work is where, or under what, this was called."""
    environ = project.environ
    marked = bool(environ.get(MARKER) or environ.get(_TASK))
    root = project.policy.settings.workspace.root
    here = any(project.repository.is_assignment(folder, root) for folder in (Path(os.getcwd()), project.top))  # noqa: PTH109
    if marked or here:
        task = environ.get(_TASK, "")
        raise UsageError(
            f"this is the work at {task or 'one task'}: nothing is scheduled from inside it",
            where=str(project.top),
            todo="do the task and commit; the run that started you verifies and merges it",
            code="in_assignment",
        )
