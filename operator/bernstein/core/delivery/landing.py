"""Verified work on its way to a ref, a Task's or a Plan's: step by step, each proved by the remote.

                         ┌───────────── the tip moved ─────────────┐
                         ▼                                         │
    verified ──▶ Preparing: a candidate on the new tip ──▶ verified again
        │                │ failure: held, then anew; Conflicted    │
        │                                                          ▼
        └──────────────────────────────────────────────▶ Landing: compare-and-swap ──▶ Landed

`Landing` is written before there is a Job that can push: whatever crashes, a cancel sees that it
comes too late. After a land Job that may have pushed, another one only reads the remote: if nothing
has landed, all that may forbid a merge is asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from bernstein.api.delivery import Delivery
from bernstein.api.pod import LAND, PREPARE
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.project import Project
from bernstein.api.reasons import LEFT, Reason
from bernstein.api.waiting import WaitReason
from bernstein.core import runs
from bernstein.core.actions import RunFence, RunLand, RunPrepare
from bernstein.core.delivery.job_result import Unfinished, job_of, may_have_landed, result_of
from bernstein.core.delivery.outcome import merged, why_not
from bernstein.core.delivery.retry import tried_again
from bernstein.core.delivery.way import (
    Conflicted,
    Delivering,
    Landed,
    Landing,
    LandingState,
    OnItsWay,
    Prepared,
    Refused,
    S,
    Source,
    still_at_work,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS
from bernstein.core.sanitise import some, without_quotes
from bernstein.core.sanitise import text as sanitise
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.verification.candidate import LOST, can_be_made_anew, candidate
from bernstein.core.verification.look import judging_late
from bernstein.core.waiting import (
    MESSAGE,
    goes_on,
    is_trying,
    seconds_left,
    trying,
    waits,
)

_SAYS_MORE = "status.delivery"
"""Where what a Job, or the git server, has said stands as a quote."""
_FOR_PEOPLE = "people have to resolve it, as git can mark no lines in what both sides have of"
_LOOK_YOURSELF = (
    "Look at the git server whether it is there, then delete the Task, or its Plan: a cancel comes "
    "too late, and what has begun goes on under no other Project."
)


def step_of(status: Delivering) -> str | None:
    """The step that its delivery is in; None: in none, or there is no delivery."""
    return status.delivery.step if status.delivery is not None else None


def is_queued(status: Delivering) -> bool:
    """It asks for its turn to land, whatever it goes on to tell of meanwhile."""
    if status.waiting is None or status.waiting.reason == WaitReason.MERGE_QUEUE:
        return status.waiting is not None
    delivery = status.delivery
    if delivery is None or delivery.step is not None or delivery.state == "Conflict":
        return False
    if delivery.is_proposed:
        return False
    return is_trying(status)


def tries_again(status: S, project: Project | None) -> S:
    """The status of what is to land now. What keeps it from that, it tells until it has landed."""
    if status.delivery is not None and status.delivery.state == "Conflict":
        return goes_on(status)
    return trying(status, project)


def has_started(status: Delivering) -> bool:
    """A land Job may be at work: too late to cancel."""
    return step_of(status) == "Landing"


def unseen(
    status: Delivering, job: Callable[[str, int], str], jobs: Mapping[str, JobView]
) -> tuple[RunFence, ...]:
    """A fence for the Job that makes a candidate, where it may have been asked for and nobody sees
    it yet. `job`: as in Landing."""
    delivery = status.delivery
    if delivery is None or delivery.step != "Preparing":
        return ()
    name = job(PREPARE, delivery.round)
    return () if name in jobs else (RunFence(name),)


def at_rest(
    status: S, onto: str, snapshot: TaskSnapshot | PlanSnapshot, now: datetime, *, changed: bool
) -> OnItsWay[S] | Landed[S] | None:
    """Why nothing is done to land it: it is too early to try again, or it has `changed` nothing.

    None: it is to go on.
    """
    leads, follows = not snapshot.resting, snapshot.follows
    seconds = seconds_left(status.waiting, snapshot.project, now, leads=leads, follows=follows)
    if seconds is not None:
        return OnItsWay(status, (), seconds)
    if not changed:
        late = judging_late(status, snapshot.jobs, now)
        return OnItsWay(*late) if late else Landed(status, Delivery(state="NoChange", onto=onto))
    return None


def is_lost(status: Delivering) -> bool:
    """What was judged is not at its ref any more, or stands on too old a tip: a candidate is to be
    made anew."""
    return status.verification is not None and status.verification.lost is True


def lose(status: S, why: Diagnosis, project: Project | None, now: datetime) -> S:
    """The status in which another candidate is made, after a while: this one is lost.

    Each costs a Job and the checks: after too many of them it rests for a day.
    """
    text = f"the candidate is not at its ref any more, and is made anew: {why.message}"
    problem, status = Diagnosis(Reason.REF_MOVED, text), without_turn(_without_candidate(status))
    return tried_again(status, problem, project, now, rest=MAX_RETRY_AFTER_SECONDS)


def on_newer_tip(status: S) -> S:
    """The status in which a candidate of the same work is made on the tip of now."""
    return goes_on(without_turn(_without_candidate(status)))


def _without_candidate(status: S) -> S:
    assert status.verification is not None
    lost = status.verification.model_copy(update={"lost": True})
    return status.model_copy(update={"verification": lost})


def without_turn(status: S) -> S:
    """The status with its delivery, if it has one, before its first step: without a turn."""
    if status.delivery is None:
        return status
    delivery = status.delivery.model_copy(update={"step": None})
    return status.model_copy(update={"delivery": delivery})


def forward(
    status: S, landing: Landing, forbids: Callable[[S], S | None], now: datetime
) -> LandingState[S]:
    """The next step of verified work that nothing keeps back.

    `forbids` is called before anything is pushed. It returns None where the work may be merged, and
    else the status to write instead.
    """
    late = judging_late(status, landing.jobs, now)
    if late is not None:
        return OnItsWay(*late)
    status = tries_again(status, landing.project)
    if _needs_candidate(status, landing):
        return _prepare(status, landing, now)
    return _land(status, landing, forbids, now)


def _needs_candidate(status: Delivering, landing: Landing) -> bool:
    if has_started(status):
        return False
    if is_lost(status) or is_making_candidate(status, landing.commit.base):
        return True
    commit, source = landing.commit, landing.source
    if source.always and commit.sha == source.origin.sha and commit.sha != commit.base:
        return True
    return landing.tip is not None and landing.tip != commit.base


def is_making_candidate(status: Delivering, base: str) -> bool:
    """A Job is asked to put its work on another tip than `base`, on which it was judged."""
    delivery = status.delivery
    return delivery is not None and delivery.step == "Preparing" and delivery.tip != base


def _begin(status: S, landing: Landing, step: str) -> tuple[S, Delivery]:
    """The status in this step; a step that begins gets a number of its own."""
    old = status.delivery or Delivery(state="Pending", onto=landing.onto)
    if old.step == step:
        return status, old
    # That it moved says that a candidate is made, whatever statuses of others tell later.
    moved = landing.tip if step == "Preparing" else None
    update = {
        "state": "Pending",
        "step": step,
        "onto": landing.onto,
        "branch": landing.branch,
        "tip": moved or old.tip,
        "round": landing.number,
        "reason": None,
        "message": None,
        "may_have_landed": None,
        "abandoned": None,
    }
    new = old.model_copy(update=update)
    return status.model_copy(update={"delivery": new}), new


def _prepare(
    status: S, landing: Landing, now: datetime
) -> OnItsWay[S] | Prepared[S] | Conflicted[S] | Refused[S]:
    status, delivery = _begin(status, landing, "Preparing")
    source = landing.source
    name = landing.job(PREPARE, delivery.round)
    job = job_of(landing.jobs, name, delivery.abandoned, now)
    if job is None:
        prepare = RunPrepare(
            job=name,
            ref=source.origin.ref,
            sha=source.origin.sha,
            onto=landing.onto,
            candidate=source.candidate,
            message=source.message,
            merge=source.merge,
            marks=source.marks,
            resolves=source.resolves,
            verified=source.verified,
            as_it_is=source.verified is not None and not source.always,
        )
        return OnItsWay(status, (prepare,))
    result = result_of(PrepareResult, job, PREPARE, delivery.abandoned, landing.late, now)
    if isinstance(result, Unfinished):
        return still_at_work(status, delivery, job, result, now)
    if isinstance(result, Diagnosis):
        return OnItsWay(_failed(status, delivery, landing, _of_branch(result, source), now))
    delivery = delivery.model_copy(update={"tip": result.base, "failures": None})
    surprise = _surprise(landing, result.base)
    if surprise is not None:
        return OnItsWay(_failed(status, delivery, landing, surprise, now))
    if result.conflicts:
        return _conflict(status, delivery, landing, result)
    if source.verified is not None and (result.refused or result.sha == result.base):
        status = status.model_copy(update={"delivery": delivery})
        nothing = "it holds nothing that the branch has not"
        return Refused(status, sanitise(result.refused, MESSAGE) or nothing)
    status = status.model_copy(update={"delivery": delivery})
    # Where the tip holds the change already, no candidate was pushed.
    ref = source.candidate if result.sha != result.base else landing.onto
    return Prepared(goes_on(status), candidate(status.verification, result, source.origin, ref))


def _of_branch(why: Diagnosis, source: Source) -> Diagnosis:
    """People who go on to push to the branch of their pull request move no ref of ours, and what is
    counted for an agent's work is none of theirs."""
    if source.verified is None or why.reason not in (Reason.REF_MOVED, Reason.REF_NOT_FOUND):
        return why
    left = f"{source.origin.ref} {LEFT} {source.origin.sha}"
    text = f"{left}, and somebody has pushed there meanwhile, or renamed it: {why.message}"
    return Diagnosis(Reason.BRANCH_TAKEN, text)


