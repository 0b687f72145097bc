"""Whether the Tasks that a Task depends on are Closed, or ever will be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.plans.rows import PlanTask
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskSpec
from bernstein.api.waiting import WaitReason
from bernstein.core import owners
from bernstein.core.fsm import is_final
from bernstein.core.graph import Place
from bernstein.core.sanitise import count
from bernstein.core.sanitise import text as sanitise
from bernstein.core.snapshot import Standing, TaskSnapshot, Upstream
from bernstein.core.waiting import is_stalled, parted

_SHOWN = 10
"""Tasks of a circle that the message names."""
_WAITING = (None, TaskState.OPEN)
_CAUSE = 500
"""Characters of why another one stands still, which may quote a third one."""


class Unmet(NamedTuple):
    """Why a Task waits for others."""

    reason: str
    """DependencyFailed where one will never be Closed; that of one that needs a person; else
    DependencyPending."""
    message: str
    remedy: str | None = None
    """For this very case; None: the reason's."""
    needs_person: bool = True
    detail: str = ""
    """More for the message, in words of others."""


_BREAK = "Apply the Task under a new name with other dependsOn: it cannot be changed in this one."


def unmet(snapshot: TaskSnapshot) -> Unmet | None:
    """Why the Task waits for those that it depends on; None: all are Closed."""
    groups = _upstream(snapshot)
    if isinstance(groups, Unmet):
        return groups
    for group in groups:
        if group.missing is not None:
            text = f"Task '{group.missing}', which this one depends on, does not exist"
            remedy = _remedy_for_missing(snapshot, group.missing)
            return Unmet(Reason.DEPENDENCY_FAILED, text, remedy)
        if group.ended is not None:
            name, state = group.ended.metadata.name, group.ended.status.state
            return _never(f"Task '{name}' ended as {state}")
    return _pending(snapshot, groups)


def _pending(snapshot: TaskSnapshot, groups: list[Upstream]) -> Unmet | None:
    """Why it waits for Tasks that all may be Closed yet."""
    number = sum(len(group.waiting) for group in groups)
    if not number:
        return None
    place = _circle(snapshot)
    if place is not None:
        text = f"Tasks wait for each other in a circle: {_way(place)}"
        return Unmet(Reason.DEPENDENCY_FAILED, text, _BREAK)
    name = next((group.stuck for group in groups if group.stuck is not None), None)
    if name is not None:
        text = f"Task '{name}' itself waits for what never comes"
        return Unmet(Reason.DEPENDENCY_FAILED, text, f"Look at what Task '{name}' waits for.")
    stalled = next((group.stalled for group in groups if group.stalled is not None), None)
    if stalled is not None and owners.plan_of(snapshot.task) is None:
        return _behind(stalled)
    return _for_now(_last_out(snapshot.task.spec, groups))


def _last_out(spec: TaskSpec, groups: list[Upstream]) -> str:
    """What a Task waits for, in words that one of many which is Closed does not change: they would
    be written anew for each that depends on it. They name the last, which mostly ends last."""
    named, *staged = groups
    groups_of = groups_named(spec)
    out = [key for key, group in zip(groups_of, staged, strict=True) if group.waiting]
    if out and spec.depends_on_repo is not None and out[-1] == groups_of[-1]:
        return f"waits for all of the repository '{spec.depends_on_repo}'"
    if out:
        return _depends(len(spec.depends_on_stages), "stage", f"'{out[-1]}'", "done")
    return _depends(len(spec.depends_on), "Task", named.waiting[-1], "Closed")


def _depends(number: int, what: str, last: str, how: str) -> str:
    if number == 1:
        return f"waits for the stage {last}" if what == "stage" else f"waits for {last}"
    return f"depends on {count(number, what)}, of which {last} is not {how} yet"


def _for_now(text: str) -> Unmet:
    return Unmet(WaitReason.DEPENDENCY_PENDING, text, needs_person=False)


def _behind(stalled: Task) -> Unmet:
    """What needs a person for the one needs that for what depends on it. In a Plan, the Plan says
    so."""
    waiting = stalled.status.waiting
    assert waiting is not None
    text = f"Task '{stalled.metadata.name}', which this one depends on, stands still"
    cause, remedy = parted(waiting.message)
    return Unmet(waiting.reason, text, remedy, detail=sanitise(cause, _CAUSE))


def _upstream(snapshot: TaskSnapshot) -> list[Upstream] | Unmet:
    """What it depends on: the Tasks that it names, and those of each group that it names."""
    spec, plan = snapshot.task.spec, snapshot.plan
    groups = [_look(spec.depends_on, snapshot.tasks, snapshot.upstreams.standings)]
    named = groups_named(spec)
    if not named:
        return groups
    if plan is None:
        text = "it depends on stages or on a repository, but belongs to no Plan"
        return Unmet(Reason.DEPENDENCY_FAILED, text, "Apply it under a new name with dependsOn.")
    if not plan.status.expanded:
        return _for_now("its Plan still makes its Tasks")
    for key in named:
        group = _of_group(snapshot, plan, key)
        if group is None and key in spec.depends_on_stages:
            return _never(f"its Plan has no Task of the stage '{key}'")
        if group is None:
            return _never(f"its Plan has no Task in the repository '{spec.depends_on_repo}'")
        groups.append(group)
    return groups


