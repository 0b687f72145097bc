"""`bernstein completion`"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bernstein.cli.settings import CliSettings
from bernstein.cli.shell import program


class Shell(StrEnum):
    """Shells that the program can be completed in."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    settings: CliSettings,
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="Which shell.")],
) -> None:
    """Prints a script that completes commands and options in a shell."""
    del settings
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(
        prog_name=program.NAME, complete_var=program.COMPLETION, shell=shell.value
    )
    typer.echo(script)
