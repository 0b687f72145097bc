"""What is said of an open pull request: noticed, read by a Job, and given back to an agent.

    PullRequestOpen ── the watch has seen something new ──▶ a Job reads it ──┬──▶ nothing of it is
                                                               ▲             │    new: it is known
                                  it could not: after a while ─┘             └──▶ Heard

The watch tells by a digest that something is new, and no words: those of the Job alone are kept, as
many as a termination message holds. Each comment counts once, by its id, and red CI once for each
commit. Whose comments count, the Job asks the forge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Literal

from bernstein.api.delivery import (
    MOST_COMMENTS,
    Delivery,
    Feedback,
    PullRequest,
)
from bernstein.api.programs.forge import LISTENED, LONGEST_SAID, UNREAD, ListenResult
from bernstein.api.programs.forge_jobs import LISTEN
from bernstein.api.projects.watching import WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.api.waiting import WaitReason
from bernstein.core.actions import RunListen
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.proposed import watched
from bernstein.core.delivery.way import Delivering, OnItsWay, S
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests
from bernstein.core.projects import limits
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS, seconds_to_ask
from bernstein.core.sanitise import count, text
from bernstein.core.waiting import waits

_LEAST_SECONDS = 60
"""Until it is read again, whatever the last Job came to: the watch has had a look by then."""
_WORDS = 300
_ID = 64
_LONGEST_WAIT = 3600
"""Seconds: a time further away was set before the time of day went back."""


@dataclass(frozen=True)
class Listening:
    """Who listens, and what is known."""

    job: Callable[[str, int], str]
    """As in Landing."""
    whose: Literal["Plan", "Task"]
    project: Workplace
    jobs: Mapping[str, JobView]
    late: LateRequests
    refusal: str | None = None
    """Why no agent can have it, as a sentence without a full stop; None: one can."""


@dataclass(frozen=True)
class Heard(Generic[S]):
    """Something is new, and goes back to an agent: the status says what."""

    status: S


def feedback_of(status: Delivering) -> Feedback:
    delivery = status.delivery
    return (delivery.feedback if delivery is not None else None) or Feedback()


def step(status: S, way: Listening, now: datetime) -> OnItsWay[S] | Heard[S]:
    """One look at what is said of a pull request that a person is waited for to merge."""
    delivery, waiting = status.delivery, status.waiting
    pull = delivery.pull_request if delivery is not None else None
    if delivery is None or pull is None or waiting is None or not delivery.is_proposed:
        return OnItsWay(status)
    row = watched.row_of(pull, way.project)
    if row is None or row.state != "Open" or waiting.reason != WaitReason.PULL_REQUEST_OPEN:
        return OnItsWay(status)
    wanted = way.project.spec.merge.pull_requests
    known = feedback_of(status)
    if "Comments" in wanted.feedback and row.said == UNREAD:
        told = (
            "what people say of it cannot be read: the token may not, or it is more than is read, "
            "or than the forge gives in time"
        )
        remedy = "Let the token read its comments, and who may write to the repository."
        return _tells(status, told, remedy, now)
    if not _is_new(row, known, wanted.feedback):
        return OnItsWay(status)
    if known.times >= wanted.max_feedback:
        told = f"what was said since is for people: {count(known.times, 'round')} of feedback"
        remedy = (
            "Merge or close it, or raise merge.pullRequest.maxFeedback of the Project, "
            f"which is {wanted.max_feedback}."
        )
        return _tells(status, f"{told} went back to an agent", remedy, now)
    if way.refusal is not None:
        remedy = f"Merge or close it, or cancel the {way.whose}."
        return _tells(status, f"what was said is for people: {way.refusal}", remedy, now)
    return _read(status, delivery, pull, known, way, now)


def _is_new(row: WatchedPullRequest, known: Feedback, wanted: tuple[str, ...]) -> bool:
    comments = "Comments" in wanted and row.said not in (None, known.said)
    ci = "CI" in wanted and row.ci == "Failed" and known.ci != row.sha
    return comments or ci


def _tells(status: S, more: str, remedy: str, now: datetime) -> OnItsWay[S]:
    assert status.waiting is not None
    told, reason = f"{status.waiting.message}; {more}", status.waiting.reason
    return OnItsWay(waits(status, reason, told, now, needs_person=True, remedy=remedy))


def _read(
    status: S, delivery: Delivery, pull: PullRequest, known: Feedback, way: Listening, now: datetime
) -> OnItsWay[S] | Heard[S]:
    left = (known.until - now).total_seconds() if known.until is not None else 0.0
    if 0 < left <= (_LONGEST_WAIT if known.failures is None else MAX_RETRY_AFTER_SECONDS):
        return _rests(status, known, left, now)
    name = way.job(LISTEN, known.jobs)
    job = job_of(way.jobs, name, delivery.abandoned, now)
    if job is None:
        left = limits.seconds_left(way.project, now)
        if left > 0:
            return _rests(status, known, left, now)
        return OnItsWay(status, (RunListen(name, pull.number, known.comments),))
    result = result_of(ListenResult, job, LISTEN, delivery.abandoned, way.late, now)
    if isinstance(result, Unfinished):
        status = _with(status, delivery.model_copy(update={"abandoned": result.abandoned}))
        return OnItsWay(status, result.actions, LOOK_AGAIN_SECONDS)
    delivery = delivery.model_copy(update={"abandoned": None})
    known = known.model_copy(update={"jobs": known.jobs + 1})
    if isinstance(result, Diagnosis):
        return _could_not(status, delivery, known, result, now)
    known = known.model_copy(update=dict.fromkeys(("failures", "reason", "message", "until")))
    new = _heard(known, result)
    if new is None:
        until = now + timedelta(seconds=_LEAST_SECONDS)
        said = {"said": result.said[:_ID], "until": until}
        known = known.model_copy(update=said)
        status = _with(status, delivery.model_copy(update={"feedback": known}))
        return OnItsWay(status, (), _LEAST_SECONDS)
    return Heard(_with(status, delivery.model_copy(update={"feedback": new})))


def _heard(known: Feedback, result: ListenResult) -> Feedback | None:
    """What is known after a round more; None: nothing is new."""
    comments = [each[:_ID] for each in result.comments[:LISTENED]]
    new = [each for each in dict.fromkeys(comments) if each not in known.comments]
    red = result.failed and result.sha != known.ci
    words = text(result.text, LONGEST_SAID)
    if not words or not (new or red):
        return None
    every = (*known.comments, *new)[-MOST_COMMENTS:]
    try:
        return Feedback.model_validate(
            known.model_dump()
            | {"times": known.times + 1, "comments": every, "text": words}
            # What has had no room is read in the next round.
            | {"said": result.said[:_ID] if len(new) < LISTENED else None}
            | {"ci": result.sha if red else known.ci}
        )
    except ValueError:
        return None


def _could_not(
    status: S, delivery: Delivery, known: Feedback, why: Diagnosis, now: datetime
) -> OnItsWay[S]:
    failures = (known.failures or 0) + 1
    seconds = max(seconds_to_ask(why.reason, failures, why.retry_after), _LEAST_SECONDS)
    until = now + timedelta(seconds=seconds)
    told = {"reason": why.reason, "message": text(why.message, _WORDS)}
    known = known.model_copy(update={"failures": failures, "until": until, **told})
    status = _with(status, delivery.model_copy(update={"feedback": known}))
    return _rests(status, known, seconds, now)


def _rests(status: S, known: Feedback, seconds: float, now: datetime) -> OnItsWay[S]:
    if known.failures is None or status.waiting is None:
        return OnItsWay(status, (), seconds)
    told = f"{status.waiting.message}; what is said there could not be read: {known.message}"
    waiting = waits(status, status.waiting.reason, told, now, needs_person=True)
    return OnItsWay(waiting, (), seconds)


def _with(status: S, delivery: Delivery) -> S:
    return status.model_copy(update={"delivery": delivery})
