"""Which Open Task may start a session now, and why the others wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from wcmatch import glob

from bernstein.api.states import TaskState
from bernstein.api.task import Hold, QueueReason
from bernstein.core.errors import Retry, policy

ACTIVE = frozenset({TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.ORPHANED})
_OF_ONE_TASK = frozenset({"NameConflict"})
_PROVIDER_WIDE = frozenset({"ProviderUnavailable"})
_REPOSITORY_WIDE = frozenset({"RepositoryUnreachable", "RepositoryAuthFailed", "RefNotFound"})
_GLOB = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB


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
    active = [p for p in peers if p.state in ACTIVE]
    holding = [p for p in peers if p.holds_files]
    ready = sorted((p for p in peers if p.ready), key=lambda p: p.order)
    holders = sorted((p for p in peers if _holds_others(p)), key=lambda p: p.order)
    only_batch = all(p.batch for p in ready)
    reasons: dict[str, QueueReason | None] = {}
    for peer in ready:
        why = _held_by(peer, holders)
        if why is None and peer.batch and not only_batch:
            why = QueueReason(reason="BatchWaits", message="waits until no other Task is ready")
        if why is None:
            why = _obstacle(peer, active, holding, capacity)
        reasons[peer.name] = why
        if why is None:
            active.append(peer)
            holding.append(peer)
    return reasons


def _obstacle(
    peer: Peer, active: list[Peer], holding: list[Peer], capacity: Capacity
) -> QueueReason | None:
    if len(active) >= capacity.project:
        text = f"all {capacity.project} agents of the Project are at work"
        return QueueReason(reason="MaxAgents", message=text)
    limit = capacity.plans.get(peer.plan) if peer.plan is not None else None
    if limit is not None and sum(a.plan == peer.plan for a in active) >= limit:
        return QueueReason(
            reason="MaxAgents", message=f"all {limit} agents of the Plan are at work"
        )
    for other in holding:
        if other.name != peer.name and _clash(peer, other, capacity.exclusive_undeclared):
            return QueueReason(
                reason="FileOverlap", message=f"its files overlap with those of '{other.name}'"
            )
    return None


def _clash(left: Peer, right: Peer, exclusive_undeclared: bool) -> bool:
    if exclusive_undeclared and not (left.files and right.files):
        return True
    return overlap(left.files, right.files)


def _held_by(me: Peer, holders: Iterable[Peer]) -> QueueReason | None:
    """One Task probes what is broken outside; the others wait until its agent runs."""
    for other in holders:
        if other.name == me.name:
            return None
        assert other.hold is not None
        if other.hold.reason in _REPOSITORY_WIDE or other.agent == me.agent:
            text = f"'{other.name}' cannot start: {other.hold.message}"
            return QueueReason(reason=other.hold.reason, message=text[:1024])
    return None


def _holds_others(peer: Peer) -> bool:
    hold = peer.hold
    if hold is None or hold.reason in _OF_ONE_TASK:
        return False
    return policy(hold.reason).retry is not Retry.BACK_OFF or hold.reason in _PROVIDER_WIDE


def overlap(left: Iterable[str], right: Iterable[str]) -> bool:
    """True when two lists of paths and globs may name the same file; unsure counts as yes."""
    right = tuple(right)
    return any(_same(a, b) for a in left for b in right)


def _same(a: str, b: str) -> bool:
    a, b = a.rstrip("/"), b.rstrip("/")
    a_glob, b_glob = glob.is_magic(a, flags=_GLOB), glob.is_magic(b, flags=_GLOB)
    if not a_glob and not b_glob:
        return a == b or a.startswith(b + "/") or b.startswith(a + "/")
    if a_glob and b_glob:
        fixed_a, fixed_b = _fixed_folder(a), _fixed_folder(b)
        return fixed_a.startswith(fixed_b) or fixed_b.startswith(fixed_a)
    pattern, path = (a, b) if a_glob else (b, a)
    if glob.globmatch(path, pattern, flags=_GLOB):
        return True
    return _fixed_folder(pattern).startswith(path + "/") or _may_match_below(pattern, path)


def _may_match_below(pattern: str, path: str) -> bool:
    """Whether the path looks like a folder in which the pattern may find something."""
    if "." in path.rpartition("/")[2]:
        return False
    parts = pattern.split("/")
    above = ("/".join(parts[:i]) for i in range(1, len(parts)))
    return any(glob.globmatch(path, folder, flags=_GLOB) for folder in above)


def _fixed_folder(pattern: str) -> str:
    """The folder that every match of the pattern lies in, with its slash; empty for the root."""
    fixed = []
    for part in pattern.split("/")[:-1]:
        if glob.is_magic(part, flags=_GLOB):
            break
        fixed.append(part)
    return "".join(part + "/" for part in fixed)
