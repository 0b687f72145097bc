"""`bernstein deliver` against a real API server; the test answers in the operator's place."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import PLANS, valid

ASKS = ("deliver", "one", "--partial", "--yes")


async def writes(admin: Client, operator: Client, namespace: str, *statuses: Object) -> Object:
    """The request, once there is one, and these statuses written; an answer is to that request."""
    found: list[Object] = []

    async def there() -> bool:
        plan = await admin.get(PLANS, "one", namespace)
        found[:] = plan["spec"].get("requests", [])
        return bool(found)

    await eventually(there)
    (request,) = found
    for status in statuses:
        body = dict(status)
        if "answer" in body:
            answer = {name: request[name] for name in ("id", "verb", "by")} | body.pop("answer")
            answer |= {"asked": request["reason"], "time": "2030-01-01T00:00:00Z"}
            body["requests"] = [answer]
        else:
            body["partial"] = {"request": request["id"], "after": "Failed"}
        await operator.patch(PLANS, "one", namespace, {"status": body}, subresource="status")
    return request


def answer(word: str, reason: str, message: str) -> Object:
    return {"answer": {"answer": word, "reason": reason, "message": message}}


def ended(word: str) -> Object:
    told = {"type": "Succeeded", "status": "False", "reason": word, "message": "1 of 2"}
    return {
        "phase": word,
        "observedGeneration": 1,
        "conditions": [told | {"lastTransitionTime": "2030-01-01T00:00:00Z"}],
    }


async def test_it_is_asked_for_in_the_users_name_and_left_once_it_has_begun(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    begun, request = await asyncio.gather(
        bernstein(*ASKS, "-r", "it is due"),
        writes(admin, operator, namespace, {"phase": "Delivering"}),
    )

    assert begun.out.startswith("Plan 'one': what is Closed is verified as a whole")
    assert (request["verb"], request["reason"]) == ("DeliverPartial", "it is due")


async def test_with_wait_it_stays_until_it_is_delivered(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))
    done = ended("DeliveredPartially") | answer("Done", "DeliverPartial", "1 of 2 Tasks delivered")

    delivered, _ = await asyncio.gather(
        bernstein(*ASKS, "--wait"),
        writes(admin, operator, namespace, {"phase": "Delivering"}, done),
    )

    assert (delivered.code, delivered.out.splitlines()[-1]) == (
        0,
        "Plan 'one': 1 of 2 Tasks delivered",
    )


async def test_what_is_refused_ends_with_1_and_its_reason(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    refused, _ = await asyncio.gather(
        bernstein(*ASKS, "--json"),
        writes(admin, operator, namespace, answer("Refused", "StillMoves", "it goes on by itself")),
    )

    assert refused.code == 1
    assert refused.json["error"]["reason"] == "StillMoves"


@pytest.mark.parametrize("arguments", [(), ("--json",)])
async def test_nothing_is_asked_for_where_nobody_can_say_yes(
    bernstein: Bernstein, admin: Client, namespace: str, arguments: tuple[str, ...]
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    refused = await bernstein("deliver", "one", "--partial", *arguments)

    assert refused.code == 2
    assert "say so with --yes" in refused.err
    assert not (await admin.get(PLANS, "one", namespace))["spec"].get("requests")
