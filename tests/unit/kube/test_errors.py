"""What Events and logs may tell of an error, and what it says of the request."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.kube.errors import (
    KubeError,
    LostLeadership,
    TransportError,
    api_error,
    is_unanswered,
    seconds_asked,
)

QUOTE = 'Task "t" is invalid: status.feedback: Invalid value: "the agent said so": too long'


@pytest.mark.parametrize("status", [400, 422, 500, 502])
def test_what_the_api_server_quotes_is_not_told(status: int) -> None:
    body = {"reason": "Invalid", "message": QUOTE}
    fields = [{"field": "status.feedback", "message": QUOTE}, {"message": QUOTE}]

    assert api_error(status, body).gist == f"Invalid ({status})"
    told = api_error(status, {**body, "details": {"causes": fields * 9}}).gist
    assert told.startswith(f"Invalid ({status}) at status.feedback, ?, ")
    assert "agent said" not in told
    assert len(told) < 200


def test_what_helps_is_told() -> None:
    forbidden = api_error(403, {"reason": "Forbidden", "message": "exceeded quota: pods"})

    assert forbidden.gist == "Forbidden (403): exceeded quota: pods"
    assert TransportError("timed out").gist == "timed out"


@pytest.mark.parametrize("retry_after", [None, "3"])
@pytest.mark.parametrize(
    ("status", "message", "may_be_applied"),
    [
        (400, "denied by a webhook", False),
        (403, "exceeded quota: pods", False),
        (403, "cannot find RESTMapping for bernstein.dev/v1alpha1, Kind=Task", False),
        (408, "the request came too slowly", False),
        (409, "the object has been modified", False),
        (429, "too many requests", False),
        (500, "etcdserver: leader changed", True),
        (502, "the server behind the proxy is gone", True),
        (503, "the connection to the server behind the proxy broke", True),
        (504, "the request did not complete in time", True),
    ],
)
def test_an_answer_says_by_its_status_alone_whether_the_request_may_have_been_applied(
    status: int, message: str, retry_after: str | None, may_be_applied: bool
) -> None:
    error = api_error(status, {"message": message}, retry_after=retry_after)

    assert is_unanswered(error) is may_be_applied


def test_without_an_answer_a_request_may_have_been_applied_and_one_that_was_not_sent_cannot() -> (
    None
):
    assert is_unanswered(TransportError("timed out"))
    assert is_unanswered(asyncio.CancelledError())
    assert not is_unanswered(LostLeadership("another one leads"))
    assert not is_unanswered(KubeError("a defect"))


@pytest.mark.parametrize(("status", "seconds"), [(429, 7.0), (503, 7.0), (500, 0.0), (409, 0.0)])
def test_who_sheds_load_says_for_how_long(status: int, seconds: float) -> None:
    assert seconds_asked(api_error(status, {}, retry_after="7")) == seconds
    assert seconds_asked(TransportError("timed out")) == 0