def _land(
    status: S, landing: Landing, forbids: Callable[[S], S | None], now: datetime
) -> OnItsWay[S] | Landed[S]:
    begun, before = has_started(status), status
    status, delivery = _begin(status, landing, "Landing")
    name = landing.job(LAND, delivery.round)
    job = job_of(landing.jobs, name, delivery.abandoned, now) if begun else None
    in_doubt = delivery.may_have_landed is True
    forbidden = forbids(before) if job is None and not in_doubt else None
    if forbidden is not None:
        # The Job may have been asked for already: then its name must not be free.
        return OnItsWay(status, (RunFence(name),)) if begun else OnItsWay(forbidden)
    if job is None:
        asked = _land_job(landing, name, reads=in_doubt)
        return OnItsWay(status, (asked,) if begun else ())
    if runs.is_fence(job) and delivery.abandoned is None:
        return OnItsWay(forbids(before) or without_turn(status))
    result = result_of(LandResult, job, LAND, delivery.abandoned, landing.late, now)
    if isinstance(result, Unfinished):
        return still_at_work(status, delivery, job, result, now)
    if isinstance(result, Diagnosis):
        unsure = in_doubt or may_have_landed(job, result, now)
        loses = result.reason in LOST and not in_doubt
        return OnItsWay(_not_landed(status, delivery, landing, result, now, unsure, loses))
    if result.state == "Landed":
        return Landed(goes_on(status), merged(delivery, landing, result, now))
    return OnItsWay(_elsewhere(status, delivery, landing, result.tip, now))


