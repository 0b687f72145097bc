"""One Task tries whether what is broken outside is mended; those that need the same wait for it.

Whom it concerns is its scope, by the table of reasons. Once its agent runs, those go on, too, that
have met the same themselves. What a session itself says is evidence for its own Task alone, until a
second one has met the same within minutes; and then it holds others for minutes, however long the
two wait themselves, or one of them says it: after these the other one tries, too. So is what the
API server refuses: a policy may object to the prompt of one Task. And so is a repository to which
an agent's work could not be pushed: that may have been more than gets through in time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.waiting import WaitScope
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.peer import Order, Peer
from bernstein.core.verification.crowd import FOLLOW_EACH
from bernstein.core.waiting import parted

EVIDENCE = 2
"""So many Tasks must have met what is unconfirmed before others wait for it."""

Affected = tuple[WaitScope, Hashable]
"""Whom a cause concerns: the kind of scope, and which one of that kind."""


class Probes:
    """What some Tasks have met, to be asked about others: of each scope the one that probes."""

    def __init__(self, peers: Iterable[Peer], running: Iterable[Peer] = ()) -> None:
        """`peers`: those that have met something. `running`: those whose agents have begun."""
        self._first: dict[Affected, Peer] = {}
        self._beside = set[tuple[Affected, str]]()
        """Who may try beside the first one."""
        met_by = defaultdict[tuple[Affected, str, bool], list[Peer]](list)
        for peer in sorted((p for p in peers if p.tried is not None), key=_order):
            scope = _scope(peer)
            if scope is not None and peer.tried is not None:
                unconfirmed = policy(peer.tried.reason).unconfirmed or peer.beside_its_agent
                met_by[scope, peer.tried.reason, unconfirmed].append(peer)
        begun = _begun(running) if met_by else {}
        for (scope, reason, unconfirmed), all_met in met_by.items():
            met = _not_let_go(all_met, begun.get(scope, ())) if _is_shown(reason) else all_met
            stale = [peer for peer in met[:EVIDENCE] if unconfirmed and peer.stale]
            let_go = {peer.name for peer in all_met} - {peer.name for peer in met}
            self._beside |= {(scope, name) for name in (*let_go, *(p.name for p in stale))}
            if len(met) < (EVIDENCE if unconfirmed else 1):
                continue
            self._first[scope] = min(self._first.get(scope, met[0]), met[0], key=_order)

    def are_those_of(self, other: Probes) -> bool:
        """Whether both answer the same."""
        return (self._first, self._beside) == (other._first, other._beside)

    def waits_for(self, me: Peer) -> Wait | None:
        """Whom this Task waits for; None: for nobody, or it probes itself."""
        if not self._first:
            return None
        scopes = (s for s in _scopes(me) if s in self._first and (s, me.name) not in self._beside)
        first = min((self._first[scope] for scope in scopes), key=_order, default=None)
        if first is None or first is me or (self._probes(me) and _order(me) < _order(first)):
            return None
        assert first.tried is not None
        return _behind(first, first.tried.reason)

    def _probes(self, me: Peer) -> bool:
        scope = _scope(me)
        return scope is not None and self._first.get(scope) is me


def _begun(running: Iterable[Peer]) -> dict[Affected, list[datetime]]:
    """When agents began that still run, by whom each concerns, the earliest first."""
    found = defaultdict[Affected, list[datetime]](list)
    for peer in running:
        if peer.runs_since is not None:
            for scope in _scopes(peer):
                found[scope].append(peer.runs_since)
    for times in found.values():
        times.sort()
    return found


def _is_shown(reason: str) -> bool:
    """Whether an agent that begins shows that it is mended: of a provider it shows nothing yet."""
    row = policy(reason)
    return row.retry is Retry.SOON or not row.unconfirmed


def _not_let_go(met: Sequence[Peer], begun: Sequence[datetime]) -> list[Peer]:
    """Those that hold others still: each agent that has begun since they failed lets the next ones
    try, as a pod does those that wait for a check's."""
    return [
        peer
        for place, peer in enumerate(met)
        if peer.met_at is None
        or place >= FOLLOW_EACH * (len(begun) - bisect_right(begun, peer.met_at))
    ]


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
    yield WaitScope.REPOSITORY, peer.repository


def _scope(peer: Peer) -> Affected | None:
    """Whom it concerns what the Task has met; None: nobody else."""
    if peer.tried is None:
        return None
    of_reason = policy(peer.tried.reason).holds
    return next((scope for scope in _scopes(peer) if scope[0] is of_reason), None)


def _order(peer: Peer) -> tuple[bool, Order]:
    """Who has begun to probe is not overtaken."""
    return peer.state is not TaskState.CLAIMED, peer.order
