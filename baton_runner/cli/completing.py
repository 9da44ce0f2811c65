"""``baton completion``: the script by which a shell completes commands, options, changes and task ids."""

import click

from baton_runner.cli.exits import Exit
from baton_runner.cli.output import verbatim
from baton_runner.cli.place import Place, command

__all__ = ["completion_command"]

_VARIABLE = "_BATON_COMPLETE"


@command(name="completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(place: Place, shell: str) -> Exit:
    """Print the completion script of a shell.

    \b
    bash: eval "$(baton completion bash)" in ~/.bashrc
    zsh:  eval "$(baton completion zsh)" in ~/.zshrc
    fish: baton completion fish > ~/.config/fish/completions/baton.fish
    """  # noqa: D301 - click wants the sign itself: it keeps the lines below as they are
    from click.shell_completion import get_completion_class

    del place
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the three shells of the choice are click's own
    script = kind(click.get_current_context().find_root().command, {}, "baton", _VARIABLE)
    verbatim(script.source_template % script.source_vars())
    return Exit.DONE
