"""Requests in a spec: appended, never changed, and taken out once they are answered."""

from __future__ import annotations

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.objects import KINDS, valid

BOTH = pytest.mark.parametrize("kind", ["Plan", "Task"])
ANSWER = {
    "verb": "Retry",
    "by": "ann",
    "asked": "once more",
    "answer": "Refused",
    "reason": "NothingToRetry",
    "time": "2030-01-01T00:00:00Z",
}


def request(by: str, number: int = 1) -> Object:
    return {"id": f"r-{number}", "verb": "Retry", "by": by, "reason": "once more"}


def asks(*requests: Object) -> Object:
    return {"spec": {"requests": list(requests)}}


@BOTH
async def test_a_request_is_appended_and_changes_nothing_else(
    admin: Client, namespace: str, user: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))

    await admin.patch(KINDS[kind], "one", namespace, asks(request(user)))
    found = await admin.patch(KINDS[kind], "one", namespace, asks(request(user), request(user, 2)))

    assert [each["id"] for each in found["spec"]["requests"]] == ["r-1", "r-2"]


@BOTH
async def test_a_request_does_not_change(
    admin: Client, namespace: str, user: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))
    await admin.patch(KINDS[kind], "one", namespace, asks(request(user)))

    other = request(user) | {"reason": "another reason"}
    with pytest.raises(Invalid, match="a request does not change"):
        await admin.patch(KINDS[kind], "one", namespace, asks(other))


@BOTH
async def test_a_request_stays_until_it_is_answered(
    admin: Client, operator: Client, namespace: str, user: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))
    await admin.patch(KINDS[kind], "one", namespace, asks(request(user)))

    with pytest.raises(Invalid, match="stays until it is answered"):
        await admin.patch(KINDS[kind], "one", namespace, asks())
    answered = {"status": {"requests": [{"id": "r-1", **ANSWER}]}}
    await operator.patch(KINDS[kind], "one", namespace, answered, subresource="status")
    found = await admin.patch(KINDS[kind], "one", namespace, asks())

    assert found["spec"].get("requests", []) == []


@BOTH
async def test_an_id_that_was_answered_is_not_used_again(
    admin: Client, operator: Client, namespace: str, user: str, kind: str
) -> None:
    """Nobody would look at it: it has its answer."""
    await admin.create(KINDS[kind], valid(kind, namespace))
    await admin.patch(KINDS[kind], "one", namespace, asks(request(user)))
    answered = {"status": {"requests": [{"id": "r-1", **ANSWER}]}}
    await operator.patch(KINDS[kind], "one", namespace, answered, subresource="status")

    await admin.patch(KINDS[kind], "one", namespace, asks(request(user), request(user, 2)))
    await admin.patch(KINDS[kind], "one", namespace, asks(request(user, 2)))
    for again in (request(user), request(user) | {"reason": "another reason"}):
        with pytest.raises(Invalid, match=r"has no answer in status\.requests yet"):
            await admin.patch(KINDS[kind], "one", namespace, asks(again, request(user, 2)))


@BOTH
async def test_there_are_at_most_twenty_and_only_known_verbs(
    admin: Client, namespace: str, user: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))

    await admin.patch(KINDS[kind], "one", namespace, asks(*(request(user, n) for n in range(20))))
    many = asks(*(request(user, n) for n in range(21)))
    with pytest.raises(Invalid, match="at most 20"):
        await admin.patch(KINDS[kind], "one", namespace, many)
    await admin.create(KINDS[kind], valid(kind, namespace, "two"))
    with pytest.raises(Invalid, match="verb"):
        await admin.patch(KINDS[kind], "two", namespace, asks(request(user) | {"verb": "Polish"}))


async def test_a_part_is_asked_of_a_plan_only(admin: Client, namespace: str, user: str) -> None:
    wanted = request(user) | {"verb": "DeliverPartial"}
    for kind in ("Plan", "Task"):
        await admin.create(KINDS[kind], valid(kind, namespace))

    await admin.patch(KINDS["Plan"], "one", namespace, asks(wanted))
    with pytest.raises(Invalid, match="verb"):
        await admin.patch(KINDS["Task"], "one", namespace, asks(wanted))


@BOTH
async def test_a_merge_is_asked_for_of_a_task_and_of_a_plan(
    admin: Client, namespace: str, user: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))

    wanted = request(user) | {"verb": "Remerge"}
    found = await admin.patch(KINDS[kind], "one", namespace, asks(wanted))
    assert [each["verb"] for each in found["spec"]["requests"]] == ["Remerge"]


@pytest.mark.parametrize("verb", ["Verify", "Unclaim", "Unblock", "Kill"])
async def test_some_things_are_asked_of_a_task_only(
    admin: Client, namespace: str, user: str, verb: str
) -> None:
    for kind in ("Plan", "Task"):
        await admin.create(KINDS[kind], valid(kind, namespace))

    await admin.patch(KINDS["Task"], "one", namespace, asks(request(user) | {"verb": verb}))
    with pytest.raises(Invalid, match="verb"):
        await admin.patch(KINDS["Plan"], "one", namespace, asks(request(user) | {"verb": verb}))
