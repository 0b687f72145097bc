"""Conflicts of a Plan's work with its branch that a Task resolves: made, watched, given up.

    Preparing ──▶ Conflicted ──▶ a row for a Task, in the Plan's status (`begun`)
                      ▲                │  `step` makes it, and looks at it
                      │                ▼
                      │          it lands in the integration ref, as a merge with the branch
                      │                │
                      └────────────────┴──▶ a candidate is made anew

One for each pair of commits, and MOST for a Plan. Who waits for people as without it: a Plan whose
Task has ended without result, or that has had so many.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND, TASK_KIND
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import MAX_ROWS, PlanTask, Resolves
from bernstein.api.reasons import Reason
from bernstein.api.signals import MOST_PATTERN_CHARACTERS, Signal
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskSpec
from bernstein.api.waiting import Cancel
from bernstein.checks.globs import first_wildcard
from bernstein.core import labels, names
from bernstein.core.actions import CancelTasks, CreateTasks, PlanDecision
from bernstein.core.delivery import conflict, landing
from bernstein.core.delivery.retry import tried_again
from bernstein.core.delivery.way import Conflicted
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.fsm import is_final
from bernstein.core.owners import owner_reference
from bernstein.core.sanitise import line, some
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected.plan import signals_of
from bernstein.core.waiting import goes_on, held, seconds_left

MOST = 3
"""Tasks that are made for conflicts of one Plan."""
_RETRIES = 1
_SIGNALS = 20
_ASKED, _ASKED_CHARACTERS = 25, 200
_GIVEN_UP = Cancel(reason="it has not resolved the conflict", by="operator")
_DESCRIPTION = """\
While this plan was at work, the branch '{branch}' has moved, and what the plan's tasks have done
does not merge with it. Resolve the conflict, in the files that are yours to change.
"""


def marks(snapshot: PlanSnapshot, status: PlanStatus) -> str | None:
    """Where both sides of a conflict are put; None: nobody is to resolve it."""
    project, begun = snapshot.project, status.integration
    if project is None or begun is None or status.partial is not None:
        return None
    if project.spec.merge.conflicts != "Resolve":
        return None
    full = len(status.resolvers) >= MOST or len(status.tasks) >= MAX_ROWS
    return None if full else names.marks_ref(begun.ref)


def begun(
    snapshot: PlanSnapshot, status: PlanStatus, met: Conflicted[PlanStatus]
) -> PlanStatus | None:
    """The status with a row for the Task that is to resolve it; None: there is to be none."""
    ref, integration, delivery = marks(snapshot, status), status.integration, status.delivery
    if ref is None or not met.marked or integration is None or delivery is None:
        return None
    onto, base = delivery.tip, integration.tip
    tried = {(each.resolves.onto, each.resolves.base) for each in status.resolvers if each.resolves}
    if onto is None or (onto, base) in tried:
        return None
    resolves = Resolves(ref=ref, sha=met.marked, onto=onto, base=base, files=met.files)
    row = PlanTask(
        name=names.resolver(snapshot.plan.metadata.name, len(tried) + 1, snapshot.place),
        stage="-",
        repository=status.tasks[0].repository,
        resolves=resolves,
    )
    status = goes_on(status).model_copy(update={"tasks": (*status.tasks, row)})
    # What was judged lacks what the Task is going to land.
    return status if status.verification is None else landing.on_newer_tip(status)


def back(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan that goes on to be delivered, or to wait, once that Task has ended."""
    row = status.resolvers[-1] if status.resolvers else None
    delivery = status.delivery
    if row is None or row.resolves is None or delivery is None:
        return status
    if delivery.state != "Conflict" or delivery.tip != row.resolves.onto:
        return status
    if row.state == TaskState.CLOSED:
        return goes_on(status)
    waiting = status.waiting
    if (
        waiting is not None
        and waiting.reason == Reason.MERGE_CONFLICT
        and waiting.until is not None
    ):
        return status
    return stands(snapshot, status, delivery.message or "", now)


def stands(snapshot: PlanSnapshot, status: PlanStatus, text: str, now: datetime) -> PlanStatus:
    """The status of a Plan in conflict: the merge alone is tried again after a while, as somebody
    may mend the branch."""
    tried = [f"'{row.name}'" for row in status.resolvers if row.state != TaskState.CLOSED]
    if tried:
        which = some(tried, len(tried))
        text = f"{text}; of its own Tasks, which were to resolve that, no result came: {which}"
    return held(status, Reason.MERGE_CONFLICT, text, snapshot.project, now)


# --- the Task -------------------------------------------------------------------------------------


