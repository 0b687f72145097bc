"""The prompt that a session's agent was given, as the container tells that put it together."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bernstein.api.encoding import load
from bernstein.api.meta import ConditionType
from bernstein.api.pod import CHECKOUT, CheckoutResult
from bernstein.api.session import AgentSessionStatus, Prompt
from bernstein.core import conditions, pods
from bernstein.core.jobs import JobView
from bernstein.core.prompts.knowledge import is_too_long
from bernstein.core.sanitise import line

_CUTS, _CUT = 20, 300
_PARTS, _WORD = 20, 64
_MISSING = "Make what the Project names in spec.knowledge, or correct that."
_LONG = "Shorten what is too long, or take it out of spec.knowledge of the Project."
_NEXT = "It is read when a session begins; this one goes on without."


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
    missing = given.knowledge_missing
    text = f"its agent was not told: {'; '.join(missing)}. Remedy: {_remedy(missing)}"
    return conditions.note(status, ConditionType.KNOWLEDGE_MISSING, True, "NotRead", text, now)


def _remedy(missing: Iterable[str]) -> str:
    """What helps with all that was not told: what is there, and too long, is not to be made."""
    long = {is_too_long(each) for each in missing}
    parts = ((False, _MISSING), (True, _LONG))
    return " ".join([*(words for which, words in parts if which in long), _NEXT])


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
