"""A Plan's pull request: opened for what was verified and pushed, and waited for.

    Proposing ──▶ PullRequestOpen ──┬──▶ merged as it was verified ──▶ Merged
                         ▲          ├──▶ closed ──▶ Rejected ─┐
                         │          └──▶ anything else ──▶ Unknown
                         └─────────────────────┴──────────────┴── open again, as it was verified

Whether it has what was verified is told by the commit at its head, which the forge says. What has
become of it is what the Project's watch has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.plan import Integration, PlanStatus
from bernstein.api.programs.forge import PROPOSE, ProposeResult
from bernstein.api.projects.watching import MOST_PULL_REQUESTS, PullRequestWatch
from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.actions import PlanDecision, RunFence, RunPropose
from bernstein.core.delivery import pull_request
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.retry import tried_again
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.sanitise import line, without_quotes
from bernstein.core.sanitise import text as sanitise
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import (
    MESSAGE,
    goes_on,
    seconds_left,
    trying,
    waits,
    waits_for_jobs,
)

_SAYS_MORE = "status.delivery"


def is_next(delivery: Delivery) -> bool:
    """Whether what was pushed is to be proposed."""
    return delivery.step == "Proposing"


def is_proposed(status: PlanStatus) -> bool:
    """Whether what was verified is at its branch, and a pull request of that is opened or there."""
    delivery = status.delivery
    if delivery is None or delivery.step not in (None, "Proposing"):
        return False
    return is_next(delivery) or delivery.pull_request is not None


def unseen(
    status: PlanStatus, job: Callable[[str, int], str], jobs: Mapping[str, JobView]
) -> tuple[RunFence, ...]:
    """A fence for the Job that opens it, where it may have been asked for and nobody sees it yet.
    `job`: as in Landing."""
    if status.delivery is None or not is_next(status.delivery):
        return ()
    name = job(PROPOSE, status.delivery.round)
    return () if name in jobs else (RunFence(name),)


def step(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    """The next step of a Plan whose work is at the branch of its pull request."""
    delivery = status.delivery
    assert delivery is not None
    assert snapshot.project is not None
    if snapshot.project.spec.repository.forge is None:
        text = "the Project names no forge of its repository any more"
        return PlanDecision(waits(status, Reason.FORGE_GONE, text, now, needs_person=True))
    if is_next(delivery):
        return _propose(snapshot, status, delivery, integration, now)
    assert delivery.pull_request is not None
    return PlanDecision(_seen(snapshot, status, delivery, delivery.pull_request, now))


def _propose(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    delivery: Delivery,
    integration: Integration,
    now: datetime,
) -> PlanDecision:
    seconds = seconds_left(status.waiting, snapshot.project, now)
    if seconds is not None:
        return PlanDecision(status, (), seconds)
    status = trying(status, snapshot.project)
    name = names.plan_job(snapshot.plan.metadata.name, PROPOSE, delivery.round)
    job = job_of(snapshot.jobs, name, delivery.abandoned, now)
    if job is None:
        text = pull_request.of_plan(snapshot, status, integration)
        head, base = names.branch_of(delivery.branch), names.branch_of(delivery.onto)
        return PlanDecision(status, (RunPropose(name, head, base, text.title, text.body),))
    result = result_of(ProposeResult, job, PROPOSE, delivery.abandoned, snapshot.late, now)
    if isinstance(result, Unfinished):
        status = _with(status, delivery, abandoned=result.abandoned)
        status = waits_for_jobs(status, (job,), now)
        return PlanDecision(status, result.actions, LOOK_AGAIN_SECONDS)
    if isinstance(result, Diagnosis):
        return PlanDecision(_failed(snapshot, status, delivery, result, now))
    pull = _as_told(result)
    if pull is None:
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{PROPOSE} left no result that is one")
        return PlanDecision(_failed(snapshot, status, delivery, strange, now))
    delivery = delivery.model_copy(update={"step": None, "abandoned": None, "failures": None})
    base = result.pull_request.base
    return PlanDecision(_became(snapshot, goes_on(status), delivery, pull, base, now))


def _as_told(result: ProposeResult) -> PullRequest | None:
    """None: it is not what a forge tells."""
    told = result.pull_request
    try:
        return PullRequest.model_validate(
            {"number": told.number, "url": line(result.url, 2048), "state": told.state}
            | {"sha": told.sha}
        )
    except ValueError:
        return None


def _failed(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    delivery: Delivery,
    problem: Diagnosis,
    now: datetime,
) -> PlanStatus:
    """It is asked for again after a while, by a Job of another number."""
    times = (delivery.failures or 0) + 1
    status = _with(
        status,
        delivery,
        round=status.jobs + 1,
        reason=problem.reason,
        message=sanitise(problem.message, MESSAGE),
        failures=times,
        abandoned=None,
    )
    told = Diagnosis(problem.reason, without_quotes(problem.message, _SAYS_MORE))
    return tried_again(status, told, snapshot.project, now, times=times, resting=snapshot.resting)


def _with(status: PlanStatus, delivery: Delivery, **update: Any) -> PlanStatus:
    return status.model_copy(update={"delivery": delivery.model_copy(update=update)})


def _seen(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    delivery: Delivery,
    pull: PullRequest,
    now: datetime,
) -> PlanStatus:
    """The status as the Project's watch has seen the pull request last."""
    assert snapshot.project is not None
    watch = snapshot.project.status.watch or PullRequestWatch()
    row = next((each for each in watch.pull_requests if each.number == pull.number), None)
    if pull.state == "Merged":
        row = None  # it stays merged as it was, whatever is at its branch since
    if row is not None and row.state == "Missing":
        text = f"the forge shows the token no pull request {pull.number}: {pull.url}"
        reason = Reason.PULL_REQUEST_MISSING
        return _held_up(status, delivery, pull, "Unknown", reason, text, now)
    base = ""
    if row is not None and row.state != "Missing":
        told = {"state": row.state, "sha": row.sha, "ci": row.ci}
        pull = pull.model_copy(update=told)
        base = row.base
    status = _became(snapshot, status, delivery, pull, base, now)
    crowded = row is None and len(watch.pull_requests) >= MOST_PULL_REQUESTS
    if crowded and status.ended_at is None and status.waiting is not None:
        text = f"{status.waiting.message}; nobody looks at it, as {MOST_PULL_REQUESTS} others wait"
        return waits(status, status.waiting.reason, text, now, needs_person=True)
    if watch.reason is not None and status.ended_at is None:
        text = f"what has become of {pull.url} is not known: {watch.message}"
        return waits(status, watch.reason, text, now, needs_person=True)
    return status


