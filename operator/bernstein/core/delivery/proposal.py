"""A pull request, a Task's or a Plan's: opened for what was verified and pushed, and waited for.

    Proposing ──▶ PullRequestOpen ──┬──▶ merged as it was verified, and the branch has it ──▶ Merged
                         ▲          ├──▶ closed ──▶ Rejected ─┐
                         │          └──▶ anything else ──▶ Unknown
                         └─────────────────────┴──────────────┴── open again, as it was verified

Whether it has what was verified is told by the commit at its head, which the forge says. What has
become of it is what the Project's watch has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.programs import forge_reasons
from bernstein.api.programs.forge import ProposeResult
from bernstein.api.programs.forge_jobs import PROPOSE
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.projects.merge import SucceedOn
from bernstein.api.projects.watching import MOST_PULL_REQUESTS, WatchedPullRequest
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.actions import RunFence, RunPropose
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.proposed import merged, watched
from bernstein.core.delivery.pull_request import PullRequestText, linked
from bernstein.core.delivery.retry import tried_again
from bernstein.core.delivery.way import (
    Delivering,
    Landed,
    OnItsWay,
    S,
    still_at_work,
    with_delivery,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView, LateRequests
from bernstein.core.projects import limits, repositories
from bernstein.core.remedies import remedy_of
from bernstein.core.sanitise import line, without_quotes
from bernstein.core.sanitise import text as sanitise
from bernstein.core.waiting import (
    MESSAGE,
    goes_on,
    parted,
    seconds_left,
    trying,
    waits,
)

_SAYS_MORE = "status.delivery"


@dataclass(frozen=True)
class Proposal:
    """A pull request that is opened or there, and what is known of it."""

    job: Callable[[str, int], str]
    """As in Landing."""
    number: int
    """The number that the next Job gets, after one that has failed."""
    text: Callable[[], PullRequestText]
    """What people read of it."""
    whose: Literal["Plan", "Task"]
    succeeds_on: SucceedOn
    """When it is delivered: once it is merged, or once it is open."""
    project: Workplace
    jobs: Mapping[str, JobView]
    late: LateRequests
    resting: int
    """As in Landing."""


ProposalState = OnItsWay[S] | Landed[S]
"""Landed: it is delivered, by what the Project asks for."""


def is_next(delivery: Delivery) -> bool:
    """Whether what was pushed is to be proposed."""
    return delivery.step == "Proposing"


def is_proposed(status: Delivering) -> bool:
    """Whether what was verified is at its branch, and a pull request of that is opened or there."""
    delivery = status.delivery
    if delivery is None or delivery.step not in (None, "Proposing"):
        return False
    return is_next(delivery) or delivery.is_proposed


def of_people(status: Delivering) -> str | None:
    """What is up to people, where its pull request waits for them and nothing is done for it."""
    delivery = status.delivery
    if delivery is None or delivery.step is not None or not delivery.is_proposed:
        return None
    if delivery.state == "Rejected":
        return "people have closed its pull request: they may open it again, on the forge"
    return "people merge its pull request, on the forge"


def unseen(
    status: Delivering, job: Callable[[str, int], str], jobs: Mapping[str, JobView]
) -> tuple[RunFence, ...]:
    """A fence for the Job that opens it, where it may have been asked for and nobody sees it yet.
    `job`: as in Landing."""
    if status.delivery is None or not is_next(status.delivery):
        return ()
    name = job(PROPOSE, status.delivery.round)
    return () if name in jobs else (RunFence(name),)


def step(status: S, proposal: Proposal, now: datetime) -> ProposalState[S]:
    """The next step of work that is at the branch of its pull request."""
    delivery = status.delivery
    assert delivery is not None
    if proposal.project.spec.repository.forge is None:
        text = "the Project names no forge of its repository any more"
        return OnItsWay(waits(status, Reason.FORGE_GONE, text, now, needs_person=True))
    if is_next(delivery):
        return _propose(status, delivery, proposal, now)
    assert delivery.pull_request is not None
    return _seen(status, delivery, delivery.pull_request, proposal, now)


def _propose(status: S, delivery: Delivery, proposal: Proposal, now: datetime) -> ProposalState[S]:
    seconds = seconds_left(status.waiting, proposal.project, now)
    if seconds is not None:
        return OnItsWay(status, (), seconds)
    status = trying(status, proposal.project)
    name = proposal.job(PROPOSE, delivery.round)
    job = job_of(proposal.jobs, name, delivery.abandoned, now)
    if job is None:
        left = limits.seconds_left(proposal.project, now)
        if left > 0:
            text, reason = limits.text(proposal.project), ForgeReason.RATE_LIMITED
            return OnItsWay(waits(status, reason, text, now, needs_person=True), (), left)
        repository = proposal.project.spec.repository
        reads = linked(proposal.text(), repository, delivery.sha)
        head, base = names.branch_of(delivery.branch), names.branch_of(delivery.onto)
        there = delivery.pull_request
        known = there.number if there is not None and repositories.is_in(there, repository) else 0
        asked = RunPropose(name, head, base, reads.title, reads.body, known)
        return OnItsWay(status, (asked,))
    result = result_of(ProposeResult, job, PROPOSE, delivery.abandoned, proposal.late, now)
    if isinstance(result, Unfinished):
        return still_at_work(status, delivery, job, result, now)
    if isinstance(result, Diagnosis):
        return OnItsWay(_failed(status, delivery, proposal, result, now))
    repository = proposal.project.spec.repository
    pull = repositories.pull_request(result.pull_request, result.url, repository)
    if pull is None:
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{PROPOSE} left no result that is one")
        return OnItsWay(_failed(status, delivery, proposal, strange, now))
    delivery = delivery.model_copy(update={"step": None, "abandoned": None, "failures": None})
    base = result.pull_request.base
    return _became(goes_on(status), delivery, pull, base, proposal, now)


def _failed(
    status: S, delivery: Delivery, proposal: Proposal, problem: Diagnosis, now: datetime
) -> S:
    """It is asked for again after a while, by a Job of another number."""
    times = (delivery.failures or 0) + 1
    status = with_delivery(
        status,
        delivery,
        round=proposal.number,
        reason=problem.reason,
        message=sanitise(problem.message, MESSAGE),
        failures=times,
        abandoned=None,
    )
    told = replace(problem, message=without_quotes(problem.message, _SAYS_MORE))
    lacks_it = problem.reason == ForgeReason.NOT_FOUND
    return tried_again(
        *(status, told, proposal.project, now),
        times=times,
        resting=proposal.resting,
        remedy=_there_again(delivery) if lacks_it else None,
    )


def _there_again(delivery: Delivery) -> str:
    """What helps where the forge shows the repository or the branch no more: which, it does not
    say, and nobody else pushes a branch again that people have deleted."""
    head = line(names.branch_of(delivery.branch), 200)
    known = forge_reasons.POLICIES[ForgeReason.NOT_FOUND].remedy
    return f"{known} Put its branch '{head}' at {delivery.sha}, if it is not there any more."


def _seen(
    status: S, delivery: Delivery, pull: PullRequest, proposal: Proposal, now: datetime
) -> ProposalState[S]:
    """What follows from the pull request as the Project's watch has seen it last."""
    project, repository = proposal.project, proposal.project.spec.repository
    if pull.state != "Merged" and not repositories.is_in(pull, repository):
        return OnItsWay(_elsewhere(status, delivery, pull, proposal, now))
    watch, row = watched.watch_of(project), watched.row_of(pull, project)
    most = MOST_PULL_REQUESTS // len(project.whole.spec.repositories)
    if pull.state == "Merged":
        row = None  # it stays merged as it was, whatever is at its branch since
    if row is not None and row.state == "Missing":
        text = f"the forge shows the token no pull request {pull.number}: {pull.url}"
        reason = Reason.PULL_REQUEST_MISSING
        missing = _held_up(status, delivery, pull, "Unknown", reason, text, proposal, now)
        return OnItsWay(missing)
    base = ""
    if row is not None and row.state != "Missing" and not _is_of_before(row, delivery):
        told = {"state": row.state, "sha": row.sha, "ci": row.ci, "onto": None}
        pull = pull.model_copy(update=told)
        base = row.base
        if row.sha == delivery.sha:
            # From now on the older one is there only if somebody puts it back.
            delivery = _without_older(delivery)
    became = _became(status, delivery, pull, base, proposal, now)
    if isinstance(became, Landed) or pull.state == "Merged":  # the forge has nothing to add
        return became
    status = became.status
    crowded = row is None and len(watch.pull_requests) >= most
    if crowded and status.waiting is not None:
        cause, helps = parted(status.waiting.message)
        text = f"{cause.rstrip('. ')}; nobody looks at it, as {most} others wait"
        why = status.waiting.reason
        return OnItsWay(waits(status, why, text, now, needs_person=True, remedy=helps))
    unseen = watch.reason or (row.unread if row is not None else None)
    if unseen is not None:
        why = watch.message or "the forge answers nothing about it that can be read"
        text = f"what has become of {pull.url} is not known: {why}"
        helps = remedy_of(unseen, text, project)
        return OnItsWay(waits(status, unseen, text, now, needs_person=True, remedy=helps))
    return became


