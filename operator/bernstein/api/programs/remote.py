"""What follows from a failure of somebody who is asked over the network."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """What follows from a failure."""

    remedy: str
    again: bool = False
    """The same request may succeed a little later."""
