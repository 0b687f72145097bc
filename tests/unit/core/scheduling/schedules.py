"""What a schedule says, in tests."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.core.scheduling.schedule import Schedule


def starts(found: Schedule) -> list[str]:
    return [t.metadata.name for t, s in found.moves if s.state is TaskState.CLAIMED]


def reasons(found: Schedule) -> dict[str, str]:
    """The words of those that are told anew why they wait."""
    return {
        t.metadata.name: f"{s.waiting.reason}: {s.waiting.message}"
        for t, s in found.waits
        if s.waiting
    }
