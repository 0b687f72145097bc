"""A Plan in two repositories, as its decision sees it."""

from __future__ import annotations

from typing import Any

from bernstein.api.integration import Integration, RepositoryStatus
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.project import Project
from bernstein.api.task import Task
from bernstein.core import names
from bernstein.core.actions import PlanDecision
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide
from tests.unit.core import objects
from tests.unit.core.objects import BASE, PLAN_UID, at, closed

ONTO = "refs/heads/main"
REFS = [names.integration_ref(PLAN_UID, place) for place in (None, 1)]
STAGES = [
    {"name": "serve", "steps": [{"title": "Serve"}]},
    {"name": "show", "repo": "site", "dependsOn": [], "steps": [{"title": "Show"}]},
]
REPOS = [{"path": "api"}, {"path": "web", "name": "site"}]


def project(*, forge: bool = False, **spec: Any) -> Project:
    on = {"forge": {"type": "gitea", "token": {"name": "forge", "key": "token"}}} if forge else {}
    account = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
    listed = [
        {"name": name, "url": f"https://git.example/{name}.git", "credentials": account} | on
        for name in ("api", "web")
    ]
    return objects.project(repositories=listed, **spec).whole


def landed(number: int, repo: str, ref: str, **spec: Any) -> Task:
    """A Task whose work is the only one in this ref."""
    status = closed(number, landed_at=at(-10))
    assert status.verification is not None
    assert status.delivery is not None
    judged = status.verification.model_copy(update={"base": BASE})
    onto = status.delivery.model_copy(update={"onto": ref})
    status = status.model_copy(update={"verification": judged, "delivery": onto})
    return objects.task(f"t{number}", status=status, repo=repo, **spec)


TASKS = (landed(1, "api", REFS[0]), landed(2, "web", REFS[1]))


def begun(*tasks: Task) -> PlanStatus:
    """It has begun in both, and nothing is delivered."""
    rows = tuple(
        RepositoryStatus(
            name=name,
            integration=Integration(
                repository=name, ref=ref, target=ONTO, target_sha=BASE, place=place
            ),
        )
        for name, ref, place in zip(("api", "web"), REFS, (None, 1), strict=True)
    )
    steps = tuple(
        PlanTask(name=task.metadata.name, stage="-", step=0, repository=task.spec.repo)
        for task in tasks or TASKS
    )
    return PlanStatus(
        repositories=rows, integration=rows[0].integration, expanded=True, tasks=steps
    )


def look(
    status: PlanStatus,
    *jobs: JobView,
    tasks: tuple[Task, ...] = TASKS,
    of: Project | None = None,
    **spec: Any,
) -> PlanDecision:
    said: Any = {"stages": STAGES, "repos": REPOS} | spec
    plan = objects.plan(status=status, begun=False, **said)
    known = objects.plan_snapshot(plan, *tasks, jobs=jobs, project=of or project())
    return decide.decide(known, at(0))
