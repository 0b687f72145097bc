"""Durations, as people write them on the command line."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from bernstein.cli.errors import INVALID, CliError

Timeout = Annotated[
    str | None, typer.Option("--timeout", metavar="90s|30m|2h", help="Wait no longer.")
]
"""An option that `seconds_of` understands."""
_DURATION = re.compile(r"([0-9]{1,9})(s|m|h)?\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(duration: str | None) -> float | None:
    """Raises CliError for what is no duration. None stays None."""
    if duration is None:
        return None
    match = _DURATION.match(duration)
    if match is None:
        raise CliError(
            "InvalidTimeout", f"'{duration}' is no duration", "write 90s, 30m or 2h", INVALID
        )
    return float(int(match[1]) * _SECONDS[match[2] or "s"])
