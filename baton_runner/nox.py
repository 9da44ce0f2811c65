"""For a user's noxfile.py: ``from baton_runner.nox import session_baton`` gives ``nox -s baton -- -k login -n 4``.

nox is needed by whoever imports this, and by nothing else of ours. The session uses the Python that runs nox, makes no
environment and downloads nothing; nox gives an interrupted child 0.3 s, which ends no agent in order, so it waits here.
"""

import sys

import nox

__all__ = ["session_baton"]


@nox.session(name="baton", venv_backend="none")
def session_baton(session: nox.Session) -> None:
    """Work on what is not finished in the plans: nox -s baton -- add-login:1.2 -n 4."""
    session.run(
        sys.executable,
        "-m",
        "baton_runner",
        "run",
        *session.posargs,
        external=True,
        interrupt_timeout=None,
        terminate_timeout=None,
    )
