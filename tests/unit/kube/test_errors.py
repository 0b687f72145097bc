"""What Events and logs may tell of an error."""

from __future__ import annotations

import pytest

from bernstein.kube.errors import TransportError, api_error

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
