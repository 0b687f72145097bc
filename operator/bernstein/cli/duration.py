"""How long to wait, as people write it."""

from __future__ import annotations

import re

from bernstein.cli.errors import INVALID, CliError

_DURATION = re.compile(r"([0-9]{1,9})(s|m|h)?\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds(duration: str | None) -> float | None:
    """Seconds of `90s`, `30m` or `2h`; None: no end. Raises CliError."""
    if duration is None:
        return None
    match = _DURATION.match(duration)
    if match is None:
        raise CliError(
            "InvalidTimeout", f"'{duration}' is no duration", "write 90s, 30m or 2h", INVALID
        )
    return float(int(match[1]) * _SECONDS[match[2] or "s"])