def followed(
    status: S, landing: Landing, gone: Diagnosis, now: datetime
) -> OnItsWay[S] | Landed[S]:
    """One look at a landing that has begun, whose Project is `gone`: what its Job did counts, and
    no other one can be made.

    Where it does not tell whether it has pushed, nobody can read the remote. Then the step stays
    Landing, so that a cancel goes on to come too late, and a person is told.
    """
    late = judging_late(status, landing.jobs, now)
    if late is not None:
        return OnItsWay(*late)
    delivery, status = status.delivery, goes_on(status)
    assert delivery is not None
    name, in_doubt = landing.job(LAND, delivery.round), delivery.may_have_landed is True
    job = job_of(landing.jobs, name, delivery.abandoned, now)
    if job is None and not in_doubt:
        # It may be there, or come, without anybody having seen it yet.
        return OnItsWay(status, (RunFence(name),), LOOK_AGAIN_SECONDS)
    if job is None or job.refused is not None or (runs.is_fence(job) and not delivery.abandoned):
        return OnItsWay(_nobody_can_tell(status, landing, gone, now))
    result = result_of(LandResult, job, LAND, delivery.abandoned, landing.late, now)
    if isinstance(result, Unfinished):
        return still_at_work(status, delivery, job, result, now)
    if isinstance(result, Diagnosis):
        unsure = in_doubt or may_have_landed(job, result, now)
        update = why_not(delivery, landing, result, unsure=unsure)
        status = status.model_copy(update={"delivery": delivery.model_copy(update=update)})
        if unsure:
            return OnItsWay(_nobody_can_tell(status, landing, gone, now))
    elif result.state == "Landed":
        return Landed(status, merged(delivery, landing, result, now))
    else:
        moved = {"tip": result.tip, "step": None, "may_have_landed": None}
        status = status.model_copy(update={"delivery": delivery.model_copy(update=moved)})
    return OnItsWay(waits(status, gone.reason, gone.message, now, needs_person=True))


