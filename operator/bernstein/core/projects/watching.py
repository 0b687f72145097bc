"""The watch of a repository: a Job that looks at the pull requests that Plans wait for there.

    a Plan waits ──▶ at work ──▶ over ──┬──▶ it tells what has changed ──▶ after a look's time
                        ▲               └──▶ it could not tell ──▶ after a while, one look at first
                        └── none waits: no Job any more; a time that the forge has named stays known

There is one for all, which is told what was seen of each so far, and ends as soon as one of them is
not like that. Where another Plan waits, or one does not any more, another Job takes its place, once
it has had the time for a look: else Plans that come and go would keep all from being looked at. It
only reads: whatever becomes of a Job, nothing is lost and nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bernstein.api.programs.forge import SeenPullRequest, WatchResult
from bernstein.api.programs.forge_jobs import WATCH
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.projects.watching import (
    MOST_PULL_REQUESTS,
    PullRequestWatch,
    WatchedPullRequest,
)
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, labels, names, runs
from bernstein.core.actions import give_up
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.projects import limits, repositories, repository_job
from bernstein.core.projects.actions import RunWatch, WatchDecision
from bernstein.core.projects.repository_job import MOST_SECONDS, all_but
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS, seconds_to_ask
from bernstein.core.sanitise import text

_LEAST_SECONDS = 30
"""Until it is tried again, whatever the reason: a pod that is lost each time is made no faster."""
_ONE_LOOK_SECONDS = 60
"""That a Job has, from when it was made, before another one takes its place."""
_MOST_REQUESTS = 10**9
_WORDS = 300


@dataclass(frozen=True)
class WatchSnapshot:
    """Everything that the decision about a watch looks at."""

    project: Workplace
    jobs: Mapping[str, JobView]
    """The repository's watch Jobs, by name."""
    waits: tuple[SeenPullRequest, ...] = ()
    """What Plans wait for, as they know it."""
    limited: datetime | None = None
    """Until when the forge takes no requests, as it has told a Job of a Plan or Task."""

    def with_job(self, job: JobView) -> WatchSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> WatchSnapshot:
        raise AssertionError(f"a watch makes nothing but Jobs: {message}")


def expected(project: Workplace) -> str | None:
    """The name of the Job that should be at work; None: none should."""
    watch = _known(project)
    if watch is None or watch.until is not None:
        return None
    return _name(project, watch)


def _known(project: Workplace) -> PullRequestWatch | None:
    return project.status.watch_of(project.spec.repository.name)


def _name(project: Workplace, watch: PullRequestWatch) -> str:
    return names.watch_job(project.metadata.name, watch.number, repository_job.mark(project))


def decide(snapshot: WatchSnapshot, now: datetime) -> WatchDecision:
    """The watch's next step."""
    project = snapshot.project
    if project.spec.repository.forge is None:
        return WatchDecision(None, all_but("", snapshot.jobs))
    watch = limits.with_limit(_of_those(_there(project), snapshot), snapshot.limited, now)
    left = repository_job.seconds_left(watch.until, now, watch.reason)
    if left > 0:
        return WatchDecision(watch, all_but("", snapshot.jobs), left)
    if not snapshot.waits:
        return WatchDecision(None, all_but("", snapshot.jobs))
    return _look(snapshot, watch.model_copy(update={"until": None}), now)


def _there(project: Workplace) -> PullRequestWatch:
    """What is known of the repository: of another one nothing is, whatever its numbers."""
    watch, at = _known(project) or PullRequestWatch(), repositories.digest(project.spec.repository)
    if watch.at not in (None, at):
        watch = watch.model_copy(update={"pull_requests": ()})
    return watch.model_copy(update={"at": at})


def _of_those(watch: PullRequestWatch, snapshot: WatchSnapshot) -> PullRequestWatch:
    """What is known of those that Plans wait for."""
    known = {row.number: row for row in watch.pull_requests}
    repository = snapshot.project.spec.repository.name
    most = MOST_PULL_REQUESTS // len(snapshot.project.whole.spec.repositories)
    rows = [known.get(each.number) or _row(repository, each) for each in snapshot.waits]
    # Where they are too many, those go first that something may become of.
    rows.sort(key=lambda row: (row.state != "Open", row.number))
    first = sorted(rows[:most], key=lambda row: row.number)
    return watch.model_copy(update={"repository": repository, "pull_requests": tuple(first)})


def _row(repository: str, seen: SeenPullRequest) -> WatchedPullRequest:
    """Raises ValueError for what is no pull request."""
    told = {"number": seen.number, "state": seen.state, "sha": seen.sha, "base": seen.base}
    told |= {"ci": seen.ci or None, "said": seen.said or None, "behind": seen.behind or None}
    told |= {"unread": seen.unread or None}
    return WatchedPullRequest.model_validate({"repository": repository, **told})


