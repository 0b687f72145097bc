"""When a request is sent again."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.llm import retries

NOW = 1_700_000_000.0


def delay(text: Any) -> dict[str, Any]:
    return {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": text}]}


@pytest.mark.parametrize(
    ("headers", "error", "seconds"),
    [
        ({}, None, None),
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": "2.5"}, None, 2.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, None, 0.25),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, None, 90.0),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, None, 0.0),
        ({"retry-after": "999999999999"}, None, retries.MOST_SECONDS),
        ({"retry-after": "-3"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "Mon, 99 Foo 99999999 99:99:99 GMT"}, None, None),
        ({}, delay("34.5s"), 34.5),
        ({}, delay("1e99s"), retries.MOST_SECONDS),
        ({}, delay("soon"), None),
        ({}, delay(17), None),
        ({}, {"details": "34s"}, None),
        ({}, "slow down", None),
    ],
)
def test_what_a_provider_asks_for(
    headers: dict[str, str], error: Any, seconds: float | None
) -> None:
    assert retries.asked(headers, error, NOW) == seconds


@given(st.text(max_size=60))
def test_whatever_is_said_no_wait_is_longer_than_a_day(text: str) -> None:
    said = retries.asked({"retry-after": text, "retry-after-ms": text}, delay(text), NOW)

    assert said is None or 0 <= said <= retries.MOST_SECONDS
