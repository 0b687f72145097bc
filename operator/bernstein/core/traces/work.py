"""What a Task and a Plan have in common: their work is verified, and lands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from bernstein.api.delivery import Delivery
from bernstein.api.verification import CheckResult, Verification
from bernstein.core.traces import models
from bernstein.core.traces.span import Span, Value, span, span_id

LETS_ON = ("Passed", "Bypassed", "Skipped")


def verified(
    judged: Verification | None,
    *,
    trace: bytes,
    uid: str,
    where: str,
    since: datetime,
    until: datetime | None,
    common: Mapping[str, Value | None],
    began_then: bool = True,
) -> list[Span]:
    """One round of checks that has an end, with what models were asked in it.

    `where`: the repository, where there are several. `since`: when it can have begun at the
    earliest; `began_then`: whether it did where no check says when; else it takes no time then.
    `until`: when it ended at the latest, where it did not let the work on. None where the status
    says nothing of these times.
    """
    if judged is None or judged.passed is None:
        return []
    ran = [check for check in judged.checks if check.ended_at is not None and not check.cached]
    ends = [check.ended_at for check in ran if check.ended_at is not None]
    end = judged.verified_at or (max(ends) if ends else until)
    if end is None:
        return []
    start = max(since, min(map(_began, ran), default=since if began_then else end))
    of = ("verify", where, judged.ref, judged.sha, judged.round, judged.passed)
    rejected = tuple(check.name for check in judged.checks if check.verdict not in LETS_ON)
    verify = span(
        trace=trace,
        of=span_id(uid, *of),
        parent=span_id(uid),
        name="verify",
        start=start,
        end=end,
        attributes={
            **common,
            "bernstein.verification.passed": judged.passed,
            "bernstein.verification.round": judged.round,
            "bernstein.verification.score": judged.quality_score,
            "bernstein.checks.passed": _names(judged.checks, "Passed"),
            "bernstein.checks.rejected": rejected,
            "vcs.ref.head.revision": judged.sha,
        },
        error=None if judged.passed else "Rejected",
    )
    asked = models.calls(judged.calls, trace=trace, uid=uid, since=since, common=common)
    return [verify, *asked]


def landed(
    delivery: Delivery | None,
    judged: Verification | None,
    *,
    trace: bytes,
    uid: str,
    where: str,
    common: Mapping[str, Value | None],
) -> list[Span]:
    """The way from a verified tree to where it belongs, waiting for its turn included."""
    if delivery is None or delivery.landed_at is None:
        return []
    found = judged.verified_at if judged is not None else None
    pull = delivery.pull_request
    return [
        span(
            trace=trace,
            of=span_id(uid, "land", where, delivery.sha, delivery.round),
            parent=span_id(uid),
            name="land",
            start=found or delivery.landed_at,
            end=delivery.landed_at,
            attributes={
                **common,
                "bernstein.delivery.state": delivery.state,
                "bernstein.delivery.pull_request": pull.number if pull is not None else None,
                "vcs.ref.head.revision": delivery.sha,
            },
        )
    ]


def _began(check: CheckResult) -> datetime:
    assert check.ended_at is not None
    return check.ended_at - timedelta(seconds=check.seconds or 0)


def _names(checks: tuple[CheckResult, ...], verdict: str) -> tuple[str, ...]:
    return tuple(check.name for check in checks if check.verdict == verdict)
