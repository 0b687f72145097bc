"""Where work is that was paid for and has not been delivered, and how anybody can have it."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.integration import Integration
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.session import AgentSession
from bernstein.api.task import TaskStatus
from bernstein.api.verification import RejectedWork
from bernstein.core.projects import repositories
from bernstein.core.verification.candidate import is_of_people, origin_of


def fetch(project: Workplace | None, ref: str) -> str:
    """The command that brings a ref into a repository: it is in `FETCH_HEAD` then."""
    where = repositories.url_of(project.spec.repository, ref) if project is not None else "origin"
    return f"git fetch {where} {ref}"


def of_task(
    status: TaskStatus, session: AgentSession | None, project: Workplace | None
) -> str | None:
    """The command that fetches what the last attempt of a Task left; None: it left nothing."""
    ref = _ref(status, session)
    return None if ref is None else fetch(project, ref)


def _ref(status: TaskStatus, session: AgentSession | None) -> str | None:
    if status.verification is not None:
        return origin_of(status.verification).ref
    work = session.status.work if session is not None else None
    if work is not None and work.sha != work.base:
        return work.ref
    return status.checkpoint


@dataclass(frozen=True)
class Commits:
    """What a Task has left, and what that stands on."""

    ref: str
    """Where the newer one is."""
    sha: str
    base: str


def commits_of_task(status: TaskStatus, session: AgentSession | None) -> Commits | None:
    """What is or was judged last of a Task, else what its last session has left; None: nothing."""
    judged = status.verification
    if judged is not None:
        return Commits(judged.ref, judged.sha, judged.base)
    work = session.status.work if session is not None else None
    return None if work is None else Commits(work.ref, work.sha, work.base)


def rejected_of_session(session: AgentSession | None) -> RejectedWork | None:
    """The commit of a session whose attempt failed; None: it changed nothing, or pushed nothing."""
    work = session.status.work if session is not None else None
    if work is None or work.sha == work.base:
        return None
    return RejectedWork(ref=work.ref, sha=work.sha)


def rejected_of_task(status: TaskStatus) -> RejectedWork | None:
    """The commit of the session whose work was judged, or does not merge; None: it is the base, or
    is what people have pushed."""
    judged = status.verification
    if judged is None or is_of_people(judged):
        return None
    origin = origin_of(judged)
    if origin.sha == judged.base:
        return None
    return RejectedWork(ref=origin.ref, sha=origin.sha)


def of_plan(plan: Plan, status: PlanStatus, project: Project | None) -> tuple[str, ...]:
    """The commands that fetch what the Tasks of a Plan have landed, one for each repository in
    which something has."""
    if not status.repositories:
        its = repositories.place_of_plan(plan, project)
        return _landed(status.integration, its)
    found: list[str] = []
    for row in status.repositories:
        is_there = project is not None and repositories.find(project.spec, row.name) is not None
        its = at(project, row.name) if project is not None and is_there else None
        found += _landed(row.integration, its)
    return tuple(found)


def _landed(begun: Integration | None, project: Workplace | None) -> tuple[str, ...]:
    return () if begun is None or begun.sha is None else (fetch(project, begun.ref),)
