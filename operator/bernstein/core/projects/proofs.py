"""What has gone well of a Project since its probe looked: that may have mended what it found.

A Plan that begins reads the branch and pushes with the account `work`; the agent of a Task without
a Plan starts once `read` has fetched the branch. What a probe has found of the same account, or of
the branch or the git server, may be over then, and is looked at anew soon. Where the server does
not answer to `deliver`, that may concern its pushes alone: only what it gets done itself would
disprove it, and none of that is seen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.project import ProbeFinding, Project
from bernstein.api.projects.accounts import ACCOUNTS, DELIVER, READ, WORK, parted, subject
from bernstein.api.projects.repository import Repository
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.projects import repositories


def begun(plan: Plan) -> datetime | None:
    """When it began; None: it has not, or nobody knows."""
    return plan.status.integration.since if plan.status.integration is not None else None


def _begun_in(
    plan: Plan, project: Project
) -> Iterator[tuple[str, Repository | None, datetime | None]]:
    """The same in each repository that it works in."""
    for row in plan.status.repositories:
        since = row.integration.since if row.integration is not None else None
        yield WORK, repositories.find(project.spec, row.name), since
    if not plan.status.repositories:
        yield WORK, repositories.of_plan(plan, project), begun(plan)


def started(task: Task) -> datetime | None:
    """When the agent of a Task without a Plan has started that is at work; None: there is none."""
    if task.status.state is not TaskState.IN_PROGRESS or owners.plan_of(task) is not None:
        return None
    moves = reversed(task.status.history)
    return next((move.time for move in moves if move.to_state == TaskState.IN_PROGRESS), None)


def proofs(
    project: Project, plans: Iterable[Plan], tasks: Iterable[Task]
) -> Mapping[str, datetime]:
    """When an account was last seen to get on, by its subject, of these Plans and Tasks."""
    last: dict[str, datetime] = {}
    seen = [each for plan in plans for each in _begun_in(plan, project)]
    seen += [(READ, repositories.of_task(task, None, project), started(task)) for task in tasks]
    for account, repository, time in seen:
        if repository is not None and time is not None:
            told = subject(project.spec, repository.name, account)
            last[told] = max(time, last.get(told, time))
    return last


def against(findings: Iterable[ProbeFinding], proofs: Mapping[str, datetime]) -> datetime | None:
    """When something last went well that speaks against one of the findings; None: nothing has."""
    times = [
        time
        for finding in findings
        for account, time in proofs.items()
        if _disproves(account, finding)
    ]
    return max(times, default=None)


def _disproves(account: str, finding: ProbeFinding) -> bool:
    """Whether it is over, as far as an account knows that gets on."""
    found, repository = parted(finding.subject)
    if found in ACCOUNTS and repository != parted(account)[1]:
        return False
    if finding.reason == Reason.REPOSITORY_UNREACHABLE and found != DELIVER:
        return True
    return finding.reason == Reason.REF_NOT_FOUND or finding.subject == account
