"""What error texts of model providers mean."""

from __future__ import annotations

import pytest

from bernstein.agents.provider_errors import classify, retry_after


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("unexpected status 401 Unauthorized: no", "ModelAuthFailed"),
        ("Missing environment variable: `MODEL_API_KEY`.", "ModelAuthFailed"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "RateLimited"),
        ("You've hit your usage limit. Try again in 3 days.", "UsageLimited"),
        ("unexpected status 429: You exceeded your current quota", "UsageLimited"),
        ("unexpected status 529 <unknown status code>: Overloaded", "ProviderUnavailable"),
        ("Selected model is at capacity.", "ProviderUnavailable"),
        ("Incomplete response returned, reason: content_filter", "Refused"),
        ("unexpected status 400: the model ran into a timeout", "AgentFailed"),
        ("something else", "AgentFailed"),
        ("", "AgentFailed"),
    ],
)
def test_an_error_text_is_classified(message: str, outcome: str) -> None:
    assert classify(message) == outcome


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 1.3s.", 2),
        ("Please try again in 250ms.", 1),
        ("try again in 20 seconds", 20),
        ("Try again in 1h 20m.", 4800),
        ("try again in 2 hours, 5 minutes", 7500),
        ("try again in 2 hours and 5 min", 7500),
        ("retry after 30s", 30),
        ("try again in 3 days", 86400),
        ("try again in 5 fortnights", None),
        ("try again in 0s", None),
        ("try again at 5 PM", None),
        ("try again", None),
        ("", None),
    ],
)
def test_the_time_to_wait_is_read(message: str, seconds: int | None) -> None:
    assert retry_after(message) == seconds
