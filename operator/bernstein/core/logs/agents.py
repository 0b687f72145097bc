"""The agent's log: whether it is kept once its pod goes.

A log is for people. It is kept when it is known that the attempt came to nothing, or when that is
not known yet and the pod is about to go:

    the run failed ─────────────────────────▶ at its end
    it reports success ─┬─ rejected ────────▶ when its Task says so
                        ├─ not judged yet ──▶ MARGIN_SECONDS before its pod goes
                        └─ verified ────────▶ only where the Project keeps all
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bernstein.api.meta import ConditionType
from bernstein.api.projects.retention import AgentLogs, Retention
from bernstein.api.session import AgentSessionStatus
from bernstein.core.conditions import find

PACKED_BYTES = 16 * 1024
"""What is kept of a log, as gzip: agents choose what is in it, and each attempt has one."""
MARGIN_SECONDS = 60
"""Before the pod goes, to read its log."""


def is_to_keep(
    before: AgentSessionStatus, after: AgentSessionStatus, kept: Retention, now: datetime
) -> bool:
    """Whether the log is to be kept now that the status becomes `after`."""
    news = _wanted(after, kept.agent_logs) and not _wanted(before, kept.agent_logs)
    left = seconds_until_late(after, kept, now)
    return news or (left is not None and left <= 0)


def seconds_until_late(status: AgentSessionStatus, kept: Retention, now: datetime) -> float | None:
    """Seconds until the log is kept although it is not known yet whether it is of use; None: that
    is known, or it is kept already."""
    if kept.agent_logs != "Failed" or status.outcome is None or status.ended_at is None:
        return None
    ended = find(status.conditions, ConditionType.SUCCEEDED)
    if ended is None or ended.status != "Unknown":
        return None
    stays = timedelta(seconds=kept.pods_seconds - MARGIN_SECONDS)
    return (status.ended_at + stays - now).total_seconds()


def _wanted(status: AgentSessionStatus, which: AgentLogs) -> bool:
    ended = find(status.conditions, ConditionType.SUCCEEDED)
    if which == "Never" or ended is None or status.outcome is None or not status.outcome.started:
        return False
    return which == "Always" or ended.status == "False"
