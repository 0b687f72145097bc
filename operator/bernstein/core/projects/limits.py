"""Until when a forge takes no requests: what one Job was told holds for all that ask it.

The watch of each repository has it in the Project's status, whichever Job has met the limit; what
closes pull requests of what was deleted has its own beside that.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.projects.workplace import Workplace
from bernstein.core.projects import repositories, repository_job
from bernstein.core.sanitise import line
from bernstein.urls import host_of

_LIMITED = ForgeReason.RATE_LIMITED
_NO_LATER = timedelta(seconds=30)
"""Than what is known: that is the same limit, and worth no write."""


def seconds_left(project: Workplace, now: datetime) -> float:
    """Seconds during which the forge of the repository takes no requests of this token; 0: nobody
    has been told so."""
    left = (repository_job.seconds_left(*each) for each in _limits(project, now))
    return max(left, default=0.0)


def text(project: Workplace) -> str:
    """Why nothing is asked of it, for people."""
    where = line(host_of(project.spec.repository.url) or "the forge", 200)
    return f"{where} limits the rate of requests: none is made before the time that it names"


def is_limited(watch: PullRequestWatch) -> bool:
    """Whether it is looked again so late because the forge asks for that."""
    return watch.reason == ForgeReason.RATE_LIMITED or watch.remaining == 0


def with_limit(watch: PullRequestWatch, until: datetime | None, now: datetime) -> PullRequestWatch:
    """The watch once it knows of a limit that another Job has met, too."""
    if until is None or until <= now or not repository_job.seconds_left(until, now, _LIMITED):
        return watch
    if watch.until is not None and until <= watch.until + _NO_LATER:
        return watch
    message = "the forge limits the rate of requests, as another Job was told"
    update = {"until": until, "reason": _LIMITED, "message": message, "remaining": 0}
    return watch.model_copy(update=update)


def _limits(
    project: Workplace, now: datetime
) -> Iterator[tuple[datetime | None, datetime, str | None]]:
    """Of all repositories of the Project about which this forge is asked with this token."""
    for each in project.whole.spec.repositories:
        if not _is_asked_alike(each, project.spec.repository):
            continue
        watch = project.status.watch_of(each.name)
        here = watch is not None and watch.at in (None, repositories.digest(each))
        if watch is not None and here and is_limited(watch):
            yield watch.until, now, watch.reason
        closing = project.status.closing_in(each.name)
        if closing is not None and closing.reason == _LIMITED:
            yield closing.until, now, closing.reason


def _is_asked_alike(one: Repository, other: Repository) -> bool:
    if one.name == other.name:
        return True
    hosts = {host_of(each.url) for each in (one, other)}
    return one.forge is not None and one.forge == other.forge and len(hosts) == 1