def _became(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    delivery: Delivery,
    pull: PullRequest,
    base: str,
    now: datetime,
) -> PlanStatus:
    """What follows from the pull request as it is now. `base`: where it is to be merged; "": the
    forge has yet to say."""
    assert snapshot.project is not None
    verified, onto = pull.sha == delivery.sha, names.branch_of(delivery.onto)
    if pull.state == "Closed":
        text = f"{pull.url} was closed, and not merged"
        return _held_up(status, delivery, pull, "Rejected", Reason.PULL_REQUEST_CLOSED, text, now)
    became = "was merged" if pull.state == "Merged" else "is"
    text = ""
    if not verified:
        text = f"{pull.url} {became} at {pull.sha}; verified was {delivery.sha}"
    elif base not in ("", onto):
        text = f"{pull.url} {became} for '{line(base, 200)}'; verified was what goes to '{onto}'"
    if text:
        return _held_up(status, delivery, pull, "Unknown", Reason.PULL_REQUEST_CHANGED, text, now)
    if pull.state == "Merged":
        merged = _with(status, delivery, state="Merged", pull_request=pull, landed_at=now)
        return _told(goes_on(merged), ended_at=now)
    opened = _with(status, delivery, state="PullRequestOpen", pull_request=pull)
    opened = _told(opened, ended_at=None)
    if snapshot.project.spec.merge.pull_requests.succeed_on == "Opened":
        return goes_on(opened).model_copy(update={"ended_at": now})
    text = f"a person merges {pull.url}"
    return waits(opened, WaitReason.PULL_REQUEST_OPEN, text, now)


def _told(status: PlanStatus, ended_at: datetime | None) -> PlanStatus:
    """The status whose delivery tells of nothing that is wrong any more with its pull request; what
    became of its attestation stays."""
    delivery = status.delivery
    assert delivery is not None
    if delivery.reason != Reason.ATTESTATION_REFUSED:
        delivery = delivery.model_copy(update={"reason": None, "message": None})
    return status.model_copy(update={"delivery": delivery, "ended_at": ended_at})


def _held_up(
    status: PlanStatus,
    delivery: Delivery,
    pull: PullRequest,
    state: str,
    reason: Reason,
    text: str,
    now: datetime,
) -> PlanStatus:
    status = _with(status, delivery, state=state, pull_request=pull, reason=reason, message=text)
    over = pull.state == "Merged"
    remedy = "Look at what was merged, and cancel the Plan." if over else None
    return waits(status, reason, text, now, needs_person=True, remedy=remedy)
