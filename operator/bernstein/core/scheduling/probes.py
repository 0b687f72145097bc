"""One Task tries whether what is broken outside is mended; those that need the same wait for it.

How far a hold reaches is its scope, by the table of reasons. What a session itself says is evidence
for its own Task alone, until a second one has met the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from bernstein.api.project import Agent
from bernstein.api.states import TaskState
from bernstein.api.waiting import QueueReason
from bernstein.core.reasons import Holds, policy
from bernstein.core.scheduling.peer import Order, Peer

EVIDENCE = 2
"""So many Tasks must be held for the same before others wait for the provider."""

Scope = tuple[Holds, Hashable]


class Probes:
    """The holds of some Tasks, to be asked about others: of each scope the one that probes."""

    def __init__(self, peers: Iterable[Peer]) -> None:
        self._first: dict[Scope, Peer] = {}
        held = sorted((p for p in peers if p.hold is not None), key=_order)
        said = Counter((_scope(p), p.hold.reason) for p in held if p.hold is not None)
        for peer in held:
            scope = _scope(peer)
            if scope is None or peer.hold is None:
                continue
            needs = EVIDENCE if policy(peer.hold.reason).hearsay else 1
            if said[scope, peer.hold.reason] >= needs:
                self._first.setdefault(scope, peer)

    def waits_for(self, me: Peer) -> QueueReason | None:
        """Whom this Task waits for; None: for nobody, or it probes itself."""
        if not self._first:
            return None
        found = (self._first[scope] for scope in _scopes(me) if scope in self._first)
        first = min(found, key=_order, default=None)
        if first is None or first is me or (self._probes(me) and _order(me) < _order(first)):
            return None
        assert first.hold is not None
        text = f"'{first.name}' cannot start: {first.hold.message}"
        return QueueReason(reason=first.hold.reason, message=text[:1024])

    def _probes(self, me: Peer) -> bool:
        scope = _scope(me)
        return scope is not None and self._first.get(scope) is me


def provider(agent: Agent) -> Hashable:
    """What agents share that talk to one provider with one key; without a key each is its own."""
    if agent.api_key is None:
        return agent.name
    return agent.base_url, agent.api_key.name, agent.api_key.key


def _scopes(peer: Peer) -> Iterator[Scope]:
    yield Holds.PLAN, peer.plan
    yield Holds.AGENT, peer.agent
    yield Holds.PROVIDER, peer.provider
    yield Holds.REPOSITORY, None


def _scope(peer: Peer) -> Scope | None:
    """Whom the Task's hold reaches; None: nobody else."""
    if peer.hold is None:
        return None
    holds = policy(peer.hold.reason).holds
    return next((scope for scope in _scopes(peer) if scope[0] is holds), None)


def _order(peer: Peer) -> tuple[bool, Order]:
    """Who has begun to probe is not overtaken."""
    return peer.state is not TaskState.CLAIMED, peer.order
