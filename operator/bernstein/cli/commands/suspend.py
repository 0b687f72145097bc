"""`bernstein suspend`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli import suspension
from bernstein.cli.settings import CliSettings


def suspend(
    settings: CliSettings,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="Name of a Plan; or plan/NAME.")],
) -> None:
    """Lets a Plan start nothing new; what runs goes on.

    Asking again changes nothing.
    """
    suspension.ask(settings, plan, suspend=True)
