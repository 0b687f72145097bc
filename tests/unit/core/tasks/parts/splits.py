"""What the tests of a Task that is split decide on."""

from __future__ import annotations

import json
from typing import Any

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Split, Task, TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.documents import SUBTASKS
from bernstein.core.scheduling.parts import names_of
from bernstein.core.snapshot import Handed
from bernstein.core.tasks import decide as task_decide
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    Object,
    at,
    session,
    status,
    work,
)

SHA = "a" * 64
TWO = {"subtasks": [{"title": "The endpoint", "role": "backend"}, {"title": "Its page"}]}
NAMES = names_of(objects.task(), 1, 2)
ROW: Object = {"name": "work", "stage": "build", "step": 0}


def document(value: object = TWO) -> Handed:
    return Handed(json.dumps(value).encode())


LOST = Handed(None)


def left(sha_of_work: str = BASE) -> AgentSession:
    """A session of the Task `work` that has ended and left subtasks."""
    return session(
        state=SessionState.DEAD,
        outcome={"reason": "Succeeded", "started": True},
        work=work(sha_of_work).model_dump(),
        documents=[{"name": SUBTASKS.name, "bytes": 10, "sha256": SHA}],
    )


def plan(*names: str, **spec: Any) -> Plan:
    """The Plan of `work`, with rows for these subtasks of it."""
    rows = [ROW, *({"name": name, "stage": "-", "parent": "work"} for name in names)]
    own = PlanStatus.model_validate({"observed_generation": 1, "tasks": rows})
    return objects.plan(status=own, **spec)


def manager(before: TaskStatus, **spec: Any) -> Task:
    return objects.task(status=before, role="manager", **spec)


def split(state: TaskState = TaskState.WAITING_FOR_SUBTASKS, **more: Any) -> TaskStatus:
    """The status of `work` once it was split."""
    fields: Object = {
        "attempt": 1,
        "split": Split(number=1, session="work-s1", sha256=SHA, since=at(0)).model_dump(),
        "subtasks": [{"name": name} for name in NAMES],
        "verification": objects.verification(sha=BASE, files_changed=0),
    }
    return objects.with_session(state, **(fields | more))


def part(number: int, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    """The subtask of this number, which the Plan owns."""
    own = more.pop("status", None) or status(state)
    return objects.task(NAMES[number - 1], status=own, **more)


def look(
    before: TaskStatus,
    *others: Task,
    seconds: float = 60,
    of: Plan | None = None,
    handed: Handed | None = None,
    spec: Object | None = None,
    **given: Any,
) -> TaskDecision:
    subject = manager(before, **(spec or {}))
    seen = objects.snapshot(subject, others=others, plan=of or plan(*NAMES), handed=handed, **given)
    return task_decide.decide(seen, at(seconds))


def ends(handed: Handed | None, of: AgentSession | None = None, **given: Any) -> TaskStatus:
    """What follows from a session that has left this document."""
    found = look(
        objects.with_session(TaskState.IN_PROGRESS),
        of=given.pop("of", plan()),
        handed=handed,
        sessions=(of or left(),),
        **given,
    )
    assert found.actions == ()
    return found.status


def rows(found: TaskStatus) -> list[tuple[str, str | None, str]]:
    return [(row.name, row.uid, row.state) for row in found.subtasks or ()]


def waiting(*parts: Task, seconds: float = 60, of: Plan | None = None) -> TaskDecision:
    made = [{"name": name, "uid": f"uid-{name}"} for name in NAMES]
    return look(split(subtasks=made), *parts, seconds=seconds, of=of)
