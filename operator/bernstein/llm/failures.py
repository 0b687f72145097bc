"""What an error of a provider means, of whichever of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm import retries
from bernstein.llm.errors import ModelError
from bernstein.web.json_values import items, mapping, text_of
from bernstein.web.secret import Secret

_BUSY = {"overloaded_error", "UNAVAILABLE"}
_SPENT = {
    "billing_error",
    "billing_hard_limit_reached",
    "insufficient_quota",
    "insufficient_credits",
}
_SPENT_PHRASES = ("credit balance is too low", "insufficient credits")
_DAILY = "PerDay"
"""In the name of a quota of Gemini's that does not fill up again soon."""
_DENIED = {
    "API_KEY_INVALID",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "authentication_error",
    "permission_error",
    "invalid_api_key",
}
_UNKNOWN = {"model_not_found"}
_UNKNOWN_PHRASES = ("is not a valid model",)
_TOO_LONG = {"context_length_exceeded", "request_too_large", "string_above_max_length"}
_TOO_LONG_PHRASES = (
    "prompt is too long",
    "maximum context length",
    "exceeds the maximum number of tokens",
)
_ELSEWHERE_PHRASES = ("invalid url",)
_FILTERED = {"content_filter", "content_policy_violation"}
_MOST_DETAILS = 32


def failure(
    status: int, error: Any, headers: Mapping[str, str], key: Secret, now: float
) -> ModelError:
    """The error for this status of HTTP.

    `error`: the member of that name of the body, None where there is none; `now`: Unix time.
    """
    said = mapping(error)
    reason = _reason(status, said)
    words = key.shown(text_of(said.get("message")) or text_of(error))
    message = f"the provider answered {status}"
    if reason is ModelReason.MODEL_ADDRESS_INVALID and not words:
        message += ": there is no such API at this address"
    after = retries.asked(headers, error, now)
    return ModelError(reason, message, said=words, status=status, retry_after=after)


def _reason(status: int, error: Mapping[str, Any]) -> ModelReason:
    words, message = {*_words(error)}, text_of(error.get("message")).lower()

    def says(known: set[str], phrases: tuple[str, ...] = ()) -> bool:
        return bool(words & known) or any(phrase in message for phrase in phrases)

    if says(_BUSY):
        return ModelReason.PROVIDER_UNAVAILABLE
    daily = status == HTTPStatus.TOO_MANY_REQUESTS and any(_DAILY in word for word in words)
    if status == HTTPStatus.PAYMENT_REQUIRED or daily or says(_SPENT, _SPENT_PHRASES):
        return ModelReason.USAGE_LIMITED
    if says(_FILTERED) or mapping(error.get("metadata")).get("flagged_input"):
        return ModelReason.MODEL_REFUSED
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) or says(_DENIED):
        return ModelReason.MODEL_AUTH_FAILED
    if says(set(), _ELSEWHERE_PHRASES):
        return ModelReason.MODEL_ADDRESS_INVALID
    if says(_UNKNOWN, _UNKNOWN_PHRASES) or (status == HTTPStatus.NOT_FOUND and error):
        return ModelReason.MODEL_UNKNOWN
    too_large = status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if too_large or says(_TOO_LONG, _TOO_LONG_PHRASES):
        return ModelReason.PROMPT_TOO_LARGE
    return _by_status(status)


def _by_status(status: int) -> ModelReason:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return ModelReason.RATE_LIMITED
    if status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ModelReason.PROVIDER_UNAVAILABLE
    elsewhere = status < HTTPStatus.BAD_REQUEST
    if elsewhere or status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        return ModelReason.MODEL_ADDRESS_INVALID
    return ModelReason.REQUEST_REFUSED


def _words(error: Mapping[str, Any]) -> Iterator[str]:
    """What the error is called, in each of the places where a provider may say so."""
    for name in ("type", "code", "status"):
        yield text_of(error.get(name))
    for detail in map(mapping, items(error.get("details"))[:_MOST_DETAILS]):
        yield text_of(detail.get("reason"))
        for violation in map(mapping, items(detail.get("violations"))[:_MOST_DETAILS]):
            yield text_of(violation.get("quotaId"))


def refuses_temperature(status: int | None, error: Any) -> bool:
    """Whether the model takes no temperature of ours: some have their own only."""
    said = mapping(error)
    about = f"{text_of(said.get('param'))} {text_of(said.get('message'))}".lower()
    return status == HTTPStatus.BAD_REQUEST and "temperature" in about