def _is_of_before(row: WatchedPullRequest, delivery: Delivery) -> bool:
    """What was pushed last was not seen there yet."""
    return row.state == "Open" and row.sha in _older(delivery)


def _older(delivery: Delivery) -> tuple[str, ...]:
    """What may be seen at its head until what was pushed last is."""
    replaced = delivery.pushed.replaced if delivery.pushed is not None else None
    return tuple(filter(None, (delivery.earlier, replaced)))


def _without_older(delivery: Delivery) -> Delivery:
    if not _older(delivery):
        return delivery
    pushed = delivery.pushed
    if pushed is not None:
        pushed = pushed.model_copy(update={"replaced": None})
    return delivery.model_copy(update={"earlier": None, "pushed": pushed})


def _elsewhere(
    status: S, delivery: Delivery, pull: PullRequest, proposal: Proposal, now: datetime
) -> S:
    """The Project's repository is another one now, in which its number means something else."""
    where = line(proposal.project.spec.repository.url, 300)
    text = f"the repository of the Project is {where} now, and has no part in {pull.url}"
    remedy = f"Give the Project the address back, or cancel the {proposal.whose}."
    update = {"state": "Unknown", "reason": Reason.PULL_REQUEST_MISSING, "message": text}
    status = with_delivery(status, delivery, **update)
    reason = Reason.PULL_REQUEST_MISSING
    return waits(status, reason, text, now, needs_person=True, remedy=remedy)


