"""What keeps an uninstall back, how it is told, and what is cancelled."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.hooks.program import Failed
from bernstein.hooks.removal import Removal, at_work, attempt, owners, refusal, to_cancel, told
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object, Resource
from bernstein.resources import PLANS, SESSIONS, TASKS

REFUSE = Removal((), cancel=False)


def obj(name: str, reason: str | None = None, /, kind: str = "Reconciling", **more: Any) -> Object:
    """Of namespace `team`, with one condition; without a reason the operator has not seen it."""
    status: Object = {"observedGeneration": -1}
    if reason is not None:
        condition = {"type": kind, "status": "True", "reason": reason}
        status = {"observedGeneration": 1, "conditions": [condition]}
    meta = {"name": name, "namespace": "team", **more.pop("metadata", {})}
    return {"metadata": meta, "spec": more.pop("spec", {}), "status": status | more}


HELD = {"finalizers": ["bernstein.dev/result"]}
AT_WORK = [
    (PLANS, obj("runs", "Running")),
    (PLANS, obj("new")),
    (TASKS, obj("judged", "Verifying", state="Done")),
    (TASKS, obj("waits", "DependencyPending")),
    (SESSIONS, obj("agent", "Working", metadata=HELD)),
    (
        SESSIONS,
        obj(
            "deleted",
            state="Dead",
            metadata={**HELD, "deletionTimestamp": "2026-01-01T00:00:00Z"},
        ),
    ),
]
AT_REST = [
    (SESSIONS, obj("recorded-and-kept", "Working", kind="Succeeded", metadata=HELD, state="Dead")),
    (PLANS, obj("ended", "Succeeded", kind="Succeeded")),
    (PLANS, obj("stands", "BudgetExhausted", kind="Stalled")),
    (PLANS, obj("suspended", "Suspended")),
    (PLANS, obj("asks", "AwaitingApproval")),
    (TASKS, obj("proposed", "PullRequestOpen")),
    (PLANS, obj("new-suspended", spec={"suspend": True})),
    (TASKS, obj("of-a-suspended-plan", "PlanSuspended")),
    (SESSIONS, obj("recorded", "Working", metadata={"finalizers": ["example.com/other"]})),
]


@pytest.mark.parametrize(("resource", "found"), AT_WORK, ids=lambda x: _id(x))
def test_what_the_operator_must_still_hear_of_is_in_the_way(
    resource: Resource, found: Object
) -> None:
    assert at_work(resource, [found]) == [found]


@pytest.mark.parametrize(("resource", "found"), AT_REST, ids=lambda x: _id(x))
def test_what_nothing_of_runs_is_not_in_the_way(resource: Resource, found: Object) -> None:
    assert at_work(resource, [found]) == []


def test_what_stands_still_is_in_the_way_while_a_session_of_it_runs() -> None:
    """An agent that began before a suspension, or that tries whether something is mended."""
    refs = {"taskRef": {"name": "t", "uid": "task"}, "planRef": {"name": "p", "uid": "plan"}}
    runs = obj("agent", "Working", metadata=HELD, state="Working", spec=refs)
    over = obj("deleted", metadata=HELD, state="Dead", spec={"taskRef": {"uid": "other"}})
    stalled = obj("p", "BudgetExhausted", kind="Stalled", metadata={"uid": "plan"})
    suspended = obj("q", "Suspended", metadata={"uid": "other"})

    found = owners([runs, over])

    assert found == {"task", "plan"}
    assert at_work(PLANS, [stalled, suspended], found) == [stalled]
    assert list(to_cancel([(PLANS, stalled), (SESSIONS, runs)])) == [(PLANS, stalled)]


def _id(found: Resource | Object) -> str:
    return found.kind if isinstance(found, Resource) else str(found["metadata"]["name"])


def test_objects_are_named_with_what_they_do_and_what_helps() -> None:
    failed = refusal([told(TASKS, obj("judged", "Verifying", state="Done"))], REFUSE)

    assert failed.reason == "StillAtWork"
    assert "Task team/judged (Done)" in failed.message
    assert "helm uninstall --no-hooks" in failed.remedy


def test_of_many_the_first_twenty_are_named() -> None:
    failed = refusal([f"Task team/t{number} (Open)" for number in range(25)], REFUSE)

    assert "team/t19 " in failed.message
    assert "team/t20 " not in failed.message
    assert failed.message.endswith("and 5 more")


def test_plans_are_cancelled_and_tasks_of_none_once() -> None:
    of_a_plan = {"ownerReferences": [{"kind": "Plan", "name": "runs"}]}
    found = [
        (PLANS, obj("runs", "Running")),
        (PLANS, obj("told", "Cancelling", spec={"cancel": {"reason": "enough"}})),
        (PLANS, obj("deleted", "Running", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})),
        (TASKS, obj("of-a-plan", "Running", metadata=of_a_plan)),
        (TASKS, obj("alone", "Running")),
        (SESSIONS, obj("agent", "Working", metadata=HELD)),
    ]

    assert [each["metadata"]["name"] for _, each in to_cancel(found)] == ["runs", "alone"]


class Cluster:
    """One Plan that ends some looks after it is cancelled."""

    def __init__(self, ends_after: int) -> None:
        self.plan, self.left = obj("runs", "Running"), ends_after

    async def read(
        self, resource: Resource, namespace: str | None, take: Any, selectors: Any, *, limit: int
    ) -> tuple[list[Any], str]:
        assert (namespace, selectors) == (None, {})
        assert limit > 0
        if resource is SESSIONS:
            raise NotFound(404, "NotFound", "no such kind", {})
        if resource is PLANS and "cancel" in self.plan["spec"]:
            self.left -= 1
        items = [self.plan] if resource is PLANS and self.left > 0 else []
        return [take(each) for each in items], "1"

    async def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        assert (resource, name, namespace) == (PLANS, "runs", "team")
        assert "cancel" not in self.plan["spec"], "it was told already"
        self.plan["spec"] |= body["spec"]
        if self.left == 1:
            raise NotFound(404, "NotFound", "deleted since", {"name": name})


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bernstein.hooks.removal._LOOK_SECONDS", 0)


async def test_nothing_is_touched_by_one_that_refuses() -> None:
    cluster: Any = Cluster(1)

    with pytest.raises(Failed, match="Plan team/runs"):
        await attempt(cluster, REFUSE)

    assert "cancel" not in cluster.plan["spec"]


async def test_one_that_cancels_waits_for_the_end() -> None:
    cluster: Any = Cluster(3)
    said: list[str] = []

    await attempt(cluster, Removal((), cancel=True), said.append)

    assert cluster.left == 0
    assert said == ["Cancelling Plan team/runs (new)", "Nothing is at work: Bernstein may go"]


async def test_what_is_deleted_before_it_is_cancelled_and_a_kind_that_is_gone_are_no_failure() -> (
    None
):
    said: list[str] = []
    cluster: Any = Cluster(1)

    await attempt(cluster, Removal((), cancel=True), said.append)

    assert said[-1] == "Nothing is at work: Bernstein may go"


async def test_one_that_cancels_says_what_does_not_end_in_time() -> None:
    cluster: Any = Cluster(1000)

    with pytest.raises(Failed, match=r"not ended within 0 s: Plan team/runs"):
        await attempt(cluster, Removal((), cancel=True, seconds=0))
