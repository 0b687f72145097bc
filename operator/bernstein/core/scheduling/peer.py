"""What a Task of a Project has, needs and tries, as far as it decides who starts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.waiting import Tried
from bernstein.core.scheduling.occupancy import holds_files

Order = tuple[bool, int, datetime, str]


@dataclass(frozen=True)
class Peer:
    """A Task that holds files, or may start, or tries whether something is mended."""

    name: str
    plan: str | None
    """The uid of its Plan."""
    state: TaskState | None
    priority: int
    batch: bool
    created: datetime
    files: tuple[str, ...]
    agent: str
    provider: Hashable
    """The same for agents that talk to one provider with one key."""
    tried: Tried | None
    """What it has met itself and is to try again, or its session tries now."""
    ready: bool
    """Open, with nothing but capacity, files and the probes of others between it and a session."""
    stalled: bool = False
    """It needs a person."""
    cause: str = ""
    """What it needs a person for, with the remedy, if there is one. Empty: for nothing known."""

    @property
    def order(self) -> Order:
        """Who comes first: sorts the Tasks of a Project."""
        return (self.batch, self.priority, self.created, self.name)

    @property
    def holds_files(self) -> bool:
        return holds_files(self.state, stalled=self.stalled)
