"""A Plan whose work goes to a pull request, at each of its moments."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import PlanStatus
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.projects.watching import (
    PullRequestWatch,
    WatchedPullRequest,
)
from bernstein.api.projects.workplace import Workplace
from bernstein.core.actions import PlanDecision
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.delivery.plans import landing, look, step
from tests.unit.core.objects import (
    PLAN_UID,
    result_job,
    sha,
)

BRANCH = f"refs/heads/bernstein/web-{PLAN_UID.replace('-', '')[:8]}"
URL = "https://git.example/app/pulls/7"
FORGE = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
LANDING = step("Landing")


def project(watch: PullRequestWatch | None = None, **pulls: Any) -> Workplace:
    plain = objects.project()
    (repository,) = plain.spec.repositories
    found = objects.project(
        repositories=[{**repository.dump(), "forge": FORGE}],
        merge={"strategy": "pr", **({"pullRequest": pulls} if pulls else {})},
    )
    status = found.status.model_copy(update={"watch": watch})
    return found.model_copy(update={"status": status})


def seen(
    status: PlanStatus | None, *jobs: JobView, of: Workplace | None = None, **more: Any
) -> PlanDecision:
    return look(status, *jobs, project=of or project(), **more)


def proposing(**more: Any) -> PlanStatus:
    begun = seen(LANDING.model_copy(update={"delivery": with_branch()})).status
    pushed = seen(begun, landing(tip=sha(2))).status
    assert pushed.delivery is not None
    return pushed.model_copy(update={"delivery": pushed.delivery.model_copy(update=more)})


def with_branch() -> Any:
    assert LANDING.delivery is not None
    return LANDING.delivery.model_copy(update={"branch": BRANCH})


def proposed(state: str = "Open", at_sha: str | None = None, number: int = 7) -> JobView:
    pull = SeenPullRequest(number, state, at_sha or sha(2))
    return result_job("web-propose-2", "propose", ProposeResult(pull, URL))


def opened() -> PlanStatus:
    return seen(proposing(), proposed()).status


def watched(state: str, at_sha: str | None = None, **more: Any) -> Workplace:
    said = {"state": state, "sha": at_sha or sha(2), "base": more.pop("base", "main")}
    said |= {name: more.pop(name, None) for name in ("ci", "unread")}
    said |= {"repository": "app", "number": more.pop("number", 7)}
    row = WatchedPullRequest.model_validate(said)
    return project(PullRequestWatch(pull_requests=(row,), **more))
