"""One Task tries whether what is broken outside is mended; those that need the same wait for it.

Whom it concerns is its scope, by the table of reasons. What a session itself says is evidence
for its own Task alone, until a second one has met the same within minutes; and then it holds others
for minutes, however long the two wait themselves, or one of them says it: after these the other one
tries, too. So is what the API server refuses: a policy may
object to the prompt of one Task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from bernstein.api.states import TaskState
from bernstein.api.waiting import WaitScope
from bernstein.core.reasons import policy
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.peer import Order, Peer
from bernstein.core.waiting import parted

EVIDENCE = 2
"""So many Tasks must have met what is unconfirmed before others wait for it."""

Affected = tuple[WaitScope, Hashable]
"""Whom a cause concerns: the kind of scope, and which one of that kind."""


class Probes:
    """What some Tasks have met, to be asked about others: of each scope the one that probes."""

    def __init__(self, peers: Iterable[Peer]) -> None:
        self._first: dict[Affected, Peer] = {}
        self._again = set[str]()
        """Who tries beside the first one, that two say it."""
        met_by = defaultdict[tuple[Affected, str], list[Peer]](list)
        for peer in sorted((p for p in peers if p.tried is not None), key=_order):
            scope = _scope(peer)
            if scope is not None and peer.tried is not None:
                met_by[scope, peer.tried.reason].append(peer)
        for (scope, reason), met in met_by.items():
            unconfirmed = policy(reason).unconfirmed
            if len(met) < (EVIDENCE if unconfirmed else 1):
                continue
            self._first[scope] = min(self._first.get(scope, met[0]), met[0], key=_order)
            if unconfirmed:
                self._again |= {peer.name for peer in met[:EVIDENCE] if peer.stale}

    def are_those_of(self, other: Probes) -> bool:
        """Whether both answer the same."""
        return (self._first, self._again) == (other._first, other._again)

    def waits_for(self, me: Peer) -> Wait | None:
        """Whom this Task waits for; None: for nobody, or it probes itself."""
        if not self._first or me.name in self._again:
            return None
        found = (self._first[scope] for scope in _scopes(me) if scope in self._first)
        first = min(found, key=_order, default=None)
        if first is None or first is me or (self._probes(me) and _order(me) < _order(first)):
            return None
        assert first.tried is not None
        return _behind(first, first.tried.reason)

    def _probes(self, me: Peer) -> bool:
        scope = _scope(me)
        return scope is not None and self._first.get(scope) is me


def _behind(first: Peer, reason: str) -> Wait:
    """What needs a person for the first one does so for all behind it."""
    text = f"'{first.name}' tries first whether it is mended"
    if not first.cause:
        return Wait(reason, text)
    cause, remedy = parted(first.cause)
    return Wait(reason, text, needs_person=True, remedy=remedy, detail=cause)


def _scopes(peer: Peer) -> Iterator[Affected]:
    yield WaitScope.PLAN, peer.plan
    yield WaitScope.AGENT, peer.agent
    yield WaitScope.PROVIDER, peer.provider
    yield WaitScope.REPOSITORY, None


def _scope(peer: Peer) -> Affected | None:
    """Whom it concerns what the Task has met; None: nobody else."""
    if peer.tried is None:
        return None
    of_reason = policy(peer.tried.reason).holds
    return next((scope for scope in _scopes(peer) if scope[0] is of_reason), None)


def _order(peer: Peer) -> tuple[bool, Order]:
    """Who has begun to probe is not overtaken."""
    return peer.state is not TaskState.CLAIMED, peer.order
