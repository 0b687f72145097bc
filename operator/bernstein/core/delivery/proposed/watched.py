"""A pull request as the Project's watch has seen it last."""

from __future__ import annotations

from bernstein.api.delivery import PullRequest
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.core.projects import repositories


def watch_of(project: Workplace) -> PullRequestWatch:
    """What was seen in the repository that the Project has now."""
    repository = project.spec.repository
    watch = project.status.watch_of(repository.name)
    if watch is None or watch.at not in (None, repositories.digest(repository)):
        return PullRequestWatch()
    return watch


def row_of(pull: PullRequest, project: Workplace) -> WatchedPullRequest | None:
    rows = watch_of(project).pull_requests
    return next((row for row in rows if row.number == pull.number), None)
