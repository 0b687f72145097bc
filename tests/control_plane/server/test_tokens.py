"""Whose word counts: only that of the session's own pod."""

from __future__ import annotations

from bernstein.api.pod import AUDIENCE
from bernstein.kube.client import Client
from bernstein.kube.resource import PODS, TOKEN_REVIEWS, key_of
from tests.control_plane.conftest import eventually
from tests.control_plane.server.agent import AS_A_KUBELET, Agent, new_pod


async def refusal(agent: Agent, token: str) -> tuple[int, str]:
    """Status and reason that a heartbeat with this token gets; nothing must be written."""
    before = await agent.live()
    response = await agent.heartbeat(token, seq=1)
    assert await agent.live() == before
    return response.status_code, response.json()["reason"]


async def test_another_pod_may_not_report(agent: Agent, admin: Client) -> None:
    other = await new_pod(admin, agent.namespace, "task-s2-abcde")
    assert await refusal(agent, agent.token(pod=other)) == (403, "WrongPod")


async def test_a_token_for_the_api_server_is_none_for_us(agent: Agent) -> None:
    token = agent.token(audience="https://kubernetes.default.svc")
    assert await refusal(agent, token) == (401, "Unauthenticated")


async def test_a_token_that_is_bound_to_no_pod_is_refused(agent: Agent) -> None:
    loose = agent.tools.kubectl(
        *("create", "token", "default", "-n", agent.namespace, f"--audience={AUDIENCE}"),
        *AS_A_KUBELET,
    ).strip()
    assert await refusal(agent, loose) == (401, "Unauthenticated")


async def test_a_forged_token_is_refused(agent: Agent) -> None:
    head, payload, _ = agent.token().split(".")
    assert await refusal(agent, f"{head}.{payload}.Zm9yZ2Vk") == (401, "Unauthenticated")


async def test_the_token_of_a_pod_that_is_gone_is_refused(agent: Agent, admin: Client) -> None:
    token = agent.token()
    name = key_of(agent.pod).name
    await admin.delete(PODS, name, agent.namespace, grace_seconds=0)
    review = {"spec": {"token": token, "audiences": [AUDIENCE]}}

    async def judged_gone() -> bool:
        return not (await admin.create(TOKEN_REVIEWS, review))["status"].get("authenticated")

    # The API server judges tokens by what it has seen of pods so far; ours remembers its word.
    await eventually(judged_gone)
    assert await refusal(agent, token) == (401, "Unauthenticated")


async def test_a_pod_of_the_same_name_is_another_pod(agent: Agent, admin: Client) -> None:
    name = key_of(agent.pod).name
    await admin.delete(PODS, name, agent.namespace, grace_seconds=0)
    again = await new_pod(admin, agent.namespace, name)
    assert await refusal(agent, agent.token(pod=again)) == (403, "WrongPod")
