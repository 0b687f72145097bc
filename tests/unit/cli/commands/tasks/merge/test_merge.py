"""`bernstein merge` beside what the operator does meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.kube.resource import Resource
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import SHA, condition, known_as, name, plan, task, verification
from tests.unit.kube.apiserver import ApiServer

STALLED = {
    "reason": "CredentialRefused",
    "message": "the server refuses. Remedy: Correct the Secret.",
    "since": "2030-01-01T12:00:00Z",
    "needsPerson": True,
}


def put(api: ApiServer, index: int, **status: Any) -> None:
    obj = task(index, **status).dump()
    obj["metadata"].pop("ownerReferences")
    obj["metadata"] |= {"uid": f"u{index}"}
    api.put(TASKS, name(index), "team", **obj)


def put_plan(api: ApiServer, **status: Any) -> None:
    obj = plan(**status).dump()
    api.put(PLANS, obj["metadata"]["name"], "team", **obj)


async def watched(api: ApiServer, resource: Resource) -> None:
    async with asyncio.timeout(20):
        while not api.watches(resource.plural):  # noqa: ASYNC110 - the server rings no bell
            await asyncio.sleep(0.01)


async def test_without_anything_that_is_done_there_is_nothing_to_merge(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Open")
    put(api, 1, state="Closed")

    answer, scripted = await bernstein("merge"), await bernstein("merge", "--json")

    assert (answer.code, answer.out) == (
        0,
        "Nothing to merge: nothing is done in namespace 'team'.\n",
    )
    assert scripted.json == {"merged": [], "failed": []}


async def test_what_is_done_is_waited_for_until_it_is_merged(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Done")
    put(api, 1, state="InProgress")
    merging = asyncio.create_task(bernstein("merge"))
    await watched(api, TASKS)
    put(api, 0, state="Failed", attempt=1)
    put(api, 0, state="Open", attempt=1)
    put(api, 0, state="Closed", delivery={"state": "Merged", "sha": SHA})

    answer = await merging

    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"✓ Task '{name(0)}': merged a1b2c3d4\n"


async def test_one_that_is_not_merged_fails_the_call_after_all_others_were_waited_for(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Done", waiting=STALLED)
    put(api, 1, state="Done")
    merging = asyncio.create_task(bernstein("merge", "--json"))
    await watched(api, TASKS)
    put(api, 1, state="Closed")

    answer = await merging

    assert answer.code == 1
    assert answer.json["merged"] == [name(1)]
    (failed,) = answer.json["failed"]
    assert (failed["id"], failed["reason"]) == (name(0), "CredentialRefused")
    assert failed["remedy"] == "Correct the Secret."
    assert "is not merged: CredentialRefused: the server refuses." in answer.err


async def asked(api: ApiServer, index: int) -> dict[str, Any]:
    """The request that the merge of a Task be tried again, once there is one."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        while not found:
            await asyncio.sleep(0.01)
            found = api.get(TASKS, name(index), "team")["spec"].get("requests") or []
    return found[0]


async def test_a_merge_that_has_failed_is_asked_for_again(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    tried = {"tried": {"reason": "CredentialRefused", "generation": 1}}
    failed = {"state": "Done", "verification": verification(passed=True)}
    put(api, 0, **failed, waiting=STALLED | tried)
    merging = asyncio.create_task(bernstein("merge"))
    request = await asked(api, 0)
    answer = {"id": request["id"], "verb": "Remerge", "by": "ann", "asked": "Merged by user"}
    answer |= {"answer": "Done", "reason": "Remerge", "time": "2030-01-01T12:00:00Z"}
    api.put(TASKS, name(0), "team", status=failed | {"requests": [answer]})
    api.put(TASKS, name(0), "team", status={"state": "Closed", "requests": [answer]})

    found = await merging

    assert (request["verb"], request["by"]) == ("Remerge", "ann")
    assert found.code == 0, found
    assert found.out.startswith(f"✓ Task '{name(0)}'")


async def test_who_may_not_ask_is_told_how_it_stands(api: ApiServer, bernstein: Bernstein) -> None:
    tried = {"tried": {"reason": "CredentialRefused", "generation": 1}}
    put(api, 0, state="Done", verification=verification(passed=True), waiting=STALLED | tried)
    api.fault = lambda call: 403 if call.verb in ("POST", "PATCH") else None

    answer = await bernstein("merge", "--json")

    assert answer.code == 1
    assert [each["reason"] for each in answer.json["failed"]] == ["CredentialRefused"]


async def test_one_that_is_deleted_is_not_merged(api: ApiServer, bernstein: Bernstein) -> None:
    put(api, 0, state="Done")
    merging = asyncio.create_task(bernstein("merge"))
    await watched(api, TASKS)
    api.remove(TASKS, name(0), "team")

    answer = await merging

    assert answer.code == 1
    assert "NotFound: it was deleted before it was merged" in answer.out


async def test_a_plan_is_merged_once_it_is_delivered(api: ApiServer, bernstein: Bernstein) -> None:
    rows = [{"name": name(0), "stage": "design", "step": 0, "state": "Done"}]
    put_plan(api, endedAt=None, tasks=rows)
    obj = task(0, state="Done").dump()
    api.put(TASKS, name(0), "team", **obj)
    merging = asyncio.create_task(bernstein("merge", f"task/{name(0)}"))
    await watched(api, PLANS)
    closed = task(0, state="Closed", delivery={"state": "Merged", "sha": SHA}).dump()
    api.put(TASKS, name(0), "team", status=closed["status"])
    put_plan(api, tasks=rows, conditions=[condition("Succeeded", "True", "Delivered")])

    answer = await merging

    assert answer.code == 0, answer
    assert answer.out.splitlines()[-1] == "✓ Plan 'rate-limit-api': delivered"


async def test_a_named_task_is_waited_for_from_wherever_it_is(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Cancelled")
    put(api, 1, state="Done", waiting=STALLED)

    answer = await bernstein("merge", name(0))

    assert answer.code == 1
    assert "it has ended: cancelled" in answer.out
    assert name(1) not in answer.out


async def test_it_waits_no_longer_than_it_is_told(api: ApiServer, bernstein: Bernstein) -> None:
    put(api, 0, state="Done")

    answer = await bernstein("merge", "--timeout", "1s", "--json")

    assert answer.code == 1
    assert answer.json["error"]["reason"] == "TimedOut"
    assert name(0) in answer.json["error"]["message"]


@pytest.mark.parametrize("arguments", [["--timeout", "soon"]])
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "merge", *arguments)
