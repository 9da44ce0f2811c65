"""A command as it is handed to the shell. Promise: a script of several lines ends at its first failing line."""

__all__ = ["as_script"]


def as_script(command: str) -> str:
    """The text to run: a command of several lines is one script under ``set -e``, one of a single line is itself.

    Without it the exit code of a script is that of its last line, and a failing check would read as green.
    """
    return f"set -e\n{command}" if "\n" in command.strip() else command
