"""The files that doit sees of a plan: definitions, and the outcomes of tasks that a person resolved by hand.

They are recomputed from the plan before every run and rewritten only where bytes differ, so they need no sync to disk:
a reader sees the old bytes or the new ones, and what a power cut spoils is written again.
"""

import contextlib
import os
import tempfile
from pathlib import Path

from baton_runner.base.digest import canonical
from baton_runner.base.files import ensure_folder
from baton_runner.controller.controller import Controller
from baton_runner.controller.states import State
from baton_runner.evidence.outcome import accepted_outcome, outcome_bytes
from baton_runner.plan.definition import definition

__all__ = ["write_projection"]


def write_projection(controller: Controller) -> None:
    """Bring a change's projected files up to date with its plan."""
    layout = controller.parts.layout
    controller.project.repository.ensure_baton()
    for task in controller.plan.tasks:
        _write(layout.definition(task.key), canonical(definition(task)) + b"\n")
        if controller.assess(task.key).state is State.ACCEPTED:
            _write(layout.outcome(task.key), outcome_bytes(accepted_outcome(task.key)))


def _write(path: Path, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return
    ensure_folder(path.parent)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    Path(name).replace(path)
