"""`bernstein suspend`"""

from __future__ import annotations

from bernstein.cli import suspension
from bernstein.cli.settings import CliSettings


def suspend(settings: CliSettings, plan: suspension.PlanName) -> None:
    """Lets a Plan start nothing new; what runs goes on.

    Asking again changes nothing.
    """
    suspension.ask(settings, plan, suspend=True)