def step(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision | None:
    """What is done about the last such Task; None: it is at work, or over, or there is none."""
    row = status.resolvers[-1] if status.resolvers else None
    if row is None or row.state == TaskState.CLOSED:
        return None
    task = snapshot.tasks.get(row.name)
    if task is None:
        return make(snapshot, status, row, task_of, now) if row.uid is None else None
    if task.status.state is TaskState.CANCELLED:
        return None
    asked = task.spec.cancel is not None
    if not asked and not has_ended_badly(task):
        return None
    # It gets no other round while the merge alone is tried: it would land beside that.
    actions = () if asked else (CancelTasks((row.name,), _GIVEN_UP),)
    return PlanDecision(goes_on(status).model_copy(update={"phase": "Running"}), actions)


def is_whole(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """All its Tasks have landed, but for those of no step that came to nothing."""
    counts = status.counts
    given_up = sum(_is_given_up(snapshot, row) for row in status.extra)
    return counts.total > 0 and counts.closed + given_up == counts.total


def is_over(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """Each of those of no step has landed, or come to nothing."""
    return all(r.state == TaskState.CLOSED or _is_given_up(snapshot, r) for r in status.extra)


def _is_given_up(snapshot: PlanSnapshot, row: PlanTask) -> bool:
    if row.state == TaskState.CLOSED:
        return False
    gone = snapshot.tasks.get(row.name) is None and row.uid is not None
    return gone or row.state == TaskState.CANCELLED


def has_ended_badly(task: Task) -> bool:
    """It goes on by itself no more, and has not landed."""
    failed = task.status.state is TaskState.FAILED
    final = failed and is_final(task.status, task.spec.max_retries)
    return final or conflict.is_stalled(task.status)


def make(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    row: PlanTask,
    task_of: Callable[[PlanSnapshot, PlanTask], dict[str, Any]],
    now: datetime,
) -> PlanDecision:
    """The Task of a row is asked for."""
    return made(snapshot, status, (task_of(snapshot, row),), now)


def made(
    snapshot: PlanSnapshot, status: PlanStatus, tasks: tuple[dict[str, Any], ...], now: datetime
) -> PlanDecision:
    """These Tasks are asked for; where the API server refuses one, after a while again."""
    seconds = seconds_left(status.waiting, snapshot.project, now)
    if seconds is not None:
        return PlanDecision(status, (), seconds)
    if snapshot.refused is not None:
        problem = Diagnosis(Reason.POD_REJECTED, snapshot.refused)
        stalled = status.model_copy(update={"phase": "Stalled"})
        resting = snapshot.resting
        return PlanDecision(tried_again(stalled, problem, snapshot.project, now, resting=resting))
    running = goes_on(status).model_copy(update={"phase": "Running"})
    return PlanDecision(running, (CreateTasks(tasks),))


def task_of(snapshot: PlanSnapshot, row: PlanTask) -> dict[str, Any]:
    """The object of the Task; the same row always gives the same one."""
    resolves, begun = row.resolves, snapshot.plan.status.integration
    assert resolves is not None
    branch = names.branch_of(begun.target if begun is not None else None)
    title, told = f"Resolve the conflict with '{branch}'", _DESCRIPTION.format(branch=branch)
    return extra_task(snapshot, row, title, told, files=_files(resolves.files))


def extra_task(
    snapshot: PlanSnapshot, row: PlanTask, title: str, told: str, files: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The object of a Task of no step; the same row and words always give the same one."""
    plan, project = snapshot.plan, snapshot.project
    assert project is not None
    meta = plan.metadata
    first = next((work.given.cli for work in plan.spec.work if work.given.cli), None)
    spec = TaskSpec(
        title=line(title, 300),
        description=_description(snapshot, told),
        goal=plan.spec.name,
        cli=plan.spec.cli or first,
        project_ref=project.metadata.name,
        repo=row.repository,
        priority=1,
        scope="small",
        files=files,
        completion_signals=_signals(signals_of(snapshot)),
        constraints=plan.spec.constraints,
        max_retries=_RETRIES,
    )
    return {
        "apiVersion": API_VERSION,
        "kind": TASK_KIND,
        "metadata": {
            "name": row.name,
            "namespace": meta.namespace,
            "labels": {
                labels.MANAGED_BY: labels.MANAGER,
                labels.PLAN: names.label_value(meta.name),
            },
            "ownerReferences": [owner_reference(PLAN_KIND, meta.name, meta.uid)],
        },
        "spec": {key: value for key, value in spec.dump().items() if value != []},
    }


def _description(snapshot: PlanSnapshot, told: str) -> str:
    work = snapshot.plan.spec.work
    headings = [line(each.given.heading, _ASKED_CHARACTERS) for each in work]
    listed = [f"- {heading}" for heading in headings[:_ASKED]]
    more = [f"- and {len(headings) - _ASKED} more"] if len(headings) > _ASKED else []
    asked = "\n".join(("What the plan's tasks were asked:", *listed, *more))
    return f"{told}\n{asked}"


def _files(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Those that a list of files can name; where it cannot name all, the Task declares none."""
    plain = all(
        first_wildcard(path) is None and path == path.strip() and path.isprintable()
        for path in paths
    )
    return paths if plain else ()


def _signals(signals: tuple[Signal, ...]) -> tuple[Signal, ...]:
    """As many of those of the Plan's Tasks as one Task may have."""
    found: list[Signal] = []
    room = MOST_PATTERN_CHARACTERS
    for signal in signals:
        size = len(signal.contains or "") if signal.regex else 0
        if size <= room:
            found.append(signal)
            room -= size
    return tuple(found[:_SIGNALS])
