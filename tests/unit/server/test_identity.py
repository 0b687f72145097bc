"""Whose token it is, and how seldom the API server is asked."""

from collections.abc import AsyncIterator

import pytest

from bernstein.kube.resource import Object
from bernstein.observe.metrics import ServerMetrics
from bernstein.server.http.refusal import Refusal
from bernstein.server.identity import Caller, Identities
from tests.unit.server.conftest import Clock
from tests.unit.server.session_api import NOW, SessionApi, proof, token

ADDRESS = "10.0.0.9"
POD = Caller("team", "pod-1", "uid-1")


@pytest.fixture
async def identities(
    api: SessionApi, clock: Clock, metrics: ServerMetrics
) -> AsyncIterator[Identities]:
    async with api.client() as client:
        yield Identities(client, metrics, clock=clock, now=clock)


def reviews(api: SessionApi) -> int:
    return api.count("POST", "tokenreviews")


async def refusal(identities: Identities, value: str, address: str = ADDRESS) -> Refusal:
    with pytest.raises(Refusal) as refused:
        await identities.caller(value, address)
    return refused.value


async def test_a_bound_token_names_its_pod(identities: Identities, api: SessionApi) -> None:
    assert await identities.caller(token(), ADDRESS) == POD
    review = api.calls[0].body["spec"]
    assert review == {"token": token(), "audiences": ["bernstein.dev/callback"]}


async def test_an_accepted_token_is_believed_for_a_minute(
    identities: Identities, api: SessionApi, clock: Clock
) -> None:
    await identities.caller(token(), ADDRESS)
    clock.seconds += 59
    assert await identities.caller(token(), ADDRESS) == POD
    assert reviews(api) == 1
    clock.seconds += 1
    await identities.caller(token(), ADDRESS)
    assert reviews(api) == 2


async def test_a_token_is_not_believed_after_it_expired(
    identities: Identities, api: SessionApi, clock: Clock
) -> None:
    short = token(expires=NOW + 20)
    api.proofs[short] = proof("team", "pod-1", "uid-1")
    await identities.caller(short, ADDRESS)
    clock.seconds += 21
    assert (await refusal(identities, short)).status == 401
    assert reviews(api) == 1


async def test_a_refused_token_is_asked_about_again_only_after_a_while(
    identities: Identities, api: SessionApi, clock: Clock
) -> None:
    bad = token("bad")
    assert (await refusal(identities, bad)).status == 401
    assert (await refusal(identities, bad)).status == 401
    assert reviews(api) == 1
    clock.seconds += 10
    api.proofs[bad] = proof("team", "pod-1", "uid-1")
    assert await identities.caller(bad, ADDRESS) == POD


@pytest.mark.parametrize(
    "value",
    [
        "",
        "abc",
        "a.b",
        "a.!.c",
        "a.e30.c",
        "a.W10.c",
        "a.b.c.d",
        "ä.b.c",
        token(audience="https://kubernetes.default.svc"),
        token(expires=NOW - 1),
        "x" * 20_000,
    ],
)
async def test_what_is_plainly_no_token_of_ours_costs_no_review(
    identities: Identities, api: SessionApi, value: str
) -> None:
    refused = await refusal(identities, value)
    assert (refused.status, refused.reason) == (401, "Unauthenticated")
    assert refused.headers()["WWW-Authenticate"] == "Bearer"
    assert "bernstein.dev/callback" in refused.problem.remedy
    assert reviews(api) == 0


NOT_A_POD = proof("team", "pod-1", "uid-1")
NOT_A_POD["user"]["extra"] = {}
NOT_AN_ACCOUNT = proof("team", "pod-1", "uid-1")
NOT_AN_ACCOUNT["user"]["username"] = "system:node:node-1"
OTHER_AUDIENCE = {**proof("team", "pod-1", "uid-1"), "audiences": ["https://kubernetes"]}
NO_AUDIENCE = {**proof("team", "pod-1", "uid-1"), "audiences": None}
NOT_SURE = {**proof("team", "pod-1", "uid-1"), "authenticated": "true"}


@pytest.mark.parametrize(
    "status", [{}, NOT_A_POD, NOT_AN_ACCOUNT, OTHER_AUDIENCE, NO_AUDIENCE, NOT_SURE]
)
async def test_only_a_proven_pod_is_a_caller(
    identities: Identities, api: SessionApi, status: Object
) -> None:
    api.proofs[token()] = status
    assert (await refusal(identities, token())).status == 401


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("drop-before", "ApiServerUnreachable"),
        (500, "ApiServerUnavailable"),
        (429, "ApiServerBusy"),
        (403, "ServerNotAuthorized"),
    ],
)
async def test_a_token_that_cannot_be_reviewed_is_neither_accepted_nor_refused(
    identities: Identities, api: SessionApi, fault: str | int, reason: str
) -> None:
    api.fault = lambda _: fault  # type: ignore[assignment,return-value]
    refused = await refusal(identities, token())
    assert (refused.status, refused.reason) == (503, reason)
    assert int(refused.headers()["Retry-After"]) >= 1
    api.fault = lambda _: None
    assert await identities.caller(token(), ADDRESS) == POD


async def test_one_address_cannot_make_the_server_ask_without_end(
    identities: Identities, api: SessionApi
) -> None:
    for number in range(200):
        assert (await refusal(identities, token(f"bad-{number}"))).status == 401
    limited = await refusal(identities, token("bad-200"))
    assert (limited.status, limited.reason) == (429, "TooManyRequests")
    assert reviews(api) == 200
    assert await identities.caller(token(), "10.0.0.10") == POD


async def test_a_known_token_passes_also_when_its_address_is_limited(
    identities: Identities, api: SessionApi
) -> None:
    await identities.caller(token(), ADDRESS)
    for number in range(200):
        await refusal(identities, token(f"bad-{number}"))
    assert await identities.caller(token(), ADDRESS) == POD


async def test_reviews_are_counted(identities: Identities, metrics: ServerMetrics) -> None:
    await identities.caller(token(), ADDRESS)
    await identities.caller(token(), ADDRESS)
    await refusal(identities, token("bad"))
    await refusal(identities, "")
    sample = metrics.registry.get_sample_value
    for result in ("accepted", "cached", "refused", "malformed"):
        assert sample("bernstein_token_reviews_total", {"result": result}) == 1
