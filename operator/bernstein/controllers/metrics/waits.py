"""How long Plans and Tasks waited for what, as a metric."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from bernstein.core.waiting import Waits
from bernstein.observe.metrics import Metrics


def count(
    metrics: Metrics,
    namespace: str,
    kind: Literal["Task", "Plan"],
    old: Waits,
    new: Waits,
    now: datetime,
) -> None:
    """Counts the waiting that this write has ended; call it once the write has succeeded."""
    before, after = old.waiting, new.waiting
    if before is None or (after is not None and after.reason == before.reason):
        return
    metrics.waited(namespace, kind, before.reason, (now - before.since).total_seconds())
