"""The agent's log: whether it is kept once its pod goes.

A log is for people. It is kept as soon as it is known how the attempt ended: when its run failed,
or when its Task says how what it left was judged.
"""

from __future__ import annotations

from bernstein.api.meta import ConditionType
from bernstein.api.project import AgentLogs
from bernstein.api.session import AgentSessionStatus
from bernstein.core.conditions import find

PACKED_BYTES = 16 * 1024
"""What is kept of a log, as gzip: agents choose what is in it, and each attempt has one."""


def is_to_keep(before: AgentSessionStatus, after: AgentSessionStatus, which: AgentLogs) -> bool:
    """Whether the log is to be kept now that the status becomes `after`."""
    return _wanted(after, which) and not _wanted(before, which)


def _wanted(status: AgentSessionStatus, which: AgentLogs) -> bool:
    ended = find(status.conditions, ConditionType.SUCCEEDED)
    if which == "Never" or ended is None or status.outcome is None or not status.outcome.started:
        return False
    return ended.status == "False" or (which == "Always" and ended.status == "True")
