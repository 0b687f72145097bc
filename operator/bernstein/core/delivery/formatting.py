"""Work is formatted once, between its agent and its checks, by a Job of its own.

    asked for ──▶ RunFormat ──▶ its run is over ─┬─▶ the formatted commit is judged in its place
                                                 └─▶ it is judged as it was, and a verdict says why

It keeps nothing back: whatever becomes of the Job, the work is judged. The Job pushes to a ref of
its own, and what is there counts for nothing until the Job's result is in the status.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar, get_args

from bernstein.api.pod import CHECKOUT, COLLECT, EXCERPT_CHARACTERS, FORMAT, FORMATTER
from bernstein.api.programs.formatting import FormatResult
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import Formatting, Origin, VerdictWord, Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core import diagnosis, names, pods
from bernstein.core.actions import JobAction, RunFence, RunFormat, give_up
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests
from bernstein.core.sanitise import text as sanitise
from bernstein.core.verification import formatted
from bernstein.core.verification.candidate import facts_of
from bernstein.core.verification.round import Judged
from bernstein.core.waiting import goes_on, waits_for_jobs

S = TypeVar("S", bound=Judged)

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CALLED = "auto_format"
"""As names of Jobs have it: a gate, so that nothing of a Project's is called the same."""
_BEFORE = (CHECKOUT, FORMATTER, COLLECT)
"""Containers that end before the one that tells the result."""


@dataclass(frozen=True)
class Way:
    """What the Job needs to know, and what there is of it."""

    job: str
    formatter: CheckSpec | None
    """What it runs; None: nobody asks for that any more."""
    pinned_sha: str
    """The commit that the configuration of formatters is read from."""
    message: str
    """Of the commit that it makes."""
    jobs: Mapping[str, JobView]
    late: LateRequests


@dataclass(frozen=True)
class AtWork(Generic[S]):
    """The Job is wanted, or its run is not over."""

    status: S
    actions: tuple[JobAction, ...] = ()
    requeue_after: float | None = None


@dataclass(frozen=True)
class Over(Generic[S]):
    """What is to be judged is known."""

    status: S
    actions: tuple[JobAction, ...] = ()


def take(status: S, way: Way, now: datetime) -> AtWork[S] | Over[S]:
    """One look at work that is to be formatted before it is judged."""
    judged = status.verification
    assert judged is not None
    assert judged.formatting is not None
    if way.formatter is None:
        late = give_up(job for name, job in way.jobs.items() if name == way.job)
        return Over(_with(goes_on(status), judged.model_copy(update={"formatting": None})), late)
    found = judged.formatting
    job = job_of(way.jobs, way.job, found.abandoned, now)
    if job is None:
        return AtWork(status, (_run(way, way.formatter, judged),))
    end = result_of(FormatResult, job, FORMAT, found.abandoned, way.late, now)
    if isinstance(end, Unfinished):
        waiting = found.model_copy(update={"abandoned": end.abandoned})
        status = _with(status, judged.model_copy(update={"formatting": waiting}))
        return AtWork(waits_for_jobs(status, (job,), now), end.actions, LOOK_AGAIN_SECONDS)
    if isinstance(end, Diagnosis):
        found = _ran(_could_not(way.formatter, job, end), job)
        as_it_was = judged.model_copy(update={"formatting": found})
        return Over(_with(goes_on(status), as_it_was), give_up((job,)))
    after = _after(judged, end)
    assert after.formatting is not None
    found = _ran(after.formatting, job)
    return Over(_with(goes_on(status), after.model_copy(update={"formatting": found})))


def job_of_session(job: Callable[[str, int], str]) -> str:
    """The name of the Job: each session has one. `job`: as in Landing."""
    return job(_CALLED, 0)


def unseen(
    judged: Verification | None, job: Callable[[str, int], str], jobs: Mapping[str, JobView]
) -> tuple[RunFence, ...]:
    """A fence for the Job, where it may have been asked for and nobody sees it yet."""
    name = job_of_session(job)
    return (RunFence(name),) if formatted.is_open(judged) and name not in jobs else ()


def _with(status: S, judged: Verification) -> S:
    return status.model_copy(update={"verification": judged})


def _run(way: Way, formatter: CheckSpec, judged: Verification) -> RunFormat:
    return RunFormat(
        job=way.job,
        check=formatter,
        ref=judged.ref,
        sha=judged.sha,
        base=judged.base,
        pinned_sha=way.pinned_sha,
        to=names.formatted_ref(judged.ref),
        message=f"{way.message}Bernstein-Formatted-From: {judged.sha}\n",
    )


def _could_not(formatter: CheckSpec, job: JobView, end: Diagnosis) -> Formatting:
    """Why there is no result: of the first container that has failed, or of the pod."""
    pod, problem = job.pod or {}, end
    from_outside = pods.is_disrupted(pod) or job.refused is not None
    if not from_outside and end.reason in (Reason.DISRUPTED, Reason.INFRASTRUCTURE_ERROR):
        if pods.reason(pod) == "DeadlineExceeded":
            return _said("TimedOut", Reason.TIMEOUT, f"not done after {formatter.timeout} s")
        if (pods.terminated(pod, FORMATTER) or {}).get("reason") == "OOMKilled":
            return _said("Failed", VerdictReason.OUT_OF_MEMORY, "the formatter ran out of memory")
        failures = (diagnosis.failure_of(pod, name) for name in _BEFORE)
        problem = next(filter(None, failures), end)
    if problem.reason == VerdictReason.CONDITION_NOT_MET and formatter.paths:
        return _said("Skipped", problem.reason, problem.message)
    return _said("Errored", problem.reason, problem.message)


def _ran(found: Formatting, job: JobView) -> Formatting:
    """With where the formatters ran, and when they were done, where they have run."""
    pod = job.pod or {}
    ended = pods.terminated(pod, FORMATTER) or {}
    took, image = pods.seconds(ended), pods.image_digest(pod, FORMATTER)
    known = {"seconds": None if took is None else round(took), "image": image}
    return found.model_copy(update=known | {"ended_at": pods.ended_at(ended)})


def _said(verdict: str, reason: str, text: str) -> Formatting:
    excerpt = sanitise(text, EXCERPT_CHARACTERS)
    return Formatting.model_validate(
        {"verdict": verdict, "reason": reason[:64], "excerpt": excerpt}
    )


def _after(judged: Verification, result: FormatResult) -> Verification:
    """What is judged: the commit that was pushed, where there is one and it is what was asked for;
    else the work as it was."""
    told = result.told
    whole = all(_FULL_ID.fullmatch(each) for each in (result.sha, result.tree))
    if told.verdict not in get_args(VerdictWord) or not whole or result.base != judged.base:
        text = "it tells of another commit than it was asked for"
        unread = _said("Errored", VerdictReason.NO_VERDICT, text)
        return judged.model_copy(update={"formatting": unread})
    said = _said(told.verdict, told.reason, told.text)
    changed = result.changed
    if result.sha == judged.sha or changed is None:
        return judged.model_copy(update={"formatting": said})
    work = Origin(ref=judged.ref, sha=judged.sha)
    return judged.model_copy(
        update={
            "formatting": said.model_copy(update={"work": work}),
            "sha": result.sha,
            "tree": result.tree,
            "ref": names.formatted_ref(judged.ref),
            **facts_of(changed),
            "policy": None,
        }
    )
