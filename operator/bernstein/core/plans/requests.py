"""What people ask of a Plan beside its work, and how one that had failed goes on.

A Retry is handed on to the Tasks that have failed, as a request of the same person, and answered
once they have answered. A Remerge is about what the Plan delivers as a whole: no Task hears of it.
A Task that was granted a round says so (`status.round`), whoever asked: the Plan notes it in the
Task's row, and is at work again. So neither a crash nor a cache that lags makes it end twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import chain
from itertools import count as count_from

from bernstein.api.plan import PlanStatus
from bernstein.api.project import Project
from bernstein.api.requests import (
    DELIVER_PARTIAL,
    REMERGE,
    RETRY,
    Answer,
    PlanRequest,
    RefusalReason,
    TaskRequest,
)
from bernstein.api.task import Task
from bernstein.core import requests
from bernstein.core.actions import AskTask, PlanDecision
from bernstein.core.delivery import conflict, landing, proposal
from bernstein.core.plans import part
from bernstein.core.plans.member import failed_for_good
from bernstein.core.plans.nodes import standing
from bernstein.core.plans.places import view
from bernstein.core.plans.standstill import deleted
from bernstein.core.plans.tally import tallied
from bernstein.core.sanitise import count, line
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import goes_on, is_tried_later, is_trying, tried_at_once

Verb = Callable[[PlanSnapshot, PlanStatus, PlanRequest, datetime], PlanDecision]


def answered(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The status with the answers that can be given now, and what the others need first."""

    def step(so_far: PlanStatus, request: PlanRequest) -> PlanDecision:
        return VERBS[request.verb](snapshot, so_far, request, now)

    return PlanDecision(*requests.each(status, snapshot.plan.spec.requests, VERBS, step, now))


def _retry(
    snapshot: PlanSnapshot, status: PlanStatus, request: PlanRequest, now: datetime
) -> PlanDecision:
    asked = snapshot.plan.spec.requests
    refusal = _why_not(snapshot, status)
    if refusal is not None:
        return PlanDecision(requests.refused(status, asked, request, *refusal, now))
    if is_tried_later(status, snapshot.project, now):
        status = _all_at_once(status, snapshot.project, now)
        return PlanDecision(requests.done(status, asked, request, requests.AT_ONCE, now))
    every = sorted(snapshot.tasks.items())
    tasks = [task for name, task in every if standing.may_retry(snapshot.plan, status, name)]
    told = [task for task in tasks if _is_asked(task, request)]
    others = (t for t in tasks if not (_is_asked(t, request) or _is_leaving(t)))
    to_ask = [task for task in others if _waits_for_a_person(snapshot, task, now)]
    if to_ask:
        return PlanDecision(status, tuple(_ask(task, request) for task in to_ask))
    answers = [_answer(task, request) for task in told]
    if any(answer is None for answer in answers):
        return PlanDecision(status)
    number = sum(answer is not None and answer.answer == "Done" for answer in answers)
    gone = deleted(snapshot)
    if not number:
        text = gone or "none of its Tasks has failed for good, or waits for a person"
        why = RefusalReason.TASK_DELETED if gone else RefusalReason.NOTHING_TO_RETRY
        return PlanDecision(requests.refused(status, asked, request, why, text, now))
    tried = "is tried again" if number == 1 else "are tried again"
    text = f"{count(number, 'Task')} {tried}{f'; {gone}' if gone else ''}"
    return PlanDecision(requests.done(status, asked, request, text, now))


def _all_at_once(status: PlanStatus, project: Project | None, now: datetime) -> PlanStatus:
    """The status in which it is tried at once in each repository where it is to be tried later."""
    for row in status.repositories:
        seen = view.status_in(status, row)
        if is_tried_later(seen, project, now):
            status = view.put_back(status, row, tried_at_once(seen, now))
    return tried_at_once(status, now)


