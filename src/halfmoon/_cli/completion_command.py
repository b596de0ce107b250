"""``halfmoon completion``: let the shell complete commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that lets SHELL complete halfmoon's commands and options.

    \b
    Examples:
      halfmoon completion bash >> ~/.bashrc
      halfmoon completion zsh >> ~/.zshrc
      halfmoon completion fish > ~/.config/fish/completions/halfmoon.fish
    """
    script = get_completion_class(shell)
    assert script is not None  # one of the shells that click knows
    root = context.find_root().command
    click.echo(script(root, {}, "halfmoon", "_HALFMOON_COMPLETE").source())
