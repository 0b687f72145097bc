"""What is counted of a question to people, when the status of its subject was written."""

from __future__ import annotations

from typing import Literal

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import PlanStatus
from bernstein.core.approvals.asking import Asking
from bernstein.observe.metrics import Metrics


def count(
    metrics: Metrics, namespace: str, kind: Literal["Task", "Plan"], old: Asking, new: Asking
) -> None:
    """Counts what decisions this write has acted upon; call it once the write has succeeded."""
    before = _asked(old)
    for after in _asked(new):
        if after.decision is None or after.time is None or after in before:
            continue
        seconds = (after.time - after.since).total_seconds()
        metrics.decided(namespace, kind, after.decision, seconds)


def _asked(status: Asking) -> tuple[AskedApproval, ...]:
    """Of a Plan whether it may begin, and whether phases of its workflow may."""
    if isinstance(status, PlanStatus):
        return status.asked
    return () if status.approval is None else (status.approval,)
