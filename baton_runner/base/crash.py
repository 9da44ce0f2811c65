"""Named crash points: places where a test kills this process with SIGKILL to prove that a rerun continues.

``BATON_CRASH_AT=name`` kills at the first passing of that point, ``name@3`` at the third. A point exists by being
declared at import time, so that a test can list them all and fail for a durable write that has none.
"""

import os
import signal
from typing import NewType

__all__ = ["VARIABLE", "CrashPoint", "declare", "declared", "reach"]

VARIABLE = "BATON_CRASH_AT"

CrashPoint = NewType("CrashPoint", str)
_declared: set[str] = set()
_passed: dict[str, int] = {}


def declare(name: str) -> CrashPoint:
    """Make a crash point known; a name stands for one place."""
    if name in _declared:
        raise ValueError(f"crash point {name} is declared twice")
    _declared.add(name)
    return CrashPoint(name)


def declared() -> frozenset[str]:
    """Every point of the modules imported so far."""
    return frozenset(_declared)


def reach(point: CrashPoint) -> None:
    """Pass a point: nothing happens, unless the environment asks for a crash right here."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    name, _, count = wanted.partition("@")
    if name != point:
        return
    _passed[point] = _passed.get(point, 0) + 1
    if _passed[point] == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