def _look(
    names: Iterable[str], tasks: Mapping[str, Task], standings: dict[str, Standing]
) -> Upstream:
    """`standings`, of these `tasks`, are added to: a name may stand in thousands of lists."""
    waiting: list[str] = []
    stuck: str | None = None
    stalled: Task | None = None
    for name in names:
        stands = standings.get(name)
        if stands is None:
            stands = standings[name] = standing(tasks.get(name))
        if stands is Standing.WAITED_FOR:
            waiting.append(name)
        elif stands is Standing.STUCK:
            stuck = stuck or name
            waiting.append(name)
        elif stands is Standing.STALLED:
            stalled = stalled or tasks[name]
            waiting.append(name)
        elif stands is Standing.MISSING:
            return Upstream(missing=name)
        elif stands is Standing.ENDED:
            return Upstream(ended=tasks[name])
    return Upstream(stuck=stuck, stalled=stalled, waiting=tuple(waiting))


def awaited(task: Task) -> tuple[str, ...]:
    """Names of the Tasks that it is Blocked on."""
    blocked = task.status.blocked
    if task.status.state is not TaskState.BLOCKED or blocked is None:
        return ()
    return blocked.tasks


def standing(task: Task | None) -> Standing:
    """What the Task is to those that wait for it; None: there is no such Task."""
    if task is None:
        return Standing.MISSING
    status = task.status
    if status.state is TaskState.CLOSED:
        return Standing.CLOSED
    if is_final(status, task.spec.max_retries):
        return Standing.ENDED
    waiting = status.waiting
    if waiting is not None and waiting.reason == Reason.DEPENDENCY_FAILED:
        return Standing.STUCK
    return Standing.STALLED if is_stalled(status) else Standing.WAITED_FOR


Read = tuple[object, ...]


def read_of(task: Task | None) -> Read:
    """All that those that depend on the Task read of it: while it is the same, so are their
    answers."""
    stands, uid = standing(task), owners.plan_uid(task) if task is not None else None
    if task is None or stands not in (Standing.ENDED, Standing.STALLED):
        return stands, uid
    waiting = task.status.waiting
    return stands, uid, task.status.state, waiting and (waiting.reason, waiting.message)


def groups_named(spec: TaskSpec) -> tuple[str, ...]:
    """The groups of its Plan's Tasks that it depends on as a whole: stages, and a repository."""
    if spec.depends_on_repo is None:
        return spec.depends_on_stages
    return (*spec.depends_on_stages, _in_repository(spec.depends_on_repo))


def groups_of_task(spec: TaskSpec) -> tuple[str, ...]:
    """The groups of its Plan's Tasks that it is of, as far as it says so itself."""
    where = () if spec.repo is None else (_in_repository(spec.repo),)
    return where if spec.stage is None else (spec.stage, *where)


def _in_repository(name: str) -> str:
    """The group of all Tasks there; no stage is called so, as their names are one line."""
    return f"\n{name}"


def groups_of(row: PlanTask) -> tuple[str, ...]:
    """The groups that the Task of a row belongs to."""
    return (row.stage,) if row.repository is None else (row.stage, _in_repository(row.repository))


def rows_by_group(plan: Plan) -> dict[str, list[str]]:
    """Names of the Tasks of each group, as the Plan's rows name them."""
    names: dict[str, list[str]] = {}
    for row in plan.status.tasks:
        if row.step is not None or not plan.status.is_mapped:
            for group in groups_of(row):
                names.setdefault(group, []).append(row.name)
    return names


def _of_group(snapshot: TaskSnapshot, plan: Plan, stage: str) -> Upstream | None:
    """The Tasks of one group, as the Plan's rows name them; only those that the Plan owns count."""
    upstreams, uid = snapshot.upstreams, plan.metadata.uid
    if uid not in upstreams.rows:
        upstreams.rows[uid] = rows_by_group(plan)
    names = upstreams.rows[uid].get(stage)
    if names is None:
        return None
    known = upstreams.stages.setdefault(uid, {})
    if stage not in known:
        named = ((name, snapshot.tasks.get(name)) for name in names)
        owned = {n: task for n, task in named if task is not None and owners.plan_uid(task) == uid}
        known[stage] = _look(names, owned, {})
    return known[stage]


def _never(message: str) -> Unmet:
    return Unmet(Reason.DEPENDENCY_FAILED, message)


def _remedy_for_missing(snapshot: TaskSnapshot, name: str) -> str | None:
    """A Plan does not make a deleted Task again."""
    if owners.plan_of(snapshot.task) is not None:
        return None
    return f"Apply Task '{name}', or apply this one under a new name without it in dependsOn."


def _circle(snapshot: TaskSnapshot) -> Place | None:
    """Where the Task stands in a circle of Tasks that wait for each other; None: in none."""
    if owners.plan_of(snapshot.task) is not None:
        return None
    return snapshot.upstreams.circles.get(snapshot.task.metadata.name)


def named_alone(task: Task | None) -> tuple[str, ...]:
    """The Tasks that it names while it waits, if it has no Plan: a Plan is checked before its are
    made."""
    if task is None or task.status.state not in _WAITING or owners.plan_of(task) is not None:
        return ()
    return task.spec.depends_on


def _way(place: Place) -> str:
    """The way from the Task back to itself; in the middle of a long one the number that is left
    out."""
    ring, at = place
    left_out = len(ring) - _SHOWN
    ahead = (ring[(at + n) % len(ring)] for n in range(min(len(ring), _SHOWN)))
    dots = (f"({left_out} more)",) if left_out > 0 else ()
    return " → ".join((*ahead, *dots, ring[at]))