def _look(snapshot: WatchSnapshot, watch: PullRequestWatch, now: datetime) -> WatchDecision:
    """One look at the Job at work."""
    run = _run(snapshot, watch)
    job = snapshot.jobs.get(run.job)
    if job is None:
        left = limits.seconds_left(snapshot.project, now)
        if left > 0:
            return WatchDecision(watch, all_but("", snapshot.jobs), left)
        return WatchDecision(watch, (run, *all_but(run.job, snapshot.jobs)), LOOK_AGAIN_SECONDS)
    if repository_job.may_skip(snapshot.jobs, job):
        return _look(snapshot, watch.model_copy(update={"number": watch.number + 1}), now)
    if job.refused is not None:
        return _over(snapshot, watch, repository_job.refused(job, job.refused), now)
    asked = job.labels.get(labels.ASKED)
    if asked != run.asked:
        return _told_otherwise(snapshot, watch, run, job, now)
    if runs.is_over(job, now):
        return _over(snapshot, watch, repository_job.result_of(WatchResult, job, WATCH, now), now)
    stuck = diagnosis.to_abandon(job, now)
    if stuck is not None:
        ended = _over(snapshot, watch, stuck, now)
        return replace(ended, actions=(*give_up((job,)), *ended.actions))
    return WatchDecision(watch, all_but(run.job, snapshot.jobs), LOOK_AGAIN_SECONDS)


def _told_otherwise(
    snapshot: WatchSnapshot, watch: PullRequestWatch, run: RunWatch, job: JobView, now: datetime
) -> WatchDecision:
    """The next step where a Job was told something else than is known now: others waited then."""
    if run.asks_where(job.labels.get(labels.ASKED)):
        left = _ONE_LOOK_SECONDS - (now - job.created).total_seconds()
        if runs.is_over(job, now):
            told = repository_job.result_of(WatchResult, job, WATCH, now)
            if isinstance(told, WatchResult) and told.known:
                return _over(snapshot, watch, _still_so(told, watch), now)
        elif 0 < left <= _ONE_LOOK_SECONDS:
            return WatchDecision(
                watch, all_but(run.job, snapshot.jobs), min(left, LOOK_AGAIN_SECONDS)
            )
    return _look(snapshot, watch.model_copy(update={"number": watch.number + 1}), now)


def _still_so(told: WatchResult, watch: PullRequestWatch) -> WatchResult:
    """What has changed of those that are known as the Job was told."""
    known = {row.number: _seen(row).digest for row in watch.pull_requests}
    changed = tuple(
        each
        for each, before in zip(told.changed, told.known, strict=False)
        if known.get(each.number) == before
    )
    return replace(told, changed=changed)


def _seen(row: WatchedPullRequest) -> SeenPullRequest:
    told = (row.number, row.state, row.sha, row.base, row.ci or "", row.said or "")
    return SeenPullRequest(*told, behind=row.behind or False, unread=row.unread or "")


def _run(snapshot: WatchSnapshot, watch: PullRequestWatch) -> RunWatch:
    name = _name(snapshot.project, watch)
    known = tuple(map(_seen, watch.pull_requests))
    generation = snapshot.project.metadata.generation
    return RunWatch(name, known, generation, once=watch.reason is not None)


def _over(
    snapshot: WatchSnapshot,
    watch: PullRequestWatch,
    told: WatchResult | Diagnosis,
    now: datetime,
) -> WatchDecision:
    """What is known now; the next Job has another number."""
    watch = watch.model_copy(update={"number": watch.number + 1})
    if isinstance(told, Diagnosis):
        return _failed(snapshot, watch, told, now)
    repository = snapshot.project.spec.repository.name
    try:
        changed = {each.number: _row(repository, each) for each in told.changed}
    except ValueError:
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{WATCH} left no result that is one")
        return _failed(snapshot, watch, strange, now)
    rows = tuple(changed.get(row.number, row) for row in watch.pull_requests)
    update: dict[str, Any] = {
        "pull_requests": rows,
        "failures": 0,
        "reason": None,
        "message": None,
        "remaining": _bounded(told.remaining),
        **_and_asked(watch, told.requests, told.unchanged),
    }
    if not told.changed:
        return WatchDecision(watch.model_copy(update=update), all_but("", snapshot.jobs), 1.0)
    # Who tells something else at each look has no more Jobs than looks.
    look = snapshot.project.spec.merge.pull_requests.look_seconds
    seconds = float(max(look, min(told.retry_after or 0, MAX_RETRY_AFTER_SECONDS)))
    if told.retry_after is not None:
        update["remaining"] = 0
    if seconds > MOST_SECONDS:
        update |= {"reason": ForgeReason.RATE_LIMITED, "message": "it asks to wait"}
    update["until"] = now + timedelta(seconds=seconds)
    return WatchDecision(watch.model_copy(update=update), all_but("", snapshot.jobs), seconds)


def _and_asked(watch: PullRequestWatch, requests: int, unchanged: int) -> dict[str, int]:
    """The counts with those of another Job."""
    return {
        "requests": min(watch.requests + max(requests, 0), _MOST_REQUESTS),
        "unchanged": min(watch.unchanged + max(unchanged, 0), _MOST_REQUESTS),
    }


def _bounded(count: int | None) -> int | None:
    return None if count is None else min(max(count, 0), _MOST_REQUESTS)


def _failed(
    snapshot: WatchSnapshot, watch: PullRequestWatch, why: Diagnosis, now: datetime
) -> WatchDecision:
    failures = watch.failures + 1
    wait = seconds_to_ask(why.reason, failures, why.retry_after)
    seconds = float(max(wait, _LEAST_SECONDS))
    update: dict[str, Any] = {
        "failures": failures,
        "reason": why.reason,
        "message": text(why.message, _WORDS),
        "until": now + timedelta(seconds=seconds),
    }
    if why.asked is not None:
        update |= _and_asked(watch, why.asked.requests, why.asked.unchanged)
    if why.reason == ForgeReason.RATE_LIMITED:
        update["remaining"] = 0
    return WatchDecision(watch.model_copy(update=update), all_but("", snapshot.jobs), seconds)
