"""Classifies error messages of model providers: CLIs pass on nothing but the text."""

from __future__ import annotations

import re

from bernstein.agents.adapter import RETRY_LIMIT
from bernstein.api.reasons import Reason

_STATUS = re.compile(r"(?:status|code)\W{0,3}(\d{3})\b", re.IGNORECASE)
_RETRY = re.compile(
    r"(?:try|retry)(?:ing)?\s+(?:again\s+)?(?:in|after)\s+"
    r"((?:\d{1,7}(?:\.\d{1,6})?\s*(?:ms|[a-z]{1,12})(?:,|\s+and)?\s*){1,4})",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)\s*(ms|[a-z]{1,12})", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SPEAKABLE = {"milliseconds": "ms", "seconds": "s", "minutes": "m", "hours": "h", "days": "d"}

_BY_STATUS = {
    401: Reason.MODEL_AUTH_FAILED,
    403: Reason.MODEL_AUTH_FAILED,
    429: Reason.RATE_LIMITED,
}
_BY_PHRASE = (
    # The first match counts. A used-up limit comes first: its status is that of a rate limit.
    (
        Reason.USAGE_LIMITED,
        r"usage limit|insufficient_quota|exceeded your current quota|quota exceeded"
        r"|spend_limit|out of credits|credit balance",
    ),
    (
        Reason.MODEL_AUTH_FAILED,
        r"missing environment variable|incorrect api key|invalid.{0,3}api.{0,3}key",
    ),
    (Reason.RATE_LIMITED, r"rate.?limit|too many requests"),
    (Reason.REFUSED, r"content_filter|content policy|flagged for|policy violation"),
    (
        Reason.PROVIDER_UNAVAILABLE,
        r"stream disconnected|error sending request|connection (?:refused|reset|failed)"
        r"|high demand|overloaded|at capacity|server_error|timed out|timeout|dns error",
    ),
)
_PHRASES = tuple((outcome, re.compile(words, re.IGNORECASE)) for outcome, words in _BY_PHRASE)
_SERVER_ERRORS = range(500, 600)
_TEXT_LIMIT = 8192


def classify(message: str) -> str:
    """The outcome that a provider's error message stands for; AgentFailed when it is unknown."""
    message = message[:_TEXT_LIMIT]
    status = _status(message)
    for outcome, pattern in _PHRASES:
        if outcome == Reason.USAGE_LIMITED and pattern.search(message):
            return outcome
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in _SERVER_ERRORS:
        return Reason.PROVIDER_UNAVAILABLE
    if status is not None:
        return Reason.AGENT_FAILED
    return next((outcome for outcome, p in _PHRASES if p.search(message)), Reason.AGENT_FAILED)


def retry_after(message: str) -> int | None:
    """Seconds of a "try again in 1h 20m", rounded up, at most a day; None if it says no such
    thing."""
    match = _RETRY.search(message[:_TEXT_LIMIT])
    if match is None:
        return None
    seconds = 0.0
    for number, unit in _DURATION.findall(match[1]):
        factor = _factor(unit.lower())
        if factor is None:
            break
        seconds += float(number) * factor
    return min(max(-int(-seconds // 1), 1), RETRY_LIMIT) if seconds > 0 else None


def _factor(unit: str) -> float | None:
    """Seconds in a unit, which may be spelled out or shortened to three letters or more."""
    if unit in _SECONDS:
        return _SECONDS[unit]
    if len(unit) < len("min"):
        return None
    spelled = next((short for word, short in _SPEAKABLE.items() if word.startswith(unit)), None)
    return None if spelled is None else _SECONDS[spelled]


def _status(message: str) -> int | None:
    match = _STATUS.search(message)
    return int(match[1]) if match else None
