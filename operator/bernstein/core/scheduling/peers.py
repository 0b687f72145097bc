"""The Tasks of a Project as the scheduler sees them, and whose turn it is."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import QueueReason
from bernstein.core import holds, owners
from bernstein.core.conditions import is_stalled
from bernstein.core.scheduling.occupancy import is_in_line
from bernstein.core.scheduling.turns import Capacity, Peer, queue_reasons
from bernstein.core.snapshot import TaskSnapshot


def why_not_now(snapshot: TaskSnapshot, now: datetime) -> QueueReason | None:
    """Why it is not this Task's turn; None: it is.

    The answer for all Tasks of the Project is found once and kept for the second.
    """
    assert snapshot.project is not None
    me, capacity = snapshot.task.metadata.name, _capacity(snapshot)
    key = (snapshot.project.metadata.name, int(now.timestamp()))
    if key not in snapshot.turns:
        for outdated in [k for k in snapshot.turns if k[1] != key[1]]:
            del snapshot.turns[outdated]
        peers = [peer_of(t, snapshot, now, me=None) for t in snapshot.peers]
        snapshot.turns[key] = queue_reasons(peers, capacity)
    if me in snapshot.turns[key]:
        return snapshot.turns[key][me]
    # Its own status does not show yet that it is ready.
    peers = [peer_of(t, snapshot, now, me=me) for t in snapshot.peers]
    return queue_reasons(peers, capacity)[me]


def _capacity(snapshot: TaskSnapshot) -> Capacity:
    assert snapshot.project is not None
    limits = snapshot.project.spec.limits
    plans = {plan.metadata.uid: plan for plan in snapshot.plans.values()}
    if snapshot.plan is not None:
        plans[snapshot.plan.metadata.uid] = snapshot.plan
    of_plans = {u: p.spec.max_agents for u, p in plans.items() if p.spec.max_agents is not None}
    return Capacity(limits.max_agents, of_plans, limits.undeclared_files_exclusive)


def peer_of(task: Task, snapshot: TaskSnapshot, now: datetime, *, me: str | None) -> Peer:
    """The Task as scheduling sees it; the one called `me` is known to be ready."""
    assert snapshot.project is not None
    meta, status = task.metadata, task.status
    is_open = status.state is TaskState.OPEN
    holding = holds.seconds_left(status.hold, snapshot.project, now) is not None
    ready = meta.name == me or (
        is_open
        and task.spec.cancel is None
        and not holding
        and _is_in_line(status)
        and _dependencies_closed(task, snapshot)
    )
    probes = ready or status.state is TaskState.CLAIMED
    agent = snapshot.project.spec.agent(task.spec.cli)
    return Peer(
        name=meta.name,
        plan=owners.plan_uid(task),
        state=status.state,
        priority=task.spec.priority,
        batch=task.spec.mode == "batch",
        created=meta.creation_timestamp or now,
        files=task.spec.files,
        agent=agent.name if agent else "",
        depends_on=task.spec.depends_on,
        hold=status.hold if (is_open and holding) or probes else None,
        ready=ready,
        stalled=is_stalled(status),
    )


def _dependencies_closed(task: Task, snapshot: TaskSnapshot) -> bool:
    upstream = (snapshot.tasks.get(name) for name in task.spec.depends_on)
    return all(t is not None and t.status.state is TaskState.CLOSED for t in upstream)


def _is_in_line(status: TaskStatus) -> bool:
    """As in occupancy, and also where the Task waited for its own hold, which may be over."""
    if status.hold is None or status.queue is None:
        return is_in_line(status)
    return is_in_line(status) or status.queue.reason == status.hold.reason
