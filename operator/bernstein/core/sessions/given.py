"""The prompt that a session's agent was given, as the container tells that put it together."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.encoding import load
from bernstein.api.meta import ConditionType
from bernstein.api.pod import CHECKOUT, CheckoutResult
from bernstein.api.session import AgentSessionStatus, Prompt
from bernstein.core import conditions, pods
from bernstein.core.jobs import JobView
from bernstein.core.sanitise import line

_CUTS, _CUT = 20, 300
_PARTS, _WORD = 20, 64
_REMEDY = (
    "Make what the Project names in spec.knowledge, or correct that. It is read when a session "
    "begins; this one goes on without."
)


def with_prompt(status: AgentSessionStatus, job: JobView, now: datetime) -> AgentSessionStatus:
    """The status with it, once it is known; a pod that an older release made never tells."""
    if status.prompt is not None or job.pod is None:
        return status
    ended = pods.terminated(job.pod, CHECKOUT) or {}
    try:
        checkout = load(CheckoutResult, ended.get("message") or "")
        given = of_checkout(checkout)
    except ValueError:
        return status
    return _untold(status.model_copy(update={"prompt": given}), given, now)


def _untold(status: AgentSessionStatus, given: Prompt | None, now: datetime) -> AgentSessionStatus:
    """The status, which says so where the agent is not told all that it was to know."""
    if given is None or not given.knowledge_missing:
        return status
    text = f"its agent was not told: {'; '.join(given.knowledge_missing)}. Remedy: {_REMEDY}"
    return conditions.note(status, ConditionType.KNOWLEDGE_MISSING, True, "NotRead", text, now)


def of_checkout(checkout: CheckoutResult) -> Prompt | None:
    """What a status has of it; None: the container put none together."""
    given = checkout.prompt
    if given is None:
        return None
    return Prompt(
        digest=given.digest,
        bytes=given.size,
        base=checkout.sha,
        cut=tuple(line(each, _CUT) for each in given.cut[:_CUTS]),
        resumed=given.resumed,
        mark=line(given.mark, _WORD) or None,
        parts={line(part.name, _WORD): part.bytes for part in given.parts[:_PARTS]},
        change_missing=line(given.unshown, _WORD) or None,
        knowledge_missing=tuple(line(each, _CUT) for each in given.untold[:_CUTS]),
    )
