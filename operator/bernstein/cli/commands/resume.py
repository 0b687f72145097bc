"""`bernstein resume`"""

from __future__ import annotations

from bernstein.cli import suspension
from bernstein.cli.settings import CliSettings


def resume(settings: CliSettings, plan: suspension.PlanName) -> None:
    """Lets a suspended Plan go on.

    Asking again changes nothing.
    """
    suspension.ask(settings, plan, suspend=False)
