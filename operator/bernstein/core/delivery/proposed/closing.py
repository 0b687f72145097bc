"""The pull request of what is cancelled: closed, as nobody looks at it any more.

    open, or maybe opened ──▶ Closing: a Job closes it ──┬──▶ closed
                                 ▲        │              └──▶ merged: a Job looks for it ──▶ Merged,
        after a while, MOST tries┘        │                   or Unknown where git shows it nowhere
                                          └──▶ could not: it stays open, which is told

The Job has the token of the forge alone. It closes one only of the number that is known, with the
branch of this work at its head. Whether one that the forge calls merged is, git shows, as always.
Whatever it comes to, what is cancelled ends as Cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bernstein.api.delivery import Delivery
from bernstein.api.pod import LAND
from bernstein.api.programs.forge import ProposeResult
from bernstein.api.programs.forge_jobs import PROPOSE
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.programs.merge import LandResult
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import names
from bernstein.core.actions import RunClose
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.proposed import merged
from bernstein.core.delivery.way import Delivering, OnItsWay, S
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests
from bernstein.core.projects import limits, repositories
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS
from bernstein.core.sanitise import text as sanitise

MOST = 3
"""Jobs that try to close it, or that look for what was merged."""
_SECONDS = (10, 60)
"""Between two of them."""
_LONGEST_SECONDS = 3600
"""That the forge may ask to wait in between: longer, nobody waits for the end of a cancel."""
_WORDS = 500
_CLEAR: Mapping[str, None] = dict.fromkeys(("reason", "message", "abandoned"))
_DONE: Mapping[str, None] = dict.fromkeys(("step", "failures", "until", *_CLEAR))
_PASSES = (Retry.AT_ONCE, Retry.BACK_OFF, Retry.LATER)


@dataclass(frozen=True)
class Closing:
    """What is cancelled, and what is known of it."""

    job: Callable[[str, int], str]
    """As in Landing."""
    number: int
    """The number that the next Job gets."""
    comment: Callable[[], str]
    """What is said there."""
    project: Workplace | None
    jobs: Mapping[str, JobView]
    late: LateRequests


def step(status: S, closing: Closing, now: datetime) -> OnItsWay[S] | S:
    """One look at the pull request of what is cancelled, whose other Jobs have ended; the status to
    end with, once nothing more is done about it."""
    delivery = status.delivery
    if delivery is None or not (may_be_open(delivery) or _is_sought(delivery)):
        return status
    away = _out_of_reach(delivery, closing.project)
    if away is not None:
        return _stays(status, delivery, away)
    if delivery.step != "Closing":
        delivery = delivery.model_copy(update={"step": "Closing", **_begins(closing)})
        status = _with(status, delivery)
    left = (delivery.until - now).total_seconds() if delivery.until is not None else 0.0
    if 0 < left <= _LONGEST_SECONDS:
        return OnItsWay(status, (), left)
    if _is_sought(delivery):
        return _seek(status, delivery, closing, now)
    return _look(status, delivery, closing, now)


def has_begun(status: Delivering) -> bool:
    """Whether it is closed at the moment: all other Jobs have ended."""
    return status.delivery is not None and status.delivery.step == "Closing"


def may_be_open(delivery: Delivery) -> bool:
    """Whether people may merge it, as far as is known: a Job may have opened it, of whose end
    nobody knows."""
    pull = delivery.pull_request
    if pull is not None:
        return pull.state == "Open"
    return delivery.branch is not None and delivery.step in ("Proposing", "Closing")


def _is_sought(delivery: Delivery) -> bool:
    """Whether the forge calls it merged as it was verified, and git has yet to show that."""
    pull = delivery.pull_request
    return pull is not None and pull.state == "Merged" and delivery.state == "PullRequestOpen"


def _out_of_reach(delivery: Delivery, project: Workplace | None) -> Diagnosis | None:
    """Why no Job can be asked to close it."""
    if project is None:
        return Diagnosis(Reason.PROJECT_GONE, "its Project, or the repository there, is gone")
    repository, pull = project.spec.repository, delivery.pull_request
    if repository.forge is None:
        return Diagnosis(Reason.FORGE_GONE, "the Project names no forge of its repository any more")
    if pull is not None and not repositories.is_in(pull, repository):
        text = "the repository of the Project is another one now"
        return Diagnosis(Reason.PULL_REQUEST_MISSING, text)
    return None


def _begins(closing: Closing) -> dict[str, Any]:
    return {"failures": None, "until": None, **_next(closing)}


def _next(closing: Closing) -> dict[str, Any]:
    return {"round": closing.number, **_CLEAR}


def _look(status: S, delivery: Delivery, closing: Closing, now: datetime) -> OnItsWay[S] | S:
    name = closing.job(PROPOSE, delivery.round)
    job = job_of(closing.jobs, name, delivery.abandoned, now)
    if job is None:
        assert closing.project is not None
        left = limits.seconds_left(closing.project, now)
        if left > _LONGEST_SECONDS:
            limited = Diagnosis(ForgeReason.RATE_LIMITED, limits.text(closing.project))
            return _stays(status, delivery, limited)
        if left > 0:
            return OnItsWay(status, (), left)
        head, base = names.branch_of(delivery.branch), names.branch_of(delivery.onto)
        number = delivery.pull_request.number if delivery.pull_request is not None else 0
        return OnItsWay(status, (RunClose(name, number, head, base, closing.comment()),))
    result = result_of(ProposeResult, job, PROPOSE, delivery.abandoned, closing.late, now)
    if isinstance(result, Unfinished):
        return _at_work(status, delivery, result)
    if isinstance(result, Diagnosis):
        return _failed(status, delivery, closing, result, now)
    return _told(status, delivery, closing, result, now)


def _seek(status: S, delivery: Delivery, closing: Closing, now: datetime) -> OnItsWay[S] | S:
    """One look at the Job that looks for what the forge calls merged."""
    pull, name = delivery.pull_request, closing.job(LAND, delivery.round)
    assert pull is not None
    job = job_of(closing.jobs, name, delivery.abandoned, now)
    if job is None:
        assert closing.project is not None
        return OnItsWay(status, (merged.look(name, delivery, pull, closing.project),))
    result = result_of(LandResult, job, LAND, delivery.abandoned, closing.late, now)
    if isinstance(result, Unfinished):
        return _at_work(status, delivery, result)
    if isinstance(result, Diagnosis):
        return _failed(status, delivery, closing, result, now)
    delivery = delivery.model_copy(update=_DONE)
    if result.state == "Landed":
        return _with(status, merged.there(delivery, pull, now))
    why = Diagnosis(Reason.PULL_REQUEST_CHANGED, merged.not_there(delivery, pull))
    return _with(status, delivery.model_copy(update={"state": "Unknown", **_told_of(why)}))


def _at_work(status: S, delivery: Delivery, run: Unfinished) -> OnItsWay[S]:
    waits = delivery.model_copy(update={"abandoned": run.abandoned})
    return OnItsWay(_with(status, waits), run.actions, LOOK_AGAIN_SECONDS)


def _told(
    status: S, delivery: Delivery, closing: Closing, result: ProposeResult, now: datetime
) -> OnItsWay[S] | S:
    """What has become of it, as the forge says."""
    told = result.pull_request
    if told.state == "Missing":
        return _with(status, delivery.model_copy(update=_DONE))  # none was ever opened
    pull, project = delivery.pull_request, closing.project
    assert project is not None
    seen = repositories.pull_request(told, result.url, project.spec.repository)
    if seen is None or seen.state == "Open" or (pull is not None and pull.number != seen.number):
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{PROPOSE} left no result that is one")
        return _failed(status, delivery, closing, strange, now)
    ours = seen.sha in (delivery.sha, delivery.earlier)
    verified = ours and told.base == names.branch_of(delivery.onto)
    if seen.state == "Merged" and verified:
        update = {"state": "PullRequestOpen", "pull_request": seen}
        delivery = delivery.model_copy(update=update | _begins(closing))
        return OnItsWay(_with(status, delivery))
    state = "Unknown" if seen.state == "Merged" else "Withdrawn"
    ended = {**_DONE, "state": state, "pull_request": seen}
    return _with(status, delivery.model_copy(update=ended))


def _failed(
    status: S, delivery: Delivery, closing: Closing, why: Diagnosis, now: datetime
) -> OnItsWay[S] | S:
    failures = (delivery.failures or 0) + 1
    retry = policy(why.reason).retry
    # Of a git server that cannot be reached nobody knows for how long.
    passes = retry in _PASSES or (retry is Retry.PROBE and _is_sought(delivery))
    seconds = max(_SECONDS[min(failures, len(_SECONDS)) - 1], why.retry_after or 0)
    if not passes or failures >= MOST or seconds > _LONGEST_SECONDS:
        return _stays(status, delivery, why, now)
    until = now + timedelta(seconds=seconds)
    update = {"failures": failures, "until": until, **_told_of(why)}
    delivery = delivery.model_copy(update=_next(closing) | update)
    return OnItsWay(_with(status, delivery), (), seconds)


def _stays(status: S, delivery: Delivery, why: Diagnosis, now: datetime | None = None) -> S:
    """As it is. `now`: a Job has just been told this. Until when the forge is not to be asked, all
    others learn of it here."""
    until = None
    if now is not None and why.reason == ForgeReason.RATE_LIMITED:
        asked = min(why.retry_after or 0, MAX_RETRY_AFTER_SECONDS)
        until = now + timedelta(seconds=asked) if asked > 0 else None
    update = {
        "state": "Unknown",
        "step": None,
        "failures": (delivery.failures or 0) + 1,
        "until": until,
        "abandoned": None,
        **_told_of(why),
    }
    return _with(status, delivery.model_copy(update=update))


def _told_of(why: Diagnosis) -> dict[str, str]:
    return {"reason": why.reason, "message": sanitise(why.message, _WORDS)}


def _with(status: S, delivery: Delivery) -> S:
    return status.model_copy(update={"delivery": delivery})
