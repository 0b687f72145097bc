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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bernstein.api.waiting import WaitReason
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.file_overlap import HeldFiles, Overlap
from bernstein.core.scheduling.peer import Peer

BATCH = Wait(WaitReason.BATCH_WAITS, "waits until no other Task is ready")
_FILES_OF = 64
"""Of so many in line the files are read first; of twice as many whenever these do not suffice."""


@dataclass(frozen=True)
class Capacity:
    """How many agents may work at once."""

    project: int
    """maxAgents of the Project."""
    plans: Mapping[str, int]
    """maxAgents by uid of the Plan, where a Plan sets one."""
    exclusive_undeclared: bool = False
    """A Task that declares no files runs beside none that holds some."""

    @property
    def full(self) -> Wait:
        """What all others are told once all agents of the Project are at work."""
        return _full(self.project, "Project", "")


def obstacles(
    holding: Sequence[Peer],
    active: Mapping[str | None, int],
    line: Sequence[Peer],
    limits: Capacity,
) -> Iterator[tuple[Peer, Wait | None]]:
    """For those in line, one after another, why they may not start now; None: they may.

    It ends where all agents of the Project are taken: what follows is told just that, and there
    may be thousands. `holding`: those that have files; `active`: how many have an agent, by uid of
    their Plan.
    """
    taken = _Taken(holding, active, line, limits)
    for at, peer in enumerate(line):
        if taken.is_full:
            return
        yield peer, taken.obstacle(at)


class _Taken:
    """The agents and files that are taken: by Tasks at work, by those that start now, and by those
    that come first."""

    def __init__(
        self,
        holding: Sequence[Peer],
        active: Mapping[str | None, int],
        line: Sequence[Peer],
        limits: Capacity,
    ) -> None:
        self._limits = limits
        self._line = line
        self._of_plan = Counter(active)
        self._active = self._of_plan.total()
        self._keeping: set[str | None] = set()
        """Plans of which one keeps a place."""
        self._held = [(p.name, p.files) for p in holding if not p.only_adds]
        """The files of those that hold some, and of those looked at so far."""
        self._holder = self._held[0][0] if self._held else None
        """A Task that has files."""
        self._undeclared = next((name for name, files in self._held if not files), None)
        """A Task that has files without saying which."""
        self._files: HeldFiles | None = None
        self._known = 0
        """Of so many in line `_files` knows what they declare."""

    @property
    def is_full(self) -> bool:
        """Whether all agents of the Project are taken."""
        return self._active >= self._limits.project

    def obstacle(self, at: int) -> Wait | None:
        """Why the Task at this place of the line cannot start beside the others; None: it takes its
        agent and its files."""
        peer = self._line[at]
        limit = self._limits.plans.get(peer.plan) if peer.plan is not None else None
        if limit is not None and self._of_plan[peer.plan] >= limit:
            kept = ", or kept for a Task before it" if peer.plan in self._keeping else ""
            return _full(limit, "Plan", kept)
        overlap = self._overlap(at, peer)
        self._take_files(at, peer)
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

    def _take_files(self, at: int, peer: Peer) -> None:
        if peer.only_adds:
            return
        self._files_for(at).add(peer.name, peer.files)
        self._held.append((peer.name, peer.files))
        self._holder = peer.name
        if not peer.files:
            self._undeclared = peer.name

    def _overlap(self, at: int, peer: Peer) -> Overlap | None:
        if peer.only_adds:
            return None
        if self._limits.exclusive_undeclared:
            holder = self._undeclared if peer.files else self._holder
            if holder is not None:
                return Overlap(holder, sure=True)
        return self._files_for(at).overlap(peer.files)

    def _files_for(self, at: int) -> HeldFiles:
        """What is held, for a question about this place of the line."""
        if self._files is None or at >= self._known:
            self._known = max(_FILES_OF, 2 * self._known)
            next_ones = (p.files for p in self._line[: self._known])
            declared = (*(files for _, files in self._held), *next_ones)
            files = self._files
            self._files = HeldFiles(declared) if files is None else files.anew(declared)
            for name, taken in self._held:
                self._files.add(name, taken)
        return self._files


@lru_cache(maxsize=1024)
def _full(limit: int, whose: str, kept: str) -> Wait:
    if limit == 1:
        return Wait(WaitReason.MAX_AGENTS, f"the one agent of the {whose} is at work{kept}")
    return Wait(WaitReason.MAX_AGENTS, f"all {limit} agents of the {whose} are at work{kept}")
