"""Which ready Tasks of a Project may start a session now, and why the others wait.

They are looked at in order. A Task whose files are taken reserves its own: Tasks after it that need
the same files wait for it. The first such Task of each Plan also reserves one of the Plan's agents:
without that, Tasks after it could take that agent again and again. Nothing else is reserved, so
that nobody waits for what is not used.

A Task is told to wait for the nearest Task before it. So when the first in a row has started, only
the second one is told something new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bernstein.api.waiting import WaitReason
from bernstein.core.fsm import ACTIVE
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.file_overlap import HeldFiles, Overlap
from bernstein.core.scheduling.peer import Peer
from bernstein.core.scheduling.probes import Probes


@dataclass(frozen=True)
class Capacity:
    """How many agents may work at once."""

    project: int
    """maxAgents of the Project."""
    plans: dict[str, int]
    """maxAgents by uid of the Plan, where a Plan sets one."""
    exclusive_undeclared: bool = False
    """A Task that declares no files runs alone."""


def obstacles(peers: Sequence[Peer], capacity: Capacity) -> dict[str, Wait | None]:
    """For each ready Task why it may not start now, by name; None: it may."""
    in_order = sorted((p for p in peers if p.ready), key=lambda p: p.order)
    probes = Probes(peers)
    reasons = {peer.name: probes.waits_for(peer) for peer in in_order}
    ready = [peer for peer in in_order if reasons[peer.name] is None]
    only_batch = all(peer.batch for peer in ready)
    taken = _Taken(peers, ready, capacity)
    for peer in ready:
        if peer.batch and not only_batch:
            text = "waits until no other Task is ready"
            reasons[peer.name] = Wait(WaitReason.BATCH_WAITS, text)
        else:
            reasons[peer.name] = taken.obstacle(peer)
    return reasons


class _Taken:
    """The agents and files that are taken: by Tasks at work, by those that start now, and by those
    that come first."""

    def __init__(self, peers: Sequence[Peer], ready: Sequence[Peer], capacity: Capacity) -> None:
        self._capacity = capacity
        self._ready = ready
        self._holding = [p for p in peers if p.holds_files]
        self._active = sum(p.state in ACTIVE for p in peers)
        self._of_plan = Counter(p.plan for p in peers if p.state in ACTIVE)
        self._keeping: set[str | None] = set()
        """Plans of which one keeps a place."""
        self._holder = next((p.name for p in self._holding), None)
        """A Task that has files."""
        self._undeclared = next((p.name for p in self._holding if not p.files), None)
        """A Task that has files without saying which."""

    @cached_property
    def _files(self) -> HeldFiles:
        """Made at the first question: in a full Project there is none."""
        held = HeldFiles(p.files for p in (*self._holding, *self._ready))
        for peer in self._holding:
            held.add(peer.name, peer.files)
        return held

    @cached_property
    def _full(self) -> Wait:
        return Wait(WaitReason.MAX_AGENTS, _at_work(self._capacity.project, "Project"))

    def obstacle(self, peer: Peer) -> Wait | None:
        """Why the Task cannot start beside the others; None: it takes its agent and its files."""
        if self._active >= self._capacity.project:
            return self._full
        limit = self._capacity.plans.get(peer.plan) if peer.plan is not None else None
        if limit is not None and self._of_plan[peer.plan] >= limit:
            kept = ", or kept for a Task before it" if peer.plan in self._keeping else ""
            return Wait(WaitReason.MAX_AGENTS, f"{_at_work(limit, 'Plan')}{kept}")
        overlap = self._overlap(peer)
        self._take_files(peer)
        if overlap is None:
            self._active += 1
            self._of_plan[peer.plan] += 1
            return None
        if peer.plan not in self._keeping:
            self._keeping.add(peer.plan)
            self._of_plan[peer.plan] += 1
        text = f"its files overlap with those of '{overlap.holder}'"
        if not overlap.sure:
            text = f"its files may overlap with those of '{overlap.holder}': too many to compare"
        return Wait(WaitReason.FILE_OVERLAP, text)

    def _take_files(self, peer: Peer) -> None:
        self._files.add(peer.name, peer.files)
        self._holder = peer.name
        if not peer.files:
            self._undeclared = peer.name

    def _overlap(self, peer: Peer) -> Overlap | None:
        if self._capacity.exclusive_undeclared:
            holder = self._undeclared if peer.files else self._holder
            if holder is not None:
                return Overlap(holder, sure=True)
        return self._files.overlap(peer.files)


def _at_work(limit: int, whose: str) -> str:
    if limit == 1:
        return f"the one agent of the {whose} is at work"
    return f"all {limit} agents of the {whose} are at work"
