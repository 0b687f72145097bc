"""Which Plans of a Project may begin now: a few at a time have a turn.

A Plan asks for it before it makes its Job, and gives it back when that has a result. The turn
stands in the status of the Plan alone, and the schedule alone gives it: so no more are at work
than there are turns, whoever takes over. Who finds the name of that Job taken keeps it, and keeps
nobody else from one.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bernstein.api.plan import ASKS, NEXT, Plan, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitReason
from bernstein.core.delivery.ledger import LONG_AGO
from bernstein.core.progress import IS_MADE
from bernstein.core.waiting import goes_on

MOST = 4
"""So many Plans of a Project begin at once, or as many as it may have agents if that is less."""


def turns(plans: Iterable[Plan], most_agents: int) -> list[tuple[Plan, PlanStatus]]:
    """The statuses of those that get a turn. `plans`: those of the Project that ask or have one."""
    going = [plan for plan in plans if plan.status.ended_at is None]
    has = sum(takes_one(plan.status) for plan in going)
    asks = sorted((plan for plan in going if _asks(plan)), key=_order)
    free = max(0, min(MOST, most_agents) - has)
    return [(plan, _begins(plan.status)) for plan in asks[:free]]


def takes_one(status: PlanStatus) -> bool:
    """Whether it takes a turn of others. Where somebody has the name of its Job there is none."""
    waiting = status.waiting
    is_taken = waiting is not None and waiting.reason == Reason.NAME_CONFLICT
    return status.beginning == NEXT and not is_taken


def _begins(status: PlanStatus) -> PlanStatus:
    """The status of a Plan whose turn it is: it waits for none any more. What was tried before
    stays known, until it is tried again."""
    status, waiting = status.model_copy(update={"beginning": NEXT}), status.waiting
    if waiting is None or waiting.reason != WaitReason.BEGIN_QUEUE:
        return status
    if waiting.tried is None:
        return goes_on(status)
    told = waiting.model_copy(update={"message": IS_MADE})
    return status.model_copy(update={"waiting": told})


def _asks(plan: Plan) -> bool:
    alive = plan.spec.cancel is None and plan.metadata.deletion_timestamp is None
    return alive and plan.status.beginning == ASKS


def _order(plan: Plan) -> tuple[datetime, str]:
    return (plan.metadata.creation_timestamp or LONG_AGO, plan.metadata.name)
