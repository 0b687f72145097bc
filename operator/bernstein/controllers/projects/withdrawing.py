"""What the closing of a Project's pull requests looks at, from the caches."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from bernstein.api.projects.closing import RequestToClose
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.caches.left_requests import LeftRequests
from bernstein.controllers.projects.pruning import may_be_in
from bernstein.core.projects import repositories
from bernstein.core.retention.withdrawing import OPENING_SECONDS, home


def departed(project: Workplace, left: LeftRequests) -> Iterator[RequestToClose]:
    """Those of what was deleted that are, or may be, in this repository of the Project; in the
    first those, too, that are in none of them, so that it is told that they stay open."""
    repository = project.spec.repository
    for each in left.of(project):
        if each.digest is None and not may_be_in(project, each.repository, repository.name):
            continue
        its = each.digest or repositories.digest(repository)
        if each.digest is not None and home(project, its, each.onto) != project.spec.place:
            continue
        wait = 0 if each.number else OPENING_SECONDS
        yield RequestToClose(
            kind=each.kind,
            name=each.name,
            number=each.number,
            branch=each.branch,
            onto=each.onto,
            repository=its,
            due=each.at + timedelta(seconds=wait),
        )
