"""What is counted of a question to people, when the status of its subject was written."""

from __future__ import annotations

from typing import Literal

from bernstein.core.approvals.asking import Asking
from bernstein.observe.metrics import Metrics


def count(
    metrics: Metrics, namespace: str, kind: Literal["Task", "Plan"], old: Asking, new: Asking
) -> None:
    """Counts the decision that this write has acted upon; call it once the write has succeeded."""
    before, after = old.approval, new.approval
    if after is None or after.decision is None or after.time is None or after == before:
        return
    seconds = (after.time - after.since).total_seconds()
    metrics.decided(namespace, kind, after.decision, seconds)
