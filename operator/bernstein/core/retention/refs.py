"""Which refs a Plan, a Task or a session has, each with the commit that is written down of it.

Nothing else is ever deleted. Whoever pushes below `refs/bernstein/` may make any ref there: none is
looked for, and one that is elsewhere than it was left stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from bernstein.api.integration import RepositoryStatus
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Verification
from bernstein.core import names, owners
from bernstein.core.tasks.retention import ended_at

PHASES = ("Succeeded", "DeliveredPartially", "Cancelled")
STATES = (TaskState.CLOSED, TaskState.CANCELLED)
"""Ends from which nothing goes on: what has failed may be tried again, and needs its refs then."""


class Ref(NamedTuple):
    """A ref, and where it was left."""

    ref: str
    sha: str


def of_plan(plan: Plan) -> Mapping[str | None, frozenset[Ref]]:
    """Its own, without those of its Tasks, by the repository that they are in, as the Plan names
    it; None: it does not."""
    status = plan.status
    if not status.repositories:
        return {repository_of(plan): _of_row(plan, status, status.resolvers)}
    return {
        row.name: _of_row(
            plan, row, [each for each in status.resolvers if each.repository == row.name]
        )
        for row in status.repositories
    }


def _of_row(
    plan: Plan, of: PlanStatus | RepositoryStatus, resolvers: Iterable[PlanTask]
) -> frozenset[Ref]:
    found = [*_of_verification(of.verification)]
    if of.integration is not None:
        found.append((of.integration.ref, of.integration.tip))
    resolves = (row.resolves for row in resolvers)
    found += [(each.ref, each.sha) for each in resolves if each is not None]
    return _within(names.refs_of(plan.metadata.uid), found)


def of_task(task: Task) -> frozenset[Ref]:
    """Those that its status names."""
    status = task.status
    found = [*_of_verification(status.verification)]
    if status.rejected is not None:
        found.append((status.rejected.ref, status.rejected.sha))
    if status.checkpoint is not None and status.checkpoint_sha is not None:
        found.append((status.checkpoint, status.checkpoint_sha))
    return _within(folder_of_task(task), found)


def of_session(session: AgentSession) -> frozenset[Ref]:
    """The one that it has pushed to."""
    work = session.status.work
    if work is None or work.ref != session.spec.work_ref:
        return frozenset()
    return _within(folder_of_session(session), [(work.ref, work.sha)])


def folder_of_task(task: Task) -> str:
    """The folder of its refs: its Plan's, or its own."""
    owner = owners.plan_of(task)
    return names.refs_of(owner.uid if owner is not None else task.metadata.uid)


def folder_of(ref: str) -> str:
    """The folder of the Plan or Task that the ref belongs to."""
    return "/".join(ref.split("/")[:3])


def folder_of_session(session: AgentSession) -> str:
    plan = session.spec.plan_ref
    return names.refs_of(plan.uid if plan is not None else session.spec.task_ref.uid)


def _of_verification(judged: Verification | None) -> Iterator[tuple[str, str]]:
    if judged is None:
        return
    yield judged.ref, judged.sha
    formatted = judged.formatting.work if judged.formatting is not None else None
    for origin in (judged.origin, formatted):
        if origin is not None:
            yield origin.ref, origin.sha


def _within(folder: str, found: Iterable[tuple[str, str]]) -> frozenset[Ref]:
    """What of it is in the owner's own folder: statuses name refs of others, too, such as the
    branch, and an older release had some where those of another Plan may be."""
    its = ((ref, sha) for ref, sha in found if ref.startswith(f"{folder}/"))
    return frozenset(Ref(ref, sha) for ref, sha in its if names.is_of_owner(ref))


def has_finished(owner: Plan | Task) -> datetime | None:
    """When it ended, where nothing goes on from there; None: it has not, or it is being deleted."""
    if owner.metadata.deletion_timestamp is not None:
        return None
    if isinstance(owner, Plan):
        return owner.status.ended_at if owner.status.phase in PHASES else None
    return ended_at(owner) if owner.status.state in STATES else None


def has_landed(owner: Plan | Task) -> bool:
    """Whether all of its work is where it belongs: what is left on its refs is of no use."""
    if isinstance(owner, Plan):
        return owner.status.phase == "Succeeded"
    return owner.status.state is TaskState.CLOSED


def is_held(
    owner: Plan | Task | None,
    tasks: Iterable[Task],
    sessions: Iterable[AgentSession],
    seconds: int,
    now: datetime,
) -> bool:
    """Whether anybody may still need a ref of a folder. `owner`: the Plan, or the Task without one,
    whose folder it is; None: it is gone. `tasks` and `sessions` are those of the folder that there
    are."""
    if owner is not None:
        ended = has_finished(owner)
        if ended is None or now < ended + timedelta(seconds=seconds):
            return True
    # Where the Plan is gone its Tasks go, too; while they are there they are left in peace.
    if any(owner is None or ended_at(task) is None for task in tasks):
        return True
    return any(session.status.state is not SessionState.DEAD for session in sessions)


def repository_of(owner: Plan | Task) -> str | None:
    """The repository that its refs are in, as it names that; None: it does not."""
    if isinstance(owner, Task):
        return owner.spec.repo
    begun = owner.status.integration
    if begun is not None and begun.repository is not None:
        return begun.repository
    return next((each.path for each in owner.spec.repos), None)
