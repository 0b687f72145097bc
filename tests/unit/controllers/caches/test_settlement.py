"""Which Tasks and sessions are packed, and that who looks at what goes on misses none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.settlement import AT_ONCE, has_ended
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.resource import Key, Object
from bernstein.resources import PLANS, SESSIONS, TASKS
from tests.background import Background, eventually
from tests.control_plane.objects import valid
from tests.unit.kube.apiserver import ApiServer

NS = "team"
RUNNING: Object = {"phase": "Running"}
ENDED: Object = {"phase": "Succeeded", "endedAt": "2030-01-01T00:00:00Z"}
RETRY: Object = {"id": "again", "verb": "Retry", "by": "ann@example.org", "reason": "mended"}
ANSWER: Object = {
    "id": "again",
    "verb": "Retry",
    "by": "ann@example.org",
    "answer": "Refused",
    "reason": "NothingToRetry",
    "message": "no",
    "time": "2030-01-01T00:00:00Z",
}


class Cluster:
    """A namespace, and what the caches have of it."""

    def __init__(self, api: ApiServer, client: Client) -> None:
        self._api = api
        self.caches = Caches(client)

    def plan(self, name: str, status: Object, *, deleted: bool = False, **spec: Any) -> None:
        stays = {"deletionTimestamp": ENDED["endedAt"], "finalizers": ["team.example/stays"]}
        metadata: Object = stays if deleted else {}
        self._put(PLANS, valid("Plan", NS, name, **spec), metadata, status)

    def task(
        self,
        name: str,
        state: str,
        *,
        plan: str | None = None,
        told: Object | None = None,
        **spec: Any,
    ) -> None:
        """`told`: more of its status."""
        owners = [] if plan is None else [owner_reference("Plan", plan, f"uid-{plan}")]
        made = valid("Task", NS, name, **spec)
        self._put(TASKS, made, {"ownerReferences": owners}, {"state": state, **(told or {})})

    def session(self, task: str, state: str = "Dead") -> None:
        owner = owner_reference("Task", task, f"uid-{task}")
        made = valid("AgentSession", NS, f"{task}-s1")
        made["spec"] |= {"taskRef": {"name": task, "uid": f"uid-{task}"}}
        self._put(SESSIONS, made, {"ownerReferences": [owner]}, {"state": state})

    def delete(self, resource: Any, name: str) -> None:
        self._api.remove(resource, name, NS)

    def _put(self, resource: Any, made: Object, metadata: Object, status: Object) -> None:
        name = made["metadata"]["name"]
        fixed = {"uid": f"uid-{name}", **metadata}
        self._api.put(resource, name, NS, metadata=fixed, spec=made["spec"], status=status)

    async def follow(self, background: Background) -> None:
        for informer in reversed(self.caches.informers):  # what comes first is not known
            background.start(informer.run())
            await informer.synced()

    @property
    def settled(self) -> set[str]:
        found = {key.name for each in self._kinds for key in each.informer.settled_keys()}
        going = {name for each in self._kinds for name in each.going(NS)}
        assert not found & going
        assert found | going == {name for each in self._kinds for name in each.by_name(NS)}
        return found

    @property
    def _kinds(self) -> tuple[Parsed[Any], ...]:
        return self.caches.plans, self.caches.tasks, self.caches.sessions

    async def has_settled(self, *names: str) -> None:
        await eventually(lambda: self.settled == {*names})


@pytest.fixture
def cluster(api: ApiServer, client: Client) -> Cluster:
    return Cluster(api, client)


@pytest.mark.parametrize("state", ["Closed", "Cancelled"])
async def test_a_task_of_its_own_that_has_ended_is_settled_with_its_session(
    cluster: Cluster, background: Background, state: str
) -> None:
    cluster.task("over", state)
    cluster.session("over")
    cluster.task("going", "Done")
    cluster.session("going")
    await cluster.follow(background)

    await cluster.has_settled("over", "over-s1")
    assert cluster.caches.tasks.get(Key(NS, "over")) == cluster.caches.tasks.by_name(NS)["over"]
    cluster.task("going", state)
    await cluster.has_settled("over", "over-s1", "going", "going-s1")


async def test_what_a_plan_has_is_settled_once_the_plan_and_all_its_tasks_have_ended(
    cluster: Cluster, background: Background
) -> None:
    cluster.plan("web", RUNNING)
    for name in ("a", "b"):
        cluster.task(name, "Closed", plan="web")
        cluster.session(name)
    await cluster.follow(background)
    await cluster.has_settled()
    assert {*cluster.caches.tasks.going(NS)} == {"a", "b"}

    cluster.task("b", "Done", plan="web")
    cluster.plan("web", ENDED)
    await eventually(lambda: cluster.caches.plans.by_name(NS)["web"].status.ended_at is not None)
    await cluster.has_settled()

    cluster.task("b", "Closed", plan="web")
    await cluster.has_settled("web", "a", "a-s1", "b", "b-s1")

    cluster.plan("web", RUNNING)  # somebody asked for more of it
    await cluster.has_settled()


async def test_a_task_that_another_one_waits_for_stays_as_it_is(
    cluster: Cluster, background: Background
) -> None:
    cluster.task("first", "Closed")
    cluster.task("second", "Open", dependsOn=["first"])
    await cluster.follow(background)
    await cluster.has_settled()

    cluster.task("second", "Closed", dependsOn=["first"])
    await cluster.has_settled("first", "second")

    cluster.task("third", "Open", dependsOn=["second"])
    await cluster.has_settled("first")

    cluster.task("third", "Open", dependsOn=["first"])
    await cluster.has_settled("second")

    cluster.delete(TASKS, "third")
    await cluster.has_settled("first", "second")


async def test_a_task_that_a_blocked_one_waits_for_stays_as_it_is(
    cluster: Cluster, background: Background
) -> None:
    cluster.task("first", "Closed")
    cluster.session("first")
    cluster.task("second", "InProgress")
    await cluster.follow(background)
    await cluster.has_settled("first", "first-s1")

    cluster.task(
        "second", "Blocked", told={"blocked": {"session": "second-s1", "tasks": ["first"]}}
    )
    await cluster.has_settled()
    assert "first" in cluster.caches.tasks.going(NS)

    cluster.task("second", "Open", told={"blocked": {"session": "second-s1", "tasks": ["first"]}})
    await cluster.has_settled("first", "first-s1")


async def test_a_task_that_a_person_asks_something_of_goes_on_until_there_is_an_answer(
    cluster: Cluster, background: Background
) -> None:
    cluster.task("first", "Closed")
    cluster.task("work", "Failed", maxRetries=0, dependsOn=["first"])
    cluster.session("work")
    await cluster.follow(background)
    told = {"attempt": 1}
    cluster.task("work", "Failed", maxRetries=0, dependsOn=["first"], told=told)
    await cluster.has_settled("first", "work", "work-s1")

    asked: dict[str, Any] = {"maxRetries": 0, "dependsOn": ["first"], "requests": [RETRY]}
    cluster.task("work", "Failed", told=told, **asked)
    await cluster.has_settled()

    cluster.task("work", "Failed", told={**told, "requests": [ANSWER]}, **asked)
    await cluster.has_settled("first", "work", "work-s1")


async def test_what_an_ended_plan_has_goes_on_while_a_person_asks_something_of_the_plan(
    cluster: Cluster, background: Background
) -> None:
    failed = {"phase": "Failed", "endedAt": ENDED["endedAt"]}
    cluster.plan("web", failed)
    cluster.task("work", "Failed", plan="web", maxRetries=0, told={"attempt": 1})
    await cluster.follow(background)
    await cluster.has_settled("web", "work")

    cluster.plan("web", failed, requests=[RETRY])
    await cluster.has_settled()

    cluster.plan("web", {**failed, "requests": [ANSWER]}, requests=[RETRY])
    await cluster.has_settled("web", "work")


async def test_a_session_without_its_task_is_settled_and_one_that_is_not_dead_is_not(
    cluster: Cluster, background: Background
) -> None:
    cluster.session("gone")
    cluster.task("over", "Closed")
    cluster.session("over", "Working")
    await cluster.follow(background)

    await cluster.has_settled("gone-s1", "over")


async def test_what_runs_again_is_there_at_once(cluster: Cluster, background: Background) -> None:
    cluster.task("work", "Failed", maxRetries=0)
    cluster.session("work")
    await cluster.follow(background)
    cluster.task("work", "Closed")
    await cluster.has_settled("work", "work-s1")

    cluster.task("work", "Open")
    await eventually(lambda: "work" in cluster.caches.tasks.going(NS))

    assert "work-s1" in cluster.caches.sessions.going(NS)


async def test_a_plan_that_ends_settles_its_tasks_a_few_at_a_time(
    cluster: Cluster, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"task-{number}" for number in range(3 * AT_ONCE)]
    cluster.plan("web", RUNNING)
    for name in names:
        cluster.task(name, "Closed", plan="web")
    await cluster.follow(background)
    informer, steps = cluster.caches.tasks.informer, [0]
    original = informer.reconsider

    def counted(key: Key) -> bool:
        steps[-1] += 1
        return original(key)

    async def count() -> None:
        while True:
            await asyncio.sleep(0)
            steps.append(0)

    monkeypatch.setattr(informer, "reconsider", counted)
    background.start(count())
    cluster.plan("web", ENDED)
    await cluster.has_settled("web", *names)

    assert max(steps) == AT_ONCE


async def test_an_ended_plan_goes_on_with_the_first_of_its_tasks_that_does(
    cluster: Cluster, background: Background
) -> None:
    cluster.plan("web", {**ENDED, "tasks": [{"name": "a", "stage": "build", "step": 0}]})
    cluster.task("a", "Closed", plan="web")
    await cluster.follow(background)
    await cluster.has_settled("web", "a")
    told: list[Key] = []
    cluster.caches.plans.tell(told.append)

    cluster.task("a", "Open", plan="web")
    await cluster.has_settled()
    assert cluster.caches.plans.going(NS)["web"].status.tasks[0].name == "a"
    cluster.task("a", "Cancelled", plan="web")
    await cluster.has_settled("web", "a")

    assert told == [Key(NS, "web")] * 2


async def test_an_ended_plan_that_is_being_deleted_goes_on(
    cluster: Cluster, background: Background
) -> None:
    cluster.plan("gone", ENDED)
    cluster.plan("web", ENDED)
    await cluster.follow(background)
    await cluster.has_settled("web", "gone")

    cluster.plan("web", ENDED, deleted=True)
    cluster.delete(PLANS, "gone")

    await cluster.has_settled()
    assert [*cluster.caches.plans.by_name(NS)] == ["web"]


@pytest.mark.parametrize(
    ("status", "spec", "ended"),
    [
        ({}, {}, False),
        ({"state": "Open"}, {}, False),
        ({"state": "Planned"}, {}, False),
        ({"state": "PendingApproval"}, {}, False),
        ({"state": "Blocked"}, {}, False),
        ({"state": "Cancelled"}, {"requests": [RETRY]}, False),
        ({"state": "Cancelled", "requests": [ANSWER]}, {"requests": [RETRY]}, True),
        ({"state": "Failed", "attempt": 1}, {}, False),
        ({"state": "Failed", "attempt": 1}, {"maxRetries": 0}, True),
        ({"state": "Failed", "attempt": 4}, {"maxRetries": 3}, True),
        (
            {"state": "Failed", "attempt": 4, "round": {"number": 1, "since": 2}},
            {"maxRetries": 3},
            False,
        ),
        ({"state": "Failed", "infrastructureFailures": 1000}, {}, True),
        ({"state": "Closed"}, {}, True),
        ({"state": "Cancelled"}, {}, True),
    ],
)
def test_a_task_has_ended_when_no_attempt_is_left(
    status: Object, spec: Object, ended: bool
) -> None:
    assert has_ended({"metadata": {"name": "a"}, "spec": spec, "status": status}) is ended
