"""The ``baton`` command: parses, calls, prints; decides nothing. The only place where an error becomes an exit code.

``baton --help`` imports click and no command; each command imports what it needs when it runs.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 done, 1 failures or someone must act, 2 interrupted, 3 internal, 4 usage, 5 nothing.

    ``argv`` are the words after ``baton``; None takes those of this process.
    """
    from baton_runner.cli.commands import baton
    from baton_runner.cli.exits import guarded

    def call() -> object:
        return baton.main(None if argv is None else list(argv), prog_name="baton", standalone_mode=False)

    return guarded(call)
