"""When watching a Plan is over."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.follow import NotOverError, follow, succeeded
from bernstein.cli.output import notes
from bernstein.cli.output.views import LineView
from bernstein.core.plans.standstill import is_at_rest, watch
from bernstein.kube.client import Client
from bernstein.resources import PLANS, TASKS
from tests.background import eventually
from tests.unit.cli.scenes import condition, name, needs, plan, task, terminal
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot
from tests.unit.kube.apiserver import ApiServer

SUCCEEDED = condition("Succeeded", "True", "Delivered")
STALLED = condition("Stalled", "True", "BudgetExceeded")
RESTING = {"total": 7, "closed": 2, "open": 5}


@pytest.mark.parametrize(
    ("status", "over"),
    [
        ({}, False),
        ({"conditions": [condition("Succeeded", "True", "Delivered")]}, True),
        ({"conditions": [condition("Succeeded", "False", "Cancelled")]}, True),
        ({"conditions": [STALLED], "counts": RESTING}, True),
        ({"conditions": [STALLED], "counts": RESTING | {"running": 1}}, False),
        ({"conditions": [STALLED], "counts": RESTING | {"verifying": 1}}, True),
        ({"conditions": [STALLED], "counts": RESTING, "observedGeneration": 0}, False),
        ({"conditions": [condition("Suspended", "True", "BySpec")], "counts": RESTING}, False),
    ],
)
def test_a_plan_is_watched_until_it_ended_or_waits_for_a_person(
    status: dict[str, Any], over: bool
) -> None:
    assert is_at_rest(plan(**status)) is over


def trying(state: str = "Claimed") -> Task:
    """Its session tries whether what it needs a person for is mended."""
    waiting = {
        "reason": "SecretNotFound",
        "message": "no secret",
        "since": "2030-01-01T12:00:00Z",
        "needsPerson": True,
        "tried": {"reason": "SecretNotFound", "generation": 1},
    }
    return task(0, state=state, waiting=waiting)


def test_a_session_that_only_tries_whether_it_is_mended_keeps_nobody_watching() -> None:
    stalled = plan(conditions=[STALLED], counts=RESTING | {"running": 1})
    both = plan(conditions=[STALLED], counts=RESTING | {"running": 2})

    assert is_at_rest(stalled, [trying()])
    assert not is_at_rest(both, [trying(), task(1, state="InProgress")])


@pytest.mark.parametrize("reason", ["GateErrored", "MergeConflict"])
def test_a_plan_whose_task_is_done_and_stalled_is_watched_no_more(reason: str) -> None:
    waiting = {"reason": reason, "message": "because", "since": "2030-01-01T12:00:00Z"}
    done = task(0, state="Done", waiting=waiting | {"needsPerson": True})
    seen = plan(phase="Running", conditions=[])

    found = watch(plan_snapshot(seen, done), seen.status, objects.NOW)

    assert is_at_rest(plan(waiting=found.waiting, counts=RESTING | {"verifying": 1}), [done])


def test_only_the_succeeded_condition_is_success() -> None:
    assert succeeded(plan(conditions=[condition("Succeeded", "True", "Delivered")]))
    assert not succeeded(plan(conditions=[condition("Succeeded", "False", "Cancelled")]))
    assert not succeeded(plan(conditions=[STALLED]))


@pytest.mark.parametrize("seconds", [0.0, None])
async def test_a_plan_that_is_over_is_shown_without_any_time_to_wait(
    client: Client, seconds: float | None
) -> None:
    shown, console = terminal()
    ended = plan(phase="Succeeded", conditions=[condition("Succeeded", "True", "Delivered")])

    scene = await follow(Cluster(client, "team"), ended, LineView(shown), seconds)

    assert scene.plan == ended
    assert "Succeeded" in console.export_text()


async def test_a_plan_that_is_not_over_in_time_is_left(client: Client) -> None:
    shown, _ = terminal()

    with pytest.raises(NotOverError) as left:
        await follow(Cluster(client, "team"), plan(), LineView(shown), 0)

    assert left.value.scene.plan.metadata.name == plan().metadata.name


async def test_what_was_seen_last_of_one_that_is_left_is_known(
    api: ApiServer, client: Client
) -> None:
    shown, _ = terminal()
    obj, asks = plan(endedAt=None), task(0, state="PendingApproval")
    api.put(PLANS, obj.metadata.name, "team", **obj.dump())
    api.put(TASKS, name(0), "team", **asks.dump())

    with pytest.raises(NotOverError) as left:
        await follow(Cluster(client, "team"), obj, LineView(shown), 1)

    assert [each.metadata.name for each in left.value.scene.tasks] == [name(0)]


def put(api: ApiServer, shown: Plan) -> None:
    obj = shown.dump()
    api.put(PLANS, shown.metadata.name, "team", **obj)


def changed(generation: int, **status: Any) -> Plan:
    found = plan(**status)
    meta = found.metadata.model_copy(update={"generation": generation})
    return found.model_copy(update={"metadata": meta})


OUT_OF_MONEY = needs("BudgetExceeded", "it is spent") | {"phase": "Stalled", "counts": RESTING}


async def test_a_plan_that_was_changed_is_judged_by_what_the_operator_says_after_it(
    api: ApiServer, client: Client
) -> None:
    put(api, changed(1, **OUT_OF_MONEY))  # a list may be older than what was written
    shown, _ = terminal()
    written = changed(2, **OUT_OF_MONEY)

    following = asyncio.create_task(follow(Cluster(client, "team"), written, LineView(shown), 30))
    await eventually(lambda: api.watches("plans") > 0 or following.done())
    put(api, written)
    put(api, changed(2, observedGeneration=2, conditions=[SUCCEEDED], phase="Succeeded"))
    scene = await following

    assert scene.plan.status.phase == "Succeeded"


def test_of_a_change_that_no_operator_looks_at_one_is_told_after_a_while() -> None:
    now = datetime.now(UTC)
    before, since = changed(2, **OUT_OF_MONEY), now - timedelta(seconds=11)

    assert "has not looked at it yet" in notes.unseen(before, now, since)
    assert notes.unseen(before, now, now - timedelta(seconds=9)) == ""
    assert notes.unseen(before, now) == ""
    assert notes.unseen(changed(2, observedGeneration=2), now, since) == ""


async def test_a_plan_is_shown_with_the_tasks_that_it_controls_whatever_their_labels(
    api: ApiServer, client: Client
) -> None:
    own, labelled = task(0).dump(), task(1).dump()
    del own["metadata"]["labels"], labelled["metadata"]["ownerReferences"]
    for obj in (own, labelled):
        api.put(TASKS, obj["metadata"]["name"], "team", **obj)
    shown, _ = terminal()
    ended = plan(conditions=[condition("Succeeded", "True", "Delivered")])

    scene = await follow(Cluster(client, "team"), ended, LineView(shown), None)
    listed = await Cluster(client, "team").tasks(ended.metadata.name)

    assert [each.metadata.name for each in scene.tasks] == [name(0)]
    assert [each.metadata.name for each in listed] == [name(0)]
