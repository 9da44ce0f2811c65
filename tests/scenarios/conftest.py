"""Fixtures of the scenarios."""

from pathlib import Path

import pytest

from tests.scenarios.space import Space


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """A fresh world."""
    return Space(tmp_path / "space")
