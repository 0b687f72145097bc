"""An AgentSession of which every field is as long as it may be, in a real store."""

from __future__ import annotations

import json

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.objects import AGENT_SESSIONS, valid
from tests.perf.test_largest_session import report, spec, status


async def test_the_largest_session_is_stored_with_what_it_and_its_agent_say(
    operator: Client, server: Client, namespace: str
) -> None:
    made = await operator.create(
        AGENT_SESSIONS, valid("AgentSession", namespace, "large", **spec())
    )
    assert made["spec"] == valid("AgentSession", namespace, "large", **spec())["spec"]
    full = status()
    of_the_server = {"status": {"report": full.pop("report")}}
    begun = {"status": {"state": "Starting"}}
    await operator.patch(AGENT_SESSIONS, "large", namespace, begun, subresource="status")
    await server.patch(AGENT_SESSIONS, "large", namespace, of_the_server, subresource="status")
    stored = await operator.patch(
        AGENT_SESSIONS, "large", namespace, {"status": full}, subresource="status"
    )

    assert stored["status"]["report"] == report()
    assert stored["status"]["outcome"] == full["outcome"]
    assert len(stored["status"]["conditions"]) == 16
    size = len(json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode())
    print(f"stored {size}")
    assert size < 600_000


async def test_one_more_condition_is_too_many(operator: Client, namespace: str) -> None:
    await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace, "more"))
    conditions = status()["conditions"]
    body = {"status": {"conditions": [*conditions, {**conditions[0], "type": "OneMore"}]}}

    with pytest.raises(Invalid, match="conditions"):
        await operator.patch(AGENT_SESSIONS, "more", namespace, body, subresource="status")