def _became(
    status: S, delivery: Delivery, pull: PullRequest, base: str, proposal: Proposal, now: datetime
) -> ProposalState[S]:
    """What follows from the pull request as it is now. `base`: where it is to be merged; "": the
    forge has yet to say."""
    verified, onto = pull.sha in (delivery.sha, delivery.earlier), names.branch_of(delivery.onto)
    if pull.state == "Open":
        verified = verified or pull.sha in _older(delivery)
    if pull.state == "Closed":
        text, reason = f"{pull.url} was closed, and not merged", Reason.PULL_REQUEST_CLOSED
        helps = _reopened(delivery, proposal)
        rejected = _held_up(status, delivery, pull, "Rejected", reason, text, proposal, now, helps)
        return OnItsWay(rejected)
    became = "was merged" if pull.state == "Merged" else "is"
    text, remedy = "", None
    if not verified:
        text = f"{pull.url} {became} at {pull.sha}; verified was {delivery.sha}"
        pushed = delivery.pushed
        if pushed is not None and pushed.refused == pull.sha and pull.state == "Open":
            text = pushed.message or text
    elif (base := base or pull.onto or "") not in ("", onto):
        text = f"{pull.url} {became} for '{line(base, 200)}'; verified was what goes to '{onto}'"
        pull = pull.model_copy(update={"onto": line(base, 300)})
        remedy = f"Have it go to '{onto}' again, or cancel the {proposal.whose}."
    if text:
        reason = Reason.PULL_REQUEST_CHANGED
        changed = _held_up(status, delivery, pull, "Unknown", reason, text, proposal, now, remedy)
        return OnItsWay(changed)
    delivery = _told(delivery)
    if pull.state == "Merged":
        looking: merged.Looking[S] = merged.Looking(
            job=proposal.job,
            number=proposal.number,
            whose=proposal.whose,
            project=proposal.project,
            jobs=proposal.jobs,
            late=proposal.late,
            failed=lambda status, delivery, why: _failed(status, delivery, proposal, why, now),
        )
        return merged.step(status, delivery, pull, looking, now)
    delivery = delivery.model_copy(update={"state": "PullRequestOpen", "pull_request": pull})
    if proposal.succeeds_on == "Opened":
        return Landed(goes_on(status), delivery)
    text = f"a person merges {pull.url}"
    return OnItsWay(waits(with_delivery(status, delivery), WaitReason.PULL_REQUEST_OPEN, text, now))


def _reopened(delivery: Delivery, proposal: Proposal) -> str:
    """What helps where it was closed: a forge closes it where its branch was deleted, too, and lets
    nobody reopen it until that is there."""
    head = line(names.branch_of(delivery.branch), 200)
    return (
        f"Put its branch '{head}' at {delivery.sha}, if it is not there any more, and reopen it; "
        f"or cancel the {proposal.whose}."
    )


def _told(delivery: Delivery) -> Delivery:
    """The delivery that tells of nothing that is wrong any more with its pull request; what became
    of its attestation stays."""
    if delivery.reason == Reason.ATTESTATION_REFUSED:
        return delivery
    return delivery.model_copy(update={"reason": None, "message": None})


def _held_up(
    status: S,
    delivery: Delivery,
    pull: PullRequest,
    state: str,
    reason: Reason,
    text: str,
    proposal: Proposal,
    now: datetime,
    remedy: str | None = None,
) -> S:
    status = with_delivery(
        status, delivery, state=state, pull_request=pull, reason=reason, message=text
    )
    if pull.state == "Merged":
        remedy = f"Look at what was merged, and cancel the {proposal.whose}."
    return waits(status, reason, text, now, needs_person=True, remedy=remedy)