def _nobody_can_tell(status: S, landing: Landing, gone: Diagnosis, now: datetime) -> S:
    text = f"{gone.message}; whether {landing.commit.sha} has landed in {landing.onto} is not known"
    remedy = _LOOK_YOURSELF if gone.reason == Reason.PROJECT_GONE else None
    return waits(status, gone.reason, text, now, needs_person=True, remedy=remedy)


def _not_landed(
    status: S,
    delivery: Delivery,
    landing: Landing,
    problem: Diagnosis,
    now: datetime,
    unsure: bool,
    loses: bool,
) -> S:
    """`unsure`: it may have landed. `loses`: a candidate is not what it was, or not where."""
    if loses and can_be_made_anew(status.verification, landing.source.origin):
        if not unsure:
            return lose(status, problem, landing.project, now)
        status = _without_candidate(status)
    return _failed(status, delivery, landing, problem, now, unsure=unsure)


def _elsewhere(status: S, delivery: Delivery, landing: Landing, tip: str, now: datetime) -> S:
    """Nothing has landed: it is begun anew or, where the tip moved, a candidate is made."""
    update = {"tip": tip, "step": None, "may_have_landed": None}
    moved = delivery.model_copy(update=update)
    surprise = _surprise(landing, tip) if tip != landing.commit.base else None
    if surprise is not None:
        return _failed(status, moved, landing, surprise, now)
    return goes_on(status).model_copy(update={"delivery": moved})


def _surprise(landing: Landing, tip: str) -> Diagnosis | None:
    """What is wrong where a ref of ours was found at this tip."""
    if not landing.ours or tip == landing.tip:
        return None
    text = f"{landing.onto} is at {tip}, but what landed last is {landing.tip}"
    return Diagnosis(Reason.INTEGRATION_MOVED, text)


def _land_job(landing: Landing, name: str, *, reads: bool) -> RunLand:
    commit = landing.commit
    return RunLand(
        job=name,
        ref=commit.ref,
        sha=commit.sha,
        tree=commit.tree,
        onto=landing.onto,
        expect=None if reads else commit.base,
        attests=landing.attests(),
        branch=landing.branch,
        branch_at=landing.branch_at if landing.branch is not None else None,
        signs=landing.signs and not reads,
    )


def _conflict(
    status: S, delivery: Delivery, landing: Landing, result: PrepareResult
) -> Conflicted[S]:
    files = ", ".join(sanitise(path, 200) for path in result.conflicts)
    text = f"{landing.conflict}: {files}"
    if result.for_people:
        people = [f"'{sanitise(path, 200)}'" for path in result.for_people]
        text = f"{_FOR_PEOPLE}: {some(people, len(people))}; {text}"
    update = {
        "state": "Conflict",
        "step": None,
        "reason": Reason.MERGE_CONFLICT,
        "message": text[:2000],
    }
    status = status.model_copy(update={"delivery": delivery.model_copy(update=update)})
    named = () if result.altered else result.conflicts
    return Conflicted(status, text, result.sides, named, result.marked)


def _failed(
    status: S,
    delivery: Delivery,
    landing: Landing,
    problem: Diagnosis,
    now: datetime,
    *,
    unsure: bool = False,
) -> S:
    """The work keeps its ref; only the merge is tried again, under a new number.

    `unsure`: it may have landed, so it stays at Landing until a Job has read the remote.
    """
    times = (delivery.failures or 0) + 1
    update = why_not(delivery, landing, problem, unsure=unsure) | {"failures": times}
    status = status.model_copy(update={"delivery": delivery.model_copy(update=update)})
    told = Diagnosis(problem.reason, without_quotes(problem.message, _SAYS_MORE))
    resting = landing.resting
    return tried_again(status, told, landing.project, now, times=times, resting=resting)
