"""Who of a Project has an agent or files, and who is in line for them; kept between two looks.

What has changed is put in, and `refresh` says whose answer is another one then. It does as much as
has changed: while all agents are at work, thousands in line have the same answer, which is found
without looking at them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.file_overlap import parse
from bernstein.core.scheduling.peer import Order, Peer
from bernstein.core.scheduling.probes import Probes
from bernstein.core.scheduling.starts import BATCH, Capacity, obstacles

_SORTED_ANEW = 100
"""So many changes at once cost more, one after another, than to sort all."""
_PIECE = 50
"""So many in line are looked at without a pause."""


class Line:
    """The Tasks of a Project that have something, or are ready."""

    def __init__(self) -> None:
        self._capacity = Capacity(0, {})
        self._peers: dict[str, Peer] = {}
        self._holding: dict[str, Peer] = {}
        self._active: Counter[str | None] = Counter()
        """How many have an agent, by uid of their Plan."""
        self._tried: dict[str, Peer] = {}
        self._running: dict[str, Peer] = {}
        """Whose agents have begun."""
        self._probes = Probes(())
        self._behind: dict[str, Wait] = {}
        """Those who wait for another one that tries the same first."""
        self._free: list[Peer] = []
        """The others that are ready, in order."""
        self._places: dict[str, Peer] = {}
        """The same, by name."""
        self._prompt = 0
        """How many of them are no batch: these come first."""
        self._batch_waits = False
        """Whether there were any at the last look."""
        self._answers: dict[str, Wait | None] = {}
        """Of those who were looked at one by one."""
        self._touched: set[str] = set()
        """Whom `put` has changed since."""
        self._probing_changed = False
        self._is_outdated = True
        """What stands in `_answers` was found with others in line, or with other limits."""
        self._looking: Iterator[tuple[Peer, Wait | None]] | None = None
        """The look at those in line that is under way, as they are."""
        self._found: dict[str, Wait | None] = {}
        """What it has found so far."""
        self._changed: set[str] = set()
        """Whose answer may be another one since the last `refresh`."""

    @property
    def is_long(self) -> bool:
        """Whether a look at all in line may take long."""
        return len(self._peers) > _PIECE

    def limit(self, capacity: Capacity) -> None:
        """From now on so many may work at once."""
        self._outdate(capacity != self._capacity)
        self._capacity = capacity

    def _outdate(self, is_other: bool) -> None:
        if is_other:
            self._is_outdated, self._looking = True, None

    def put(self, name: str, peer: Peer | None) -> None:
        """The Task is this now; None: it has nothing and is not ready."""
        before = self._peers.get(name)
        if before == peer:
            return
        begins = peer is not None and peer.runs_since is not None and name not in self._running
        if before is not None:
            self._take_out(before)
        if peer is not None:
            self._put_in(peer)
        self._touched.add(name)
        tried = (before is not None and before.tried) or (peer is not None and peer.tried)
        self._probing_changed |= bool(tried) or (begins and bool(self._tried))
        self._outdate(_takes(before) != _takes(peer))

    def _take_out(self, peer: Peer) -> None:
        del self._peers[peer.name]
        self._holding.pop(peer.name, None)
        self._tried.pop(peer.name, None)
        self._running.pop(peer.name, None)
        if peer.is_active:
            self._active[peer.plan] -= 1
            if not self._active[peer.plan]:
                del self._active[peer.plan]

    def _put_in(self, peer: Peer) -> None:
        self._peers[peer.name] = peer
        parse(peer.files)  # known from then on: those of all in line at once take long
        if peer.holds_files:
            self._holding[peer.name] = peer
        if peer.tried is not None:
            self._tried[peer.name] = peer
        if peer.runs_since is not None:
            self._running[peer.name] = peer
        if peer.is_active:
            self._active[peer.plan] += 1

    def answer(self, name: str) -> Wait | None:
        """Why a ready Task may not start now, as of the last `refresh`; None: it may."""
        if name in self._behind:
            return self._behind[name]
        if name in self._answers:
            return self._answers[name]
        if self._batch_waits and self._peers[name].batch:
            return BATCH
        return self._capacity.full

    def starts(self) -> list[str]:
        """Names of those who may start now, in order."""
        return [name for name, wait in self._answers.items() if wait is None]

    def refresh(self) -> set[str]:
        """Names of those in line whose answer may be another one than before."""
        while self.look_ahead():
            pass
        changed, self._changed = self._changed, set()
        return {name for name in changed if name in self._peers and self._peers[name].ready}

    def look_ahead(self) -> bool:
        """Does a piece of what `refresh` has to do; False: nothing is left of it."""
        if self._touched or self._probing_changed:
            self._changed |= self._look_who_probes()
            self._touched.clear()
        if not self._is_outdated:
            return False
        if self._looking is None:
            self._looking, self._found = self._look_along(), {}
        piece = [*islice(self._looking, _PIECE)]
        self._found.update((peer.name, wait) for peer, wait in piece)
        if len(piece) == _PIECE:
            return True
        self._changed |= self._take_answers(self._found)
        self._is_outdated, self._looking = False, None
        return False

    def _look_who_probes(self) -> set[str]:
        again: Iterable[str] = self._touched
        if self._probing_changed:
            probes = Probes(self._tried.values(), self._running.values())
            if not probes.are_those_of(self._probes):
                again = self._touched | self._behind.keys() | self._places.keys()
            self._probes, self._probing_changed = probes, False
        changed = set(self._touched)
        for name in again:
            before, wait = self._behind.pop(name, None), self._behind_whom(self._peers.get(name))
            if wait is not None:
                self._behind[name] = wait
            if wait != before:
                changed.add(name)
        self._rearrange(again)
        return changed

    def _behind_whom(self, peer: Peer | None) -> Wait | None:
        return self._probes.waits_for(peer) if peer is not None and peer.ready else None

    def _rearrange(self, names: Iterable[str]) -> None:
        """Gives each of them its place among those who are free to start, or takes it."""
        left: list[Peer] = []
        come: list[Peer] = []
        prompt = self._prompt
        for name in names:
            peer, before = self._peers.get(name), self._places.get(name)
            after = peer if peer is not None and peer.ready and name not in self._behind else None
            if before is after:
                continue
            if before is not None:
                left.append(before)
                prompt -= not before.batch
                del self._places[name]
            if after is not None:
                come.append(after)
                prompt += not after.batch
                self._places[name] = after
        if not left and not come:
            return
        if len(left) + len(come) > _SORTED_ANEW:
            self._free = sorted(self._places.values(), key=_order)
        else:
            for peer in left:
                del self._free[bisect_left(self._free, peer.order, key=_order)]
            for peer in come:
                insort(self._free, peer, key=_order)
        # Probes come and go without that anybody takes anything else.
        self._outdate([*map(_takes, left)] != [*map(_takes, come)])
        self._prompt = prompt

    def _look_along(self) -> Iterator[tuple[Peer, Wait | None]]:
        """Looks at those in line anew, one after another."""
        holding = sorted(self._holding.values(), key=_order)
        line = self._free[: self._prompt or None]
        return obstacles(holding, Counter(self._active), line, self._capacity)

    def _take_answers(self, answers: dict[str, Wait | None]) -> set[str]:
        """These are the answers now; names of those whose answer is another one."""
        before, did_wait = self._answers, self._batch_waits
        self._answers, self._batch_waits = answers, bool(self._prompt)
        changed = {
            name
            for name in before.keys() | self._answers.keys()
            if name not in before
            or name not in self._answers
            or before[name] != self._answers[name]
        }
        if did_wait != self._batch_waits:
            changed |= {peer.name for peer in self._free if peer.batch}
        return changed


def _order(peer: Peer) -> Order:
    return peer.order


def _takes(peer: Peer | None) -> tuple[object, ...] | None:
    """What of a Task matters to who else may start."""
    if peer is None:
        return None
    of_files = peer.holds_files, peer.files, peer.only_adds
    return *of_files, peer.is_active, peer.ready, peer.order, peer.plan
