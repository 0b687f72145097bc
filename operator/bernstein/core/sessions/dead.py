"""Whether there is anything to do about a session that is Dead, told by few of its fields.

There are as many as Tasks that are Closed, or more: see `core/tasks/closed.py`. Nothing is left out
here that `decide` would do.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bernstein.api.meta import ConditionType
from bernstein.api.states import SessionState
from bernstein.core.pods import parse_time
from bernstein.core.sessions import reading
from bernstein.core.sessions.decide import LATEST_SECONDS


class Dead(NamedTuple):
    """What is remembered of one whose status says all that there is to say."""

    at: datetime
    """When it ended."""
    reported: bool
    """It claims success: how its work was judged, its Task says."""
    judgement: str | None
    """As it says itself."""
    task: str
    task_uid: str


def read(session: Mapping[str, Any]) -> Dead | None:
    """Of a session as it is served; None: it is not Dead, or something is left to be written about
    it whatever else there is."""
    meta, status = session["metadata"], session.get("status") or {}
    outcome, ended = status.get("outcome"), status.get("endedAt")
    if status.get("state") != SessionState.DEAD or "deletionTimestamp" in meta:
        return None
    if outcome is None or ended is None or status.get("job") is None:
        return None
    if not _is_told(status, outcome["reason"], meta.get("generation")):
        return None
    task, reported = session["spec"]["taskRef"], outcome["reason"] == reading.REPORTED
    at, judgement = parse_time(ended), status.get("judgement")
    return Dead(at, reported, judgement, task["name"], task["uid"])


def _is_told(status: Mapping[str, Any], outcome: str, generation: int | None) -> bool:
    if generation is None or status.get("observedGeneration") != generation:
        return False
    conditions = {each["type"]: each for each in reversed(status.get("conditions") or ())}
    ended = conditions.get(ConditionType.SUCCEEDED)
    if ended is None or ConditionType.STALLED in conditions:
        return False
    said = (ended["status"], ended["reason"], ended.get("message"))
    if said != reading.of_end(outcome, status.get("judgement")):
        return False
    return ended.get("observedGeneration") == generation and status.get("reason") == said[1]


def is_done(dead: Dead, judged: str | None, *, has_pods: bool, now: datetime) -> bool:
    """Whether nothing has to be done, until something changes.

    `judged`: see `reading.judgement`. `has_pods`: a Job or pod of it is there, or was a moment ago.
    """
    # For so long a request that nobody waited for may still make its Job.
    if has_pods or now - dead.at < timedelta(seconds=LATEST_SECONDS):
        return False
    return not dead.reported or judged in (None, dead.judgement)
