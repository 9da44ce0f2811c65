"""The check cache: a green counts for exactly what it was seen on."""

import os
import shutil
from pathlib import Path

import pytest

from baton_runner.evidence.checks import CheckCache, CheckSetting

SETTING = CheckSetting({"CI": "1"}, "sha256:setup")


@pytest.fixture
def cache(tmp_path: Path) -> CheckCache:
    return CheckCache(tmp_path / "checks")


def _add(cache: CheckCache, tree: str, command: str = "make") -> None:
    cache.add(tree, command, SETTING, seconds=1.5, at="2026-03-01T12:00:00.000Z")


@pytest.mark.parametrize(
    ("tree", "command", "setting"),
    [
        ("t2", "make", SETTING),
        ("t1", "make ", SETTING),
        ("t1", "make", CheckSetting({"CI": "2"}, "sha256:setup")),
        ("t1", "make", CheckSetting({"CI": "1", "MORE": ""}, "sha256:setup")),
        ("t1", "make", CheckSetting({}, "sha256:setup")),
        ("t1", "make", CheckSetting({"CI": "1"}, "sha256:other")),
    ],
)
def test_a_green_says_nothing_of_another_tree_command_environment_or_setup(
    cache: CheckCache, tree: str, command: str, setting: CheckSetting
) -> None:
    _add(cache, "t1")
    assert cache.is_green("t1", "make", SETTING)
    assert not cache.is_green(tree, command, setting)


def test_nothing_is_green_before_it_was_seen(cache: CheckCache) -> None:
    assert not cache.is_green("t1", "make", SETTING)


def test_a_green_survives_its_process_and_the_order_of_variables(cache: CheckCache, tmp_path: Path) -> None:
    two = CheckSetting({"A": "1", "B": "2"}, "s")
    cache.add("t1", "make", two, seconds=0, at="t")
    assert CheckCache(tmp_path / "checks").is_green("t1", "make", CheckSetting({"B": "2", "A": "1"}, "s"))


def test_a_command_of_any_length_and_letters_has_a_file(cache: CheckCache) -> None:
    command = "echo '/../../\n日本' " * 500
    _add(cache, "t1", command)
    assert cache.is_green("t1", command, SETTING)


def test_pruning_keeps_the_newest_and_those_in_use(cache: CheckCache, tmp_path: Path) -> None:
    for number in range(6):
        _add(cache, f"t{number}")
        os.utime(tmp_path / "checks" / f"t{number}", (number, number))
    cache.prune({"t0"}, most=2)
    assert [number for number in range(6) if cache.is_green(f"t{number}", "make", SETTING)] == [0, 4, 5]
    cache.prune({"t0"}, most=0)
    assert [number for number in range(6) if cache.is_green(f"t{number}", "make", SETTING)] == [0]


def test_pruning_nothing_and_together_with_somebody_else_is_harmless(
    cache: CheckCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.prune((), most=1)
    for number in range(3):
        _add(cache, f"t{number}")
    whole = Path.iterdir

    def vanishing(folder: Path) -> list[Path]:
        found = list(whole(folder))
        shutil.rmtree(tmp_path / "checks" / "t1")
        return found

    monkeypatch.setattr(Path, "iterdir", vanishing)
    cache.prune((), most=3)
    monkeypatch.undo()
    assert cache.is_green("t0", "make", SETTING)
