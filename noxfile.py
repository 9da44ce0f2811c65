"""The sessions of this project: `nox -s tests`, `nox -s baton`, and the longer ones."""

import os
from pathlib import Path

import nox

nox.options.sessions = ["tests"]

HERE = Path(__file__).parent


def install(session: nox.Session) -> None:
    """Put the project and its tools into the session's environment; one that is there already is used as it is."""
    if session.virtualenv.is_sandboxed:
        session.install(
            "-e", ".", *nox.project.dependency_groups(nox.project.load_toml(HERE / "pyproject.toml"), "dev")
        )


@nox.session
def tests(session: nox.Session) -> None:
    """Everything `make test` promises: style, types, layers, tests."""
    install(session)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("lint-imports", "--no-cache")
    session.run("pytest", *session.posargs, interrupt_timeout=None, terminate_timeout=None)


@nox.session
def baton(session: nox.Session) -> None:
    """The main job, offline: the demo plan of this repository in a scratch repository."""
    install(session)
    session.run("baton", "demo", *session.posargs, interrupt_timeout=None, terminate_timeout=None)


@nox.session
def e2e(session: nox.Session) -> None:
    """The real agent programs against a scripted model server on the loopback interface; needs npm once."""
    install(session)
    session.env["BATON_E2E_CACHE"] = os.environ.get("BATON_E2E_CACHE", str(HERE / ".nox" / "e2e-programs"))
    session.run(
        "pytest", "-m", "e2e", "-n", "1", "tests/e2e", *session.posargs, interrupt_timeout=None, terminate_timeout=None
    )


@nox.session
def bench(session: nox.Session) -> None:
    """Ratios against peers and earlier figures; nothing here fails on a slow machine."""
    install(session)
    for script in sorted((HERE / "benchmarks").glob("bench_*.py")):
        session.run("python", "-m", f"benchmarks.{script.stem}", external=True)