def _why_not(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[RefusalReason, str] | None:
    if part.is_on_its_way(status):
        return (
            RefusalReason.BEING_DELIVERED,
            "what is Closed of it is being delivered without the rest",
        )
    return _gone(snapshot, status)


def _gone(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[RefusalReason, str] | None:
    if snapshot.plan.spec.cancel is not None:
        return RefusalReason.CANCELLED, "it was cancelled"
    if status.ended_at is not None and status.phase != "Failed":
        return RefusalReason.PLAN_ENDED, f"it has ended: {status.phase}"
    return None


def _waits_for_a_person(snapshot: PlanSnapshot, task: Task, now: datetime) -> bool:
    """Whether it needs another round, or may try at once what it is to try later."""
    if failed_for_good(task) or conflict.is_stalled(task.status):
        return True
    return is_tried_later(task.status, snapshot.project, now)


def _is_leaving(task: Task) -> bool:
    return task.metadata.deletion_timestamp is not None


def _handed_on(task: Task, request: PlanRequest) -> str:
    """The id of the request on the Task.

    A request of somebody else may have been there before it, under an id that is easily guessed:
    what that is answered says nothing of this one.
    """
    theirs = {each.id for each in task.spec.requests if each.by != request.by}
    answers, by = task.status.requests or (), line(request.by, 300)
    theirs |= {answer.id for answer in answers if answer.by != by}
    first = f"plan-{request.id}"
    ids = chain((first,), (f"{first}-{number}" for number in count_from(2)))
    return next(each for each in ids if each not in theirs)


def _is_asked(task: Task, request: PlanRequest) -> bool:
    handed_on = _handed_on(task, request)
    asked = any(each.id == handed_on for each in task.spec.requests)
    return asked or _answer(task, request) is not None


def _answer(task: Task, request: PlanRequest) -> Answer | None:
    return requests.answer_for(_handed_on(task, request), task.status.requests)


def _ask(task: Task, request: PlanRequest) -> AskTask:
    """With what was asked of the Task before; where there is no room, answered ones go."""
    identifier = _handed_on(task, request)
    new = TaskRequest(id=identifier, verb=request.verb, by=request.by, reason=request.reason)
    kept = requests.with_room(task.spec.requests, task.status.requests)
    return AskTask(task.metadata.name, task.metadata.resource_version, (*kept, new))


# --- the merge of the whole -----------------------------------------------------------------------


def _remerge(
    snapshot: PlanSnapshot, status: PlanStatus, request: PlanRequest, now: datetime
) -> PlanDecision:
    """What the Plan delivers is merged or proposed again, as if the time for that had come."""
    asked = snapshot.plan.spec.requests
    refusal = _gone(snapshot, status)
    if refusal is None:
        refusal = _not_to_merge(status)
        if status.repositories:
            status, refusal = _rows_to_merge(status, refusal)
    if refusal is not None:
        return PlanDecision(requests.refused(status, asked, request, *refusal, now))
    status = _merged_again(status)
    return PlanDecision(requests.done(status, asked, request, "its merge is tried again", now))


def _rows_to_merge(
    status: PlanStatus, refusal: tuple[RefusalReason, str] | None
) -> tuple[PlanStatus, tuple[RefusalReason, str] | None]:
    """The status in which each repository is tried again that can be; why not, where none can."""
    tried = False
    for row in status.repositories:
        seen = view.status_in(status, row)
        if row.delivered_at is None and _not_to_merge(seen) is None:
            status, tried = view.put_back(status, row, _merged_again(seen)), True
    return status, None if tried else refusal


def _merged_again(status: PlanStatus) -> PlanStatus:
    status = goes_on(status)
    delivery = status.delivery
    if delivery is not None and delivery.state == "Conflict":
        pending = delivery.model_copy(update={"state": "Pending"})
        status = status.model_copy(update={"delivery": pending})
    return status


def _not_to_merge(status: PlanStatus) -> tuple[RefusalReason, str] | None:
    why, judged = RefusalReason.NOTHING_TO_MERGE, status.verification
    if status.delivery is None:
        return why, "it does not deliver: its own Tasks may be asked"
    if judged is not None and judged.passed is not True and not landing.is_lost(status):
        return why, "its work as a whole is not verified"
    people = proposal.of_people(status)
    if people is not None:
        return why, people
    waiting = status.waiting
    tried = waiting.tried if waiting is not None else None
    failed = waiting is not None and tried is not None and tried.reason == waiting.reason
    if not failed or is_trying(status):
        return why, "its delivery goes on by itself"
    return None


VERBS: Mapping[str, Verb] = {RETRY: _retry, DELIVER_PARTIAL: part.ask, REMERGE: _remerge}


# --- rounds of its Tasks --------------------------------------------------------------------------


def is_behind(snapshot: PlanSnapshot) -> bool:
    """The cache shows a Task as it was before a round that the Plan knows of."""
    return tallied(snapshot).is_behind


def goes_on_again(snapshot: PlanSnapshot) -> bool:
    """It had failed, and since then a Task of it was granted another round."""
    status = snapshot.plan.status
    if status.ended_at is None or status.phase != "Failed":
        return False
    return tallied(snapshot).has_new_round


def revived(status: PlanStatus) -> PlanStatus:
    """The status of a Plan that has not ended after all."""
    running = goes_on(status).model_copy(update={"ended_at": None, "phase": "Running"})
    return part.forgotten(running)
