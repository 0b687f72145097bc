"""Which Open Task may start a session now, and why the others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bernstein.api.states import TaskState
from bernstein.api.task import Hold, QueueReason
from bernstein.core.errors import Retry, policy
from bernstein.core.file_overlap import HeldFiles, Overlap

ACTIVE = frozenset({TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.ORPHANED})
_OF_ONE_TASK = frozenset({"NameConflict"})
_PROVIDER_WIDE = frozenset({"ProviderUnavailable"})
_REPOSITORY_WIDE = frozenset({"RepositoryUnreachable", "RepositoryAuthFailed", "RefNotFound"})


@dataclass(frozen=True)
class Peer:
    """A Task of the same Project, as far as scheduling looks at it."""

    name: str
    plan: str | None
    state: TaskState | None
    priority: int
    batch: bool
    created: datetime
    files: tuple[str, ...]
    agent: str
    depends_on: tuple[str, ...]
    hold: Hold | None
    """What it waits out, or probes now."""
    ready: bool
    """Open, with nothing but capacity, files and the holds of others between it and a session."""
    stalled: bool = False

    @property
    def order(self) -> tuple[bool, int, datetime, str]:
        return (self.batch, self.priority, self.created, self.name)

    @property
    def holds_files(self) -> bool:
        """From the claim until its work has landed (or waits for a person)."""
        if self.state in ACTIVE:
            return True
        return self.state in (TaskState.DONE, TaskState.PENDING_APPROVAL) and not self.stalled


@dataclass(frozen=True)
class Capacity:
    project: int
    plans: dict[str, int]
    """maxAgents by Plan, where a Plan sets one."""
    exclusive_undeclared: bool = False


def queue_reason(me: Peer, peers: Sequence[Peer], capacity: Capacity) -> QueueReason | None:
    """Why this ready Task, one of `peers`, may not start now; None = it may."""
    return queue_reasons(peers, capacity)[me.name]


def queue_reasons(peers: Sequence[Peer], capacity: Capacity) -> dict[str, QueueReason | None]:
    """Why each ready Task may not start now; None = it may."""
    ready = sorted((p for p in peers if p.ready), key=lambda p: p.order)
    holders = _first_holders(peers)
    only_batch = all(p.batch for p in ready)
    taken = _Taken(peers, capacity)
    reasons: dict[str, QueueReason | None] = {}
    for peer in ready:
        why = _held_by(peer, holders)
        if why is None and peer.batch and not only_batch:
            why = QueueReason(reason="BatchWaits", message="waits until no other Task is ready")
        if why is None:
            why = taken.obstacle(peer)
        reasons[peer.name] = why
        if why is None:
            taken.start(peer)
    return reasons


class _Taken:
    """Places and files that Tasks have, and those that start now will have."""

    def __init__(self, peers: Sequence[Peer], capacity: Capacity) -> None:
        self._capacity = capacity
        self._peers = peers
        self._active = Counter(p.plan for p in peers if p.state in ACTIVE)
        """Tasks at work, by Plan."""
        holding = [p for p in peers if p.holds_files]
        self._holder = next((p.name for p in holding), None)
        self._undeclared = next((p.name for p in holding if not p.files), None)
        """A Task that holds files without saying which."""

    @cached_property
    def _files(self) -> HeldFiles:
        """Made at the first question: in a full Project there is none."""
        held = HeldFiles(p.files for p in self._peers if p.ready or p.holds_files)
        for peer in self._peers:
            if peer.holds_files:
                held.add(peer.name, peer.files)
        return held

    def obstacle(self, peer: Peer) -> QueueReason | None:
        active = self._active
        if active.total() >= self._capacity.project:
            text = f"all {self._capacity.project} agents of the Project are at work"
            return QueueReason(reason="MaxAgents", message=text)
        limit = self._capacity.plans.get(peer.plan) if peer.plan is not None else None
        if limit is not None and active[peer.plan] >= limit:
            text = f"all {limit} agents of the Plan are at work"
            return QueueReason(reason="MaxAgents", message=text)
        if peer.holds_files or (found := self._overlap(peer)) is None:
            return None
        text = f"its files overlap with those of '{found.holder}'"
        if not found.sure:
            text = f"its files may overlap with those of '{found.holder}': too many to compare"
        return QueueReason(reason="FileOverlap", message=text)

    def start(self, peer: Peer) -> None:
        self._active[peer.plan] += 1
        self._files.add(peer.name, peer.files)
        self._holder = self._holder or peer.name
        if not peer.files:
            self._undeclared = self._undeclared or peer.name

    def _overlap(self, peer: Peer) -> Overlap | None:
        if self._capacity.exclusive_undeclared:
            holder = self._undeclared if peer.files else self._holder
            if holder is not None:
                return Overlap(holder, sure=True)
        return self._files.overlap(peer.files)


def _first_holders(peers: Iterable[Peer]) -> list[Peer]:
    """Those with a hold, but none whom an earlier one makes wait anyway."""
    found: list[Peer] = []
    agents: set[str] = set()
    for peer in sorted((p for p in peers if _holds_others(p)), key=lambda p: p.order):
        if _holds_all(peer) or peer.agent not in agents:
            found.append(peer)
            agents.add(peer.agent)
    return found


def _held_by(me: Peer, holders: Iterable[Peer]) -> QueueReason | None:
    """One Task probes what is broken outside; the others wait until its agent runs."""
    for other in holders:
        if other.name == me.name:
            return None
        assert other.hold is not None
        if _holds_all(other) or other.agent == me.agent:
            text = f"'{other.name}' cannot start: {other.hold.message}"
            return QueueReason(reason=other.hold.reason, message=text[:1024])
    return None


def _holds_others(peer: Peer) -> bool:
    hold = peer.hold
    if hold is None or hold.reason in _OF_ONE_TASK:
        return False
    return policy(hold.reason).retry is not Retry.BACK_OFF or hold.reason in _PROVIDER_WIDE


def _holds_all(peer: Peer) -> bool:
    return peer.hold is not None and peer.hold.reason in _REPOSITORY_WIDE
