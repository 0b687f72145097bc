"""What a schedule says, in tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.line import Line
from bernstein.core.scheduling.peer import Peer
from bernstein.core.scheduling.schedule import Schedule
from bernstein.core.scheduling.starts import Capacity
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot, new_board


def schedule(snapshot: ProjectSnapshot, now: datetime) -> Schedule:
    """The schedule of all Tasks of the Project, by a Board that was not kept."""
    return new_board(snapshot).look(snapshot.project, snapshot.beginning, now)


def obstacles(peers: Sequence[Peer], capacity: Capacity) -> dict[str, Wait | None]:
    """For each ready Task why it may not start now, by name; None: it may."""
    line = Line()
    line.limit(capacity)
    for peer in peers:
        line.put(peer.name, peer)
    line.refresh()
    return {peer.name: line.answer(peer.name) for peer in peers if peer.ready}


def starts(found: Schedule) -> list[str]:
    return [t.metadata.name for t, s in found.moves if s.state is TaskState.CLAIMED]


def reasons(found: Schedule) -> dict[str, str]:
    """The words of those that are told anew why they wait."""
    return {
        t.metadata.name: f"{s.waiting.reason}: {s.waiting.message}"
        for t, s in found.waits
        if s.waiting
    }
