"""`bernstein retry` against a real API server; the test answers in the operator's place."""

from __future__ import annotations

import asyncio

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.cli.answers import answer_with
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.objects import PLANS, TASKS, valid


async def answered(
    admin: Client, operator: Client, namespace: str, answer: str, reason: str
) -> Object:
    """The request, once there is one, and its answer written."""
    said = {"answer": answer, "reason": reason, "message": "round 2 of its attempts begins"}
    return await answer_with(admin, operator, namespace, said)


async def test_a_task_is_asked_to_run_again_in_the_users_name(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))

    done, request = await asyncio.gather(
        bernstein("retry", "one", "-r", "the key was wrong"),
        answered(admin, operator, namespace, "Done", "Retry"),
    )

    assert done.out == "Task 'one': round 2 of its attempts begins\n"
    assert (request["verb"], request["reason"]) == ("Retry", "the key was wrong")


async def test_what_is_refused_ends_with_1_and_its_reason(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))

    refused, _ = await asyncio.gather(
        bernstein("retry", "task/one", "--json"),
        answered(admin, operator, namespace, "Refused", "NothingToRetry"),
    )

    assert refused.code == 1
    assert refused.json["error"]["reason"] == "NothingToRetry"


async def test_without_an_operator_the_request_stands_and_asking_again_adds_none(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    first, second = await bernstein("retry", "plan/one"), await bernstein("retry", "plan/one")

    assert "the operator has not answered yet" in first.err
    assert (first.code, first.err) == (1, second.err)
    plan = await admin.get(PLANS, "one", namespace)
    assert len(plan["spec"]["requests"]) == 1
