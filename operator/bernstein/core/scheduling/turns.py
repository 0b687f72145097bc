"""Which Open Task may start a session now, and why the others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bernstein.api.states import TaskState
from bernstein.api.waiting import Hold, QueueReason, WaitReason
from bernstein.core.fsm import ACTIVE
from bernstein.core.reasons import Holds, policy
from bernstein.core.scheduling.file_overlap import HeldFiles, Overlap
from bernstein.core.scheduling.occupancy import holds_files


@dataclass(frozen=True)
class Peer:
    """A Task of the same Project, as far as scheduling looks at it."""

    name: str
    plan: str | None
    """The uid of its Plan."""
    state: TaskState | None
    priority: int
    batch: bool
    created: datetime
    files: tuple[str, ...]
    agent: str
    depends_on: tuple[str, ...]
    hold: Hold | None
    """The hold that it waits for, or whose cause its session probes now."""
    ready: bool
    """Open, with nothing but capacity, files and the holds of others between it and a session."""
    stalled: bool = False

    @property
    def order(self) -> tuple[bool, int, datetime, str]:
        """Who comes first: sorts the Tasks of a Project."""
        return (self.batch, self.priority, self.created, self.name)

    @property
    def holds_files(self) -> bool:
        return holds_files(self.state, stalled=self.stalled)


@dataclass(frozen=True)
class Capacity:
    """How many agents may work at once."""

    project: int
    """maxAgents of the Project."""
    plans: dict[str, int]
    """maxAgents by uid of the Plan, where a Plan sets one."""
    exclusive_undeclared: bool = False
    """A Task that declares no files runs alone."""


def queue_reasons(peers: Sequence[Peer], capacity: Capacity) -> dict[str, QueueReason | None]:
    """For each ready Task why it may not start now, by name; None: it may."""
    ready = sorted((p for p in peers if p.ready), key=lambda p: p.order)
    holders = _first_holders(peers)
    only_batch = all(p.batch for p in ready)
    taken = _Taken(peers, capacity)
    reasons: dict[str, QueueReason | None] = {}
    for peer in ready:
        reason = _held_by(peer, holders)
        if reason is None and peer.batch and not only_batch:
            reason = QueueReason(
                reason=WaitReason.BATCH_WAITS, message="waits until no other Task is ready"
            )
        if reason is None:
            reason = taken.obstacle(peer)
        reasons[peer.name] = reason
        if reason is None:
            taken.start(peer)
    return reasons


class _Taken:
    """The agents and files that are taken: by Tasks at work, and by those that start now."""

    def __init__(self, peers: Sequence[Peer], capacity: Capacity) -> None:
        self._capacity = capacity
        self._peers = peers
        self._active = Counter(p.plan for p in peers if p.state in ACTIVE)
        """Tasks at work, by Plan."""
        holding = [p for p in peers if p.holds_files]
        self._holder = next((p.name for p in holding), None)
        """A Task that holds files."""
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
        """Why the Task cannot start beside the others; None: it can."""
        active = self._active
        if active.total() >= self._capacity.project:
            text = f"all {self._capacity.project} agents of the Project are at work"
            return QueueReason(reason=WaitReason.MAX_AGENTS, message=text)
        limit = self._capacity.plans.get(peer.plan) if peer.plan is not None else None
        if limit is not None and active[peer.plan] >= limit:
            text = f"all {limit} agents of the Plan are at work"
            return QueueReason(reason=WaitReason.MAX_AGENTS, message=text)
        if peer.holds_files or (overlap := self._overlap(peer)) is None:
            return None
        text = f"its files overlap with those of '{overlap.holder}'"
        if not overlap.sure:
            text = f"its files may overlap with those of '{overlap.holder}': too many to compare"
        return QueueReason(reason=WaitReason.FILE_OVERLAP, message=text)

    def start(self, peer: Peer) -> None:
        """The Task takes an agent and its files."""
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
    """Tasks whose holds make others wait: of each agent the one that comes first.

    A Task whose hold keeps the whole Project is always among them.
    """
    holders: list[Peer] = []
    agents: set[str] = set()
    for peer in sorted((p for p in peers if _holds_others(p)), key=lambda p: p.order):
        if _holds_all(peer) or peer.agent not in agents:
            holders.append(peer)
            agents.add(peer.agent)
    return holders


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
    return peer.hold is not None and policy(peer.hold.reason).holds is not Holds.ITSELF


def _holds_all(peer: Peer) -> bool:
    return peer.hold is not None and policy(peer.hold.reason).holds is Holds.PROJECT
