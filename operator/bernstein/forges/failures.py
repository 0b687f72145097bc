"""What an answer of a forge means that is an error, of whichever of them."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.forges.errors import ForgeError
from bernstein.web import retry_after
from bernstein.web.json_values import items, mapping, text_of
from bernstein.web.secret import Secret

MOST_SECONDS = 24 * 3600.0
"""That a forge may ask us to wait."""
UNTOLD_SECONDS = 60.0
"""That we wait where it limits us and does not say for how long, as GitHub asks of its clients."""
_LIMITED = ("rate limit", "abuse detection", "too many requests")
_EXISTS = ("already exists", "already has")
_MOST_ERRORS = 8
_ELSEWHERE = (301, 307, 308)
"""As forges answer; who is sent to a page to log in gets another one."""
_MOVED = (
    "the repository was renamed or moved, or its API is at another address; as no token goes where "
    "an answer says, no redirect is followed"
)


def failure(
    status: int, body: Any, headers: Mapping[str, str], token: Secret, now: float
) -> ForgeError:
    """`body`: the JSON of the answer, None where it has none; `now`: Unix time."""
    words = _words(body)
    wait = asked(headers, now)
    reason = _reason(status, words.lower(), wait)
    message = f"the forge answered {status}"
    if reason is ForgeReason.ANSWER_INVALID:
        message += ": there is no such API at this address"
    if reason is ForgeReason.ADDRESS_INVALID:
        message += f": {_MOVED}"
    if reason is ForgeReason.RATE_LIMITED:
        wait = UNTOLD_SECONDS if wait is None else wait
    elif status != HTTPStatus.SERVICE_UNAVAILABLE:
        wait = None
    return ForgeError(reason, message, said=token.shown(words), status=status, retry_after=wait)


def asked(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a forge asks to wait; None: it does not say, or more than MOST_SECONDS, which is
    no word that anybody means.

    GitHub and GitLab name the time at which a limit is raised again, as Unix time.
    """
    said = retry_after.seconds(headers, now)
    if said is None and remaining(headers) == 0:
        for name in ("x-ratelimit-reset", "ratelimit-reset"):
            reset = retry_after.number(headers.get(name))
            if reset is not None:
                said = max(reset - now, 0.0)
                break
    return None if said is None or said > MOST_SECONDS else said


def remaining(headers: Mapping[str, str]) -> int | None:
    """Requests that may be made until the limit is raised again; None: the forge does not say."""
    for name in ("x-ratelimit-remaining", "ratelimit-remaining"):
        count = retry_after.number(headers.get(name))
        if count is not None:
            return int(min(count, 1e9))
    return None


def _reason(status: int, words: str, wait: float | None) -> ForgeReason:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return ForgeReason.RATE_LIMITED
    if status == HTTPStatus.FORBIDDEN:
        # GitHub's limits come as 403, its secondary ones without a word in headers.
        is_limit = wait is not None or any(phrase in words for phrase in _LIMITED)
        return ForgeReason.RATE_LIMITED if is_limit else ForgeReason.RIGHTS_MISSING
    if status == HTTPStatus.UNAUTHORIZED:
        return ForgeReason.TOKEN_REFUSED
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return ForgeReason.NOT_FOUND
    exists = any(phrase in words for phrase in _EXISTS)
    if status == HTTPStatus.CONFLICT or (status == HTTPStatus.UNPROCESSABLE_ENTITY and exists):
        return ForgeReason.EXISTS if exists else ForgeReason.REFUSED
    if status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ForgeReason.UNAVAILABLE
    if status in _ELSEWHERE:
        return ForgeReason.ADDRESS_INVALID
    elsewhere = status < HTTPStatus.BAD_REQUEST or status == HTTPStatus.METHOD_NOT_ALLOWED
    return ForgeReason.ANSWER_INVALID if elsewhere else ForgeReason.REFUSED


def _words(body: Any) -> str:
    """What the forge says, of whichever shape: a text, or texts in a list or an object."""
    said = mapping(body)
    parts = [_flat(said.get(name)) for name in ("message", "error", "error_description")]
    errors = said.get("errors")
    parts += [_flat(each) for each in items(errors)[:_MOST_ERRORS]]
    return "; ".join(part for part in parts if part)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("message") or next(iter(value.values()), "")
    if isinstance(value, list):
        return ", ".join(text_of(each) for each in value[:_MOST_ERRORS])
    return text_of(value)
