"""What a session left beside its code: what its status says of that, and when it is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.pod import RECORDER, LeftDocument
from bernstein.api.session import AgentSessionStatus, KeptDocument
from bernstein.api.states import SessionState
from bernstein.api.task import Output
from bernstein.core import pods
from bernstein.core.documents import DOCUMENTS, MOST_BYTES, OUTPUT, PLAN, SUBTASKS
from bernstein.core.jobs import JobView
from bernstein.core.sessions.actions import KeepDocuments
from bernstein.core.snapshot import TaskSnapshot

PATIENCE_SECONDS = 300
"""From the end of its recorder on: for so long the end of the session waits for a node that does
not tell what was left."""
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SPLITS = "manager"
"""The role whose work may be to split a Task."""
_NAMES = tuple(document.name for document in DOCUMENTS)


def expected(snapshot: TaskSnapshot) -> tuple[str, ...]:
    """Names of the documents that a session of this Task may leave, but for its output."""
    found = (PLAN,) if snapshot.task.spec.produces else (SUBTASKS,) * bool(most_subtasks(snapshot))
    return tuple(document.name for document in found)


def most_subtasks(snapshot: TaskSnapshot) -> int:
    """How many subtasks the Task may be split into; 0: it is not to be split.

    They land in the integration ref of a Plan. A Task without one has none; nor has one of a Plan
    whose Tasks are delivered each by itself: half of what was asked for would be. What a workflow
    does is said by its nodes, and by no agent of one.
    """
    task, plan, project = snapshot.task, snapshot.plan, snapshot.project
    if task.spec.role != _SPLITS or task.spec.changes == "none" or snapshot.resolves is not None:
        return 0
    if plan is None or project is None or snapshot.delivers or not plan.status.is_mapped:
        return 0
    if plan.spec.workflow is not None:
        return 0
    limits = project.spec.limits.subtasks
    room = MAX_ROWS - len(plan.status.tasks)
    return min(limits.count, room) if snapshot.depth < limits.depth else 0


def of_session(left: Iterable[LeftDocument]) -> tuple[KeptDocument, ...]:
    """What its recorder has told, as far as we know such documents."""
    told = {each.name: each for each in left if _is_possible(each)}
    kept = (told[name] for name in _NAMES if name in told)
    return tuple(KeptDocument(name=each.name, bytes=each.size, sha256=each.sha256) for each in kept)


def _is_possible(left: LeftDocument) -> bool:
    return 0 <= left.size <= MOST_BYTES and _DIGEST.fullmatch(left.sha256) is not None


def to_keep(
    before: AgentSessionStatus, after: AgentSessionStatus, job: JobView | None, now: datetime
) -> KeepDocuments | None:
    """What is to be done before the status becomes `after`."""
    if before.state is SessionState.DEAD or not after.documents or job is None or job.pod is None:
        return None
    ended = (pods.terminated(job.pod, RECORDER) or {}).get("finishedAt")
    until = pods.parse_time(ended) + timedelta(seconds=PATIENCE_SECONDS) if ended else now
    return KeepDocuments(job.pod, after.documents, again=now < until)


def subtasks_of(status: AgentSessionStatus) -> KeptDocument | None:
    """The subtasks that this session left."""
    return next((each for each in status.documents or () if each.name == SUBTASKS.name), None)


def output_of(session: str, status: AgentSessionStatus) -> Output | None:
    """What the Task's status says of the values that this session left."""
    found = next((each for each in status.documents or () if each.name == OUTPUT.name), None)
    return Output(session=session, bytes=found.bytes, sha256=found.sha256) if found else None
