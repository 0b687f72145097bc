"""The schedule of one Project: who starts, who lands next, why the others wait.

    members ─┬─ Open: CHAIN ─┬─ a reason of its own to wait
             │               └─ ready ──▶ starts ─┬─ claimed
             │                                    └─ waits for an agent, files or a probe
             └─ Done ──▶ landing_turns: Next, or whom it lands after
    Plans that begin ──▶ begin_turns: Next

It is decided for all of them together, from one look at the caches, and one writer writes it. So
nothing is handed out twice, and no Task overtakes one that comes before it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import owners, progress
from bernstein.core.delivery.landing import step_of
from bernstein.core.money.budget import Spending
from bernstein.core.scheduling import (
    begin_turns,
    chain,
    expressions,
    landing_turns,
    opening,
    siblings,
)
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.occupancy import holds_files, is_ending
from bernstein.core.scheduling.peer import Peer
from bernstein.core.scheduling.probes import evidence, evidence_lasts, provider
from bernstein.core.scheduling.starts import Capacity, obstacles
from bernstein.core.snapshot import AtWork, ProjectSnapshot, TaskSnapshot, Upstreams
from bernstein.core.waiting import is_mended, is_stalled, says

WAITS_AT_ONCE = 200
"""So many Tasks are told why they wait, before it is looked again who may start by then."""


@dataclass(frozen=True)
class Schedule:
    """What is to be written, and when to look again at the latest."""

    moves: tuple[tuple[Task, TaskStatus], ...]
    """Claims, and turns to land that are given or taken back; each with the Task as it was read."""
    waits: tuple[tuple[Task, TaskStatus], ...]
    """Why others wait, where that is not what they say already; WAITS_AT_ONCE of them."""
    begins: tuple[tuple[Plan, PlanStatus], ...] = ()
    """Turns to begin that are given, each with the Plan as it was read."""
    again: float | None = None
    more: bool = False
    """There are others to be told, by another look: what cannot be written is not worked out."""


def schedule(snapshot: ProjectSnapshot, now: datetime) -> Schedule:
    """For all Tasks of the Project."""
    waiters = list(_waiters(snapshot))
    own = {w.task.metadata.name: chain.first(chain.CHAIN, w, now) for w in waiters}
    held = {w.task.metadata.name for w in waiters if _is_held(w, own, now)}
    peers = [_peer(task, snapshot, own, held, now) for task in snapshot.members]
    starts = obstacles([p for p in peers if p is not None], _capacity(snapshot))
    waits = {name: wait or starts.get(name) for name, wait in own.items()}
    claims = [(w.task, opening.claimed(w, now)) for w in waiters if not waits[w.task.metadata.name]]
    landing = landing_turns.turns(snapshot.members, now)
    moved = [each for each in landing if step_of(each[1]) != step_of(each[0].status)]
    behind = [each for each in landing if step_of(each[1]) == step_of(each[0].status)]
    seconds = [wait.seconds for wait in own.values() if wait is not None and wait.seconds]
    seconds += _lapsing(waiters, own, now)
    told = _changed(itertools.chain(behind, _told(waiters, waits, now)), now)
    written = tuple(itertools.islice(told, WAITS_AT_ONCE))
    return Schedule(
        tuple(_changed((*claims, *moved), now)),
        written,
        tuple(begin_turns.turns(snapshot.beginning, snapshot.project.spec.limits.max_agents)),
        min(seconds, default=None),
        more=next(told, None) is not None,
    )


def _told(
    waiters: Iterable[TaskSnapshot], waits: Mapping[str, Wait | None], now: datetime
) -> Iterator[tuple[Task, TaskStatus]]:
    """Those that say something else than why they wait, each worked out when it is asked for."""
    for waiter in waiters:
        wait = waits[waiter.task.metadata.name]
        if wait is not None and not _says(waiter.task.status, wait):
            status = opening.scheduled(waiter, now)
            yield waiter.task, opening.waits(waiter, status, wait, now)


def _waiters(snapshot: ProjectSnapshot) -> Iterator[TaskSnapshot]:
    """The Open Tasks that may start, each with what its own reasons to wait look at."""
    spending = Spending(snapshot.project, snapshot.beside, snapshot.sessions.values())
    at_work: dict[str, tuple[AtWork, ...]] | None = None
    upstreams = Upstreams()
    for task in snapshot.members:
        plan = snapshot.plan_of.get(task.metadata.name)
        if not _may_start(task, plan):
            continue
        if at_work is None and siblings.was_rejected(task.status):
            at_work = _at_work(snapshot)
        yield TaskSnapshot(
            task=task,
            project=snapshot.project,
            plan=plan,
            tasks=snapshot.tasks,
            going=snapshot.going,
            plan_spend=spending.of(plan),
            at_work=at_work.get(plan.metadata.uid, ()) if at_work and plan else (),
            upstreams=upstreams,
        )


def _may_start(task: Task, plan: Plan | None) -> bool:
    if opening.is_new(task.status):
        return opening.is_begun_by_schedule(task, plan)
    is_open = task.status.state is TaskState.OPEN and not is_ending(task)
    return is_open and expressions.is_judged(task, task.status)


def _at_work(snapshot: ProjectSnapshot) -> dict[str, tuple[AtWork, ...]]:
    """The Tasks at work, by uid of their Plan."""
    of_plan: dict[str, list[Task]] = defaultdict(list)
    for task in snapshot.members:
        plan = snapshot.plan_of.get(task.metadata.name)
        if plan is not None:
            of_plan[plan.metadata.uid].append(task)
    return {uid: siblings.at_work(tasks) for uid, tasks in of_plan.items()}


def _is_held(waiter: TaskSnapshot, own: Mapping[str, Wait | None], now: datetime) -> bool:
    """Whether nothing but time keeps the Task from trying again."""
    wait = own[waiter.task.metadata.name]
    is_held = wait is not None and wait.by is chain.held
    return is_held and chain.first(chain.OTHERS, waiter, now) is None


def _lapsing(
    waiters: Iterable[TaskSnapshot], own: Mapping[str, Wait | None], now: datetime
) -> Iterator[float]:
    """Seconds until others need not wait any more for what each of these has met."""
    for waiter in waiters:
        ready = own[waiter.task.metadata.name] is None
        left = evidence_lasts(waiter.task.status, ready=ready, now=now)
        if left is not None and left > 0:
            yield left


def _peer(
    task: Task,
    snapshot: ProjectSnapshot,
    own: Mapping[str, Wait | None],
    held: Collection[str],
    now: datetime,
) -> Peer | None:
    """The Task as `starts` sees it; None: it has nothing and is not ready."""
    meta, status, project = task.metadata, task.status, snapshot.project
    ready = meta.name in own and own[meta.name] is None
    stalled = is_stalled(status)
    probes = ready or meta.name in held or status.state is TaskState.CLAIMED
    if not probes and not holds_files(status.state, stalled=stalled):
        return None
    agent = project.spec.agent(task.spec.cli)
    return Peer(
        name=meta.name,
        plan=owners.plan_uid(task),
        state=status.state,
        priority=task.spec.priority,
        batch=task.spec.mode == "batch",
        created=meta.creation_timestamp or now,
        files=task.spec.files,
        agent=agent.name if agent else "",
        provider=provider(agent) if agent else "",
        tried=evidence(status, ready=ready, now=now) if probes else None,
        ready=ready,
        stalled=stalled,
        cause=_cause(task, project),
    )


def _cause(task: Task, project: Project) -> str:
    """What keeps it from going on until a person acts; a Project that has changed may mend it."""
    waiting = task.status.waiting
    if waiting is None or not is_stalled(task.status) or is_mended(waiting, project):
        return ""
    return waiting.message


def _capacity(snapshot: ProjectSnapshot) -> Capacity:
    limits = snapshot.project.spec.limits
    plans = {plan.metadata.uid: plan.spec.max_agents for plan in snapshot.plan_of.values()}
    of_plans = {uid: most for uid, most in plans.items() if most is not None}
    return Capacity(limits.max_agents, of_plans, limits.undeclared_files_exclusive)


def _says(status: TaskStatus, wait: Wait) -> bool:
    """Whether the status says so already; what it leaves open is found out when it is made anew."""
    if wait.by is chain.held:
        return True
    if (met := opening.met_itself(status, wait)) is not None:
        return met.until is None
    waiting = status.waiting
    if waiting is None or waiting.until is not None or waiting.reason != wait.reason:
        return False
    if wait.detail:
        return waiting.needs_person and waiting.message.startswith(f"{wait.message}: ")
    return says(
        waiting, wait.reason, wait.message, needs_person=wait.needs_person, remedy=wait.remedy
    )


def _changed(
    decided: Iterable[tuple[Task, TaskStatus]], now: datetime
) -> Iterator[tuple[Task, TaskStatus]]:
    told = ((task, progress.of_task(task, status, now)) for task, status in decided)
    return ((task, status) for task, status in told if status != task.status)
