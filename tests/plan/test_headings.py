"""What a heading says: number, subject, flow, and the sections it waits for."""

# ruff: noqa: RUF001 - dashes and colons of real plans

import pytest

from baton_runner.plan.headings import parse_heading
from baton_runner.plan.model import Flow


@pytest.mark.parametrize(
    ("title", "number", "subject"),
    [
        ("1. Setup", "1", "Setup"),
        ("2b. Setup", "2b", "Setup"),
        ("2.1 Setup", "2.1", "Setup"),
        ("3) Setup", "3", "Setup"),
        ("4: Setup", "4", "Setup"),
        ("5 - Setup", "5", "Setup"),
        ("6 – Setup", "6", "Setup"),
        ("7 Setup", "7", "Setup"),
        ("8", "8", ""),
        ("Phase 1: Setup", "1", "Setup"),
        ("PHASE 1 Setup", "1", "Setup"),
        ("✅ Step 2 — Setup", "2", "Setup"),
        ("**Milestone 3**: Setup", "3", "Setup"),
        ("PR #4: Setup", "4", "Setup"),
        ("Sprint-5: Setup", "5", "Setup"),
        ("阶段 1：存储", "1", "存储"),
        ("第 2 阶段：存储", "2", "存储"),
        ("フェーズ1: 準備", "1", "準備"),
        ("Этап 3. Сборка", "3", "Сборка"),
        ("Étape 4 : Préparer", "4", "Préparer"),
        ("A. Setup", "A", "Setup"),
        ("Phase B: Setup", "B", "Setup"),
        ("Setup", None, "Setup"),
        ("A thing", None, "A thing"),
        ("a) thing", None, "a) thing"),
        ("3D view", None, "3D view"),
        ("Phases of it", None, "Phases of it"),
        ("Step by step", None, "Step by step"),
    ],
)
def test_numbers_with_and_without_words(title: str, number: str | None, subject: str) -> None:
    found = parse_heading(title, 1)
    assert (found.number, found.subject) == (number, subject)


@pytest.mark.parametrize(
    ("suffix", "flow", "waits"),
    [
        ("(sequential)", Flow.SEQUENTIAL, None),
        ("(Parallel)", Flow.PARALLEL, None),
        ("(depends: 2)", None, ["2"]),
        ("(depends on 1, 2b)", None, ["1", "2b"]),
        ("(after Phase 2)", None, ["2"]),
        ("(depends: none)", None, []),
        ("(sequential, depends: 1)", Flow.SEQUENTIAL, ["1"]),
        ("(depends: 1) (parallel)", Flow.PARALLEL, ["1"]),
        ("(see the notes)", None, None),
        ("(after the release)", None, None),
    ],
)
def test_what_the_last_parentheses_ask_for(suffix: str, flow: Flow | None, waits: list[str] | None) -> None:
    found = parse_heading(f"3. Build {suffix}", 9)
    assert found.flow is flow
    assert (None if found.waits is None else [str(wait) for wait in found.waits]) == waits
    assert all(wait.line == 9 for wait in found.waits or ())
    assert found.subject == ("Build" if flow or waits is not None else f"Build {suffix}")
