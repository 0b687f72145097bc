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
from tests.unit.cli.scenes import (
    SHA,
    ago,
    condition,
    known_as,
    move,
    name,
    plan,
    task,
    unknown,
    verification,
)
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


def put_by(api: ApiServer, author: str, index: int, **status: Any) -> None:
    put(api, index, **status)
    spec = api.get(TASKS, name(index), "team")["spec"]
    api.put(TASKS, name(index), "team", spec=spec | {"author": author})


def over(state: str, seconds: float) -> dict[str, Any]:
    """The status of a Task that has ended so many seconds ago."""
    last = move(state, state, attempt=4, seconds=seconds)
    return {"state": state, "attempt": 4, "history": [last], "endedAt": ago(seconds)}


@pytest.mark.parametrize("state", ["Cancelled", "Failed"])
async def test_what_has_just_ended_of_who_asks_fails_the_call_though_nothing_is_done(
    api: ApiServer, bernstein: Bernstein, state: str
) -> None:
    """A script has waited for it, and takes the exit code for what became of its work."""
    known_as(api, "ann")
    put_by(api, "ann", 0, **over(state, 60))
    put_by(api, "ann", 1, state="Closed", endedAt=ago(60))

    answer = await bernstein("merge", "--json")

    assert answer.code == 1
    assert answer.json["merged"] == []
    (failed,) = answer.json["failed"]
    assert (failed["id"], failed["reason"]) == (name(0), state)
    assert failed["message"] == f"it has ended: {state.lower()}"


async def test_what_others_have_added_or_ended_long_ago_or_is_tried_again_fails_nobody(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    put_by(api, "ben", 0, **over("Cancelled", 60))
    put(api, 1, **over("Cancelled", 60))
    put_by(api, "ann", 2, **over("Cancelled", 3600))
    put_by(api, "ann", 3, state="Failed", attempt=1)

    answer = await bernstein("merge")

    assert answer.code == 0, answer
    assert answer.out.startswith("Nothing to merge")


async def test_where_nobody_tells_who_asks_what_has_no_author_is_meant(
    api: ApiServer, bernstein: Bernstein
) -> None:
    unknown(api)
    put(api, 0, **over("Cancelled", 60))
    put_by(api, "ann", 1, **over("Cancelled", 60))
    of_a_plan = task(2, **over("Cancelled", 60)).dump()
    api.put(TASKS, name(2), "team", **of_a_plan)

    answer = await bernstein("merge", "--json")

    assert answer.code == 1
    assert [each["id"] for each in answer.json["failed"]] == [name(0)]


async def test_what_has_just_ended_is_no_matter_of_a_call_that_names_another(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    put_by(api, "ann", 0, **over("Cancelled", 60))
    put_by(api, "ann", 1, state="Closed")

    answer = await bernstein("merge", f"task/{name(1)}")

    assert answer.code == 0, answer


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


async def test_a_plan_whose_merge_has_failed_is_asked_for_again(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    tried = {"tried": {"reason": "BranchProtected", "generation": 1}}
    held = {"phase": "Stalled", "endedAt": None, "delivery": {"state": "CredentialRefused"}}
    put_plan(api, **held, waiting=STALLED | tried)

    answer = await bernstein("merge", "rate-limit-api", "--timeout", "2s")

    (request,) = api.get(PLANS, "rate-limit-api", "team")["spec"]["requests"]
    assert (request["verb"], request["by"]) == ("Remerge", "ann")
    assert answer.code == 1, "nobody has answered"


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

    answer = await bernstein("merge", "--timeout", "3s", "--json")

    assert answer.code == 1
    assert answer.json["error"]["reason"] == "TimedOut"
    assert name(0) in answer.json["error"]["message"]


async def test_a_time_that_is_over_hides_no_approval_that_is_waited_for(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="PendingApproval")

    answer = await bernstein("merge", name(0), "--timeout", "1s", "--json")

    (failed,) = answer.json["failed"]
    assert (answer.code, failed["reason"]) == (1, "ApprovalPending")


async def test_what_was_named_is_named_in_what_to_ask_again(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Done")

    answer = await bernstein("merge", name(0), "--timeout", "1s")

    assert f"bernstein merge task/{name(0)}" in answer.err


async def test_a_plan_that_waits_for_a_person_is_not_said_to_go_on(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put_plan(api, phase="PendingApproval", endedAt=None)

    answer = await bernstein("merge", "rate-limit-api", "--timeout", "1s", "-n", "team")

    assert "a person must decide with `bernstein approve rate-limit-api -n team " in answer.err
    assert "it goes on" not in answer.err


@pytest.mark.parametrize("names", [(), (f"task/{name(0)}",)])
async def test_a_time_that_ends_before_anything_is_known_says_what_was_waited_for(
    api: ApiServer, bernstein: Bernstein, names: tuple[str, ...]
) -> None:
    put(api, 0, state="Done")
    api.fault = lambda call: 503 if call.plural == PLANS.plural else None

    answer = await bernstein("merge", *names, "--timeout", "1s", "--json")

    error = answer.json["error"]
    assert (answer.code, error["reason"]) == (1, "TimedOut")
    unseen = "what is done in namespace 'team', which was not listed yet"
    waited = f"Task '{name(0)}'" if names else unseen
    assert error["message"].startswith(f"not merged in time: {waited}; connection lost")


@pytest.mark.parametrize("arguments", [["--timeout", "soon"]])
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "merge", *arguments)


@pytest.mark.parametrize("of", ["Plan", "Task"])
async def test_a_pull_request_that_nobody_has_merged_in_time_is_told_as_that(
    of: str, api: ApiServer, bernstein: Bernstein
) -> None:
    waits = {"reason": "PullRequestOpen", "message": "a person merges https://git.example/pulls/7"}
    waits |= {"since": "2030-01-01T00:00:00Z", "scope": "Plan"}
    if of == "Plan":
        put_plan(api, phase="Delivering", endedAt=None, waiting=waits)
    else:
        put(api, 0, state="Done", waiting=waits | {"scope": "Task"})

    called = "rate-limit-api" if of == "Plan" else name(0)
    answer = await bernstein("merge", called, "--timeout", "1s", "--json")

    (failed,) = answer.json["failed"]
    assert (answer.code, failed["reason"]) == (1, "PullRequestOpen")
    assert failed["message"] == "a person merges https://git.example/pulls/7"
    people = await bernstein("merge", called, "--timeout", "1s")
    said = f"… {of} '{called}': a person merges https://git.example/pulls/7; --timeout ends"
    assert said in " ".join(people.out.split())
