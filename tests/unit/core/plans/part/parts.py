"""Plans of which a part is asked for, as far as they have come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Cancel
from bernstein.core.actions import (
    CancelTasks,
    PlanDecision,
)
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.delivery.plans import landed
from tests.unit.core.objects import (
    BASE,
    NOW,
    Object,
    checked,
)
from tests.unit.core.plans.decisions import CANCEL, GIVEN_UP, again, look, task
from tests.unit.core.verification.comparisons import compared

ASK: Object = {"id": "d-1", "verb": "DeliverPartial", "by": "ann", "reason": "it is due"}
RETRY: Object = {"id": "r-1", "verb": "Retry", "by": "ann", "reason": "once more"}
FIRST = landed(1, BASE)
HELD = objects.task(
    "held", status=objects.status(waiting=objects.waits(Reason.MODEL_NOT_FOUND, needs_person=True))
)
STARTED = task("busy", TaskState.IN_PROGRESS)
GONE = task("held", TaskState.CANCELLED)


def over(*tasks: Task, **spec: Any) -> Plan:
    """A Plan that has ended because a Task has failed, with the request."""
    found = look(objects.plan(), *(tasks or (FIRST, GIVEN_UP))).status
    assert (found.phase, found.ended_at) == ("Failed", NOW)
    return objects.plan(status=found, **({"requests": [ASK]} | spec))


def cancelled(**spec: Any) -> Plan:
    """One that was cancelled after a Task had landed."""
    found = look(objects.plan(cancel=CANCEL), FIRST, GONE).status
    assert found.phase == "Cancelled"
    return objects.plan(status=found, **({"cancel": CANCEL, "requests": [ASK]} | spec))


def still(*tasks: Task, **spec: Any) -> Plan:
    """One that stands still, and has not ended."""
    found = look(objects.plan(), *(tasks or (FIRST, HELD))).status
    assert (found.phase, found.ended_at) == ("Stalled", None)
    return objects.plan(status=found, **({"requests": [ASK]} | spec))


def bereft() -> Plan:
    """One that has ended because a Task was deleted."""
    found = look(still(requests=[]), FIRST).status
    assert (found.phase, found.ended_at) == ("Failed", NOW)
    return objects.plan(status=found, requests=[ASK])


def accepted(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan once the request was seen."""
    decision = look(before, *tasks, **more)
    assert decision.actions == ()
    assert decision.status.partial is not None
    return again(before, decision)


def judged(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan once it is to be judged."""
    found = accepted(before, *tasks, **more)
    decision = look(found, *tasks, **more)
    assert decision.status.verification is not None
    return again(found, decision)


def passed(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan whose part has passed, before its landing is written."""
    found = judged(before, *tasks, **more)
    return again(found, look(found, *tasks, jobs=(checked("web-lint-0"),), **more))


def landing_of(before: Plan, *tasks: Task) -> Plan:
    """The Plan whose land Job may be at work."""
    found = passed(before, *tasks)
    found = again(found, look(found, *tasks))
    assert found.status.delivery is not None
    assert found.status.delivery.step == "Landing"
    return found


def answers(status: PlanStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in status.requests or ()]


def said(status: PlanStatus) -> str:
    (answer,) = status.requests or ()
    return answer.message


def cancels(decision: PlanDecision) -> list[tuple[str, ...]]:
    return [action.names for action in decision.actions if isinstance(action, CancelTasks)]


def handed_on(decision: PlanDecision) -> Cancel:
    """What the Plan writes into Tasks that it is delivered without."""
    (found,) = [a.cancel for a in decision.actions if isinstance(a, CancelTasks)]
    return found


def taken_out(subject: Plan) -> Plan:
    """The Plan once who asked has taken his request out of it."""
    return subject.model_copy(update={"spec": subject.spec.model_copy(update={"requests": ()})})


def renamed(subject: JobView, name: str) -> JobView:
    return replace(subject, name=name)


FAILS = (checked("web-lint-0", 1), compared("web-lint-0b"))
