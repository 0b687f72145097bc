"""`bernstein resume`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli import suspension
from bernstein.cli.settings import CliSettings


def resume(
    settings: CliSettings,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="Name of a Plan; or plan/NAME.")],
) -> None:
    """Lets a suspended Plan go on.

    Asking again changes nothing.
    """
    suspension.ask(settings, plan, suspend=False)
