"""`bernstein verify`, `unblock`, and the end of all sessions, against a real API server; the test
answers in the operator's place."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.cli.cluster import Cluster
from bernstein.cli.requests import end_sessions
from bernstein.kube.client import Client
from tests.control_plane.cli.answers import answer_with
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.objects import TASKS, valid

JUDGED = {"base": "a" * 40, "sha": "b" * 40, "tree": "c" * 40, "ref": "refs/bernstein/1/one/s1"}
LINT = {
    "name": "lint",
    "kind": "gate",
    "verdict": "Failed",
    "reason": "ExitCode",
    "excerpt": "F401",
}


async def failed(admin: Client, operator: Client, namespace: str) -> None:
    """A Task `one` that has failed with work that is there."""
    await admin.create(TASKS, valid("Task", namespace))
    for state in ("Open", "Claimed", "Failed"):
        body = {"status": {"state": state, "attempt": 4}}
        await operator.patch(TASKS, "one", namespace, body, subresource="status")


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
async def test_it_tells_the_verdicts_and_ends_with_whether_they_are_good(
    bernstein: Bernstein,
    admin: Client,
    operator: Client,
    namespace: str,
    passed: bool,
    code: int,
) -> None:
    await failed(admin, operator, namespace)
    judged = JUDGED | {"passed": passed, "checks": [] if passed else [LINT]}
    answer = {"answer": "Done", "reason": "Verify", "message": "it was judged"}

    told, request = await asyncio.gather(
        bernstein("verify", "one", "-r", "the linter is mended", "--timeout", "60s"),
        answer_with(admin, operator, namespace, answer, verification=judged),
    )

    assert told.code == code
    assert "Task 'one': it was judged" in told.out
    assert ("F401" in told.out) is not passed
    assert (request["verb"], request["reason"]) == ("Verify", "the linter is mended")


async def test_what_is_refused_ends_with_1_and_one_json_value(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))
    answer = {"answer": "Refused", "reason": "NothingToVerify", "message": "it is Open"}

    refused, _ = await asyncio.gather(
        bernstein("verify", "one", "--json"), answer_with(admin, operator, namespace, answer)
    )

    assert refused.code == 1
    assert refused.json["error"]["reason"] == "NothingToVerify"


async def test_a_person_unblocks_a_task_with_words_for_the_next_agent(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))
    answer = {"answer": "Done", "reason": "Unblock", "message": "it is Open again"}

    done, request = await asyncio.gather(
        bernstein("unblock", "one", "--reason", "it is in the vault"),
        answer_with(admin, operator, namespace, answer),
    )

    assert done.out == "Task 'one': it is Open again\n"
    assert (request["verb"], request["reason"]) == ("Unblock", "it is in the vault")


async def test_the_end_of_every_session_of_the_namespace_is_asked_for_and_of_nothing_else(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    for name, states in (("one", ("Open", "Claimed")), ("two", ("Open",))):
        await admin.create(TASKS, valid("Task", namespace, name))
        for state in states:
            body = {"status": {"state": state}}
            await operator.patch(TASKS, name, namespace, body, subresource="status")

    assert await end_sessions(Cluster(admin, namespace), "a hard stop") == {"one": None}
    assert await end_sessions(Cluster(admin, namespace), "a hard stop") == {"one": None}

    one, two = [await admin.get(TASKS, name, namespace) for name in ("one", "two")]
    (request,) = one["spec"]["requests"]
    assert (request["verb"], request["by"]) == ("Kill", user)
    assert two["spec"].get("requests", []) == []
