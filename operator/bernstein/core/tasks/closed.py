"""Whether there is anything to do about a Task that is Closed, told by few of its fields.

Thousands are Closed, and a replica that begins to lead has to look at each: whoever led before may
have died before it wrote or deleted what it had to. To read all of one and to decide about it takes
four times as long as this. What `decide` comes to is what counts: nothing is left out here that it
would do, and where this does not know, it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import owners, progress
from bernstein.core.approvals import asking
from bernstein.core.projects import repositories
from bernstein.core.tasks import retention

AT_ONCE = 0.0


class Ended(NamedTuple):
    """What is remembered of one whose status says all that there is to say."""

    at: datetime
    project: str
    project_uid: str
    repo: str | None
    """The repository that it names."""
    plan: str | None
    """The name of the Plan that owns it."""
    stands_alone: bool
    """Its Project says how long it is kept."""


@dataclass(frozen=True, slots=True)
class Around:
    """What there is beside it at the time of the look."""

    projects: Mapping[str, Project]
    """Of its namespace, by name."""
    plan: Plan | None
    """The one that has the name of its owner."""
    sessions: int
    """How many it owns."""
    has_jobs: bool
    """A Job or pod of its own is there, or was a moment ago."""
    has_dependants: bool
    """Another Task depends on it by name."""


def read(task: Mapping[str, Any]) -> tuple[Ended, TaskStatus] | None:
    """Of a Task as it is served, what is remembered and its status; None: it is not Closed, or
    something is left to be written about it whatever else there is."""
    meta, spec, said = task["metadata"], task["spec"], task.get("status") or {}
    if said.get("state") != TaskState.CLOSED or "deletionTimestamp" in meta or spec.get("requests"):
        return None
    status = TaskStatus.model_validate(said)
    ended, project, uid = status.ended_at, status.project, status.project_uid
    if ended is None or project is None or uid is None:
        return None
    if status.observed_generation != meta.get("generation") or not _is_told(status, ended):
        return None
    # What an older release has written may lack a field that is written now.
    if status.dump() != said:
        return None
    plan = next((o["name"] for o in meta.get("ownerReferences", ()) if _is_plan(o)), None)
    return Ended(ended, project, uid, spec.get("repo"), plan, _stands_alone(meta)), status


def _is_told(status: TaskStatus, now: datetime) -> bool:
    if status.waiting is not None or asking.withdrawn(status) is not status:
        return False
    return progress.of_closed(status, now) is status


def _is_plan(owner: Mapping[str, Any]) -> bool:
    return bool(owner.get("controller")) and owners.is_plan(owner["apiVersion"], owner["kind"])


def _stands_alone(meta: Mapping[str, Any]) -> bool:
    """The same as `retention.stands_alone`, of metadata as they are served."""
    marks = {*(meta.get("labels") or ()), *(meta.get("annotations") or ())}
    return not meta.get("ownerReferences") and marks.isdisjoint(retention.DELIVERED_BY)


def seconds_left(ended: Ended, around: Around, now: datetime) -> float:
    """In how many seconds something may have to be done, where nothing changes; 0: at once, as far
    as is known here; infinite: never."""
    project = around.projects.get(ended.project)
    if around.has_jobs or not _keeps_sessions(project, around.sessions):
        return AT_ONCE
    if around.plan is not None and around.plan.status.project not in (None, ended.project):
        return AT_ONCE
    if not ended.stands_alone:
        return math.inf
    if around.has_dependants:
        return AT_ONCE
    seconds = retention.kept_by(_its(project, ended)).tasks_seconds
    if not seconds:
        return math.inf
    return max(AT_ONCE, (ended.at + timedelta(seconds=seconds) - now).total_seconds())


def _keeps_sessions(project: Project | None, number: int) -> bool:
    """Whether none is to be deleted, however many of them have started no agent."""
    return project is None or number <= project.spec.retention.unstarted_sessions


def _its(project: Project | None, ended: Ended) -> Project | None:
    """The Project of this name, where it is the one that the Task began under, and has its
    repository."""
    if project is None or project.metadata.deletion_timestamp is not None:
        return None
    if project.metadata.uid != ended.project_uid:
        return None
    return project if repositories.find(project.spec, ended.repo) is not None else None
