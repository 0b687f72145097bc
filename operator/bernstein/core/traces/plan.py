"""Spans of a Plan: the whole, and in each repository its verification and its landing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan
from bernstein.api.verification import Verification
from bernstein.core.traces import work
from bernstein.core.traces.span import DELETED, Span, Value, span, span_id, trace_id

SUCCEEDED = "Succeeded"


def of_plan(plan: Plan, over_at: datetime | None = None) -> list[Span]:
    """Of all its parts that have ended. `over_at`: when it was seen to be deleted."""
    meta, status = plan.metadata, plan.status
    if meta.creation_timestamp is None:
        return []
    trace = trace_id(meta.uid)
    found: list[Span] = []
    for where, judged, delivery in _repositories(plan):
        common = _common(plan) | {"bernstein.repository": where}
        found += work.verified(
            judged,
            trace=trace,
            uid=meta.uid,
            where=where,
            since=meta.creation_timestamp,
            until=status.ended_at,
            common=common,
            began_then=False,
        )
        found += work.landed(
            delivery, judged, trace=trace, uid=meta.uid, where=where, common=common
        )
    end = status.ended_at or over_at
    return found if end is None else [*found, _whole(plan, trace, end)]


def _repositories(plan: Plan) -> Iterator[tuple[str, Verification | None, Delivery | None]]:
    """How far it is in each, by its name; "": it works in one alone."""
    status = plan.status
    if not status.repositories:
        yield "", status.verification, status.delivery
    for row in status.repositories:
        yield row.name, row.verification, row.delivery


def _common(plan: Plan) -> dict[str, Value | None]:
    return {
        "k8s.namespace.name": plan.metadata.namespace,
        "bernstein.plan.name": plan.metadata.name,
    }


def _whole(plan: Plan, trace: bytes, end: datetime) -> Span:
    meta, status = plan.metadata, plan.status
    assert meta.creation_timestamp is not None
    return span(
        trace=trace,
        of=span_id(meta.uid),
        parent=None,
        name="plan",
        start=meta.creation_timestamp,
        end=end,
        attributes={
            **_common(plan),
            "bernstein.project": status.project,
            "bernstein.plan.phase": status.phase,
            "bernstein.plan.tasks": len(status.tasks),
            "bernstein.spend.usd": float(status.spend_usd),
        },
        error=_why(plan),
    )


def _why(plan: Plan) -> str | None:
    """Why it ended badly: by its phase, if that is of its end."""
    if plan.status.ended_at is None:
        return DELETED
    return None if plan.status.phase == SUCCEEDED else plan.status.phase
