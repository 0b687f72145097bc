"""The record that declares one type of completion signal, and from which all else is derived.

Programs in pods read the records, too, and must start without pydantic: so a declaration imports
the model `Signal` for type checks only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bernstein.checks.asks import Asks
from bernstein.checks.reading import Reads

if TYPE_CHECKING:
    from bernstein.api.signals import Signal

TITLE = 300


@dataclass(frozen=True)
class SignalCommand:
    """The signal is a shell command that runs in a Job of its own; it passes with exit code 0."""

    command: Callable[[Signal], str | None]
    """The command, or None where the signal names none: then it is Errored."""
    launched: bool = False
    """Whether it calls our launcher, which is copied to the pod then."""


@dataclass(frozen=True)
class SignalKind:
    """One type of completion signal. Fields of a signal are named as in Python's `Signal`."""

    type: str
    needs: tuple[str, ...]
    """Fields that it must have."""
    detail: Callable[[Signal], str]
    """What people read behind its type."""
    sentence: Callable[[Signal], str]
    """What the agent reads below "Done means"."""
    runs: SignalCommand | Reads | Asks
    """How it is checked."""
    takes: tuple[str, ...] = ()
    """Fields that it may have, too; every other field is refused."""

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that it must or may have."""
        return self.needs + self.takes

    def title(self, signal: Signal) -> str:
        """What the signal is called in verdicts."""
        return f"{self.type}: {self.detail(signal)}"[:TITLE]


def one_line(text: str | None) -> str:
    """The words of a text of any number of lines; "" where there is none."""
    return " ".join((text or "").split())
