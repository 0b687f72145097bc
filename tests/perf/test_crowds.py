"""What it costs to tell one of many who wait for the same when it may try, counted in calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import NamedTuple

import pytest

from bernstein.controllers import crowds
from bernstein.controllers.caches import Caches
from bernstein.core import labels, waiting
from bernstein.core.reasons.waits import SOON_SECONDS
from bernstein.core.verification.crowd import FOLLOW_EACH
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.resource import Key, Object
from tests.perf.test_calls import counted
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, at, running
from tests.unit.core.objects import waiting as not_started

ERRORED = {"name": "lint", "kind": "gate", "verdict": "Errored", "reason": "ImagePullFailed"}


class Crowd(NamedTuple):
    """How many wait for an image, and how many pods that have it have begun since they failed."""

    tasks: int
    pods: int


FEW, MANY = Crowd(100, 200), Crowd(1000, 2000)


def task(number: int) -> Object:
    judged = {"round": 2, "since": 0, "again": [{"check": "lint", "round": 2}]}
    status = objects.done(verification=objects.verification(checks=[ERRORED], **judged))
    status = status.model_copy(update={"project": "default"})
    told = (status, "GateErrored", "no image", objects.project(), NOW, 60)
    made = objects.task(plan=None, status=waiting.held(*told, alone=SOON_SECONDS)).dump()
    meta = {"name": f"t-{number:04}", "namespace": NAMESPACE, "uid": f"t-{number}"}
    return {**made, "metadata": {**made["metadata"], **meta, "resourceVersion": str(number + 1)}}


def pod(number: int, *containers: Object) -> Object:
    own = {labels.PROJECT: "default", labels.JOB: "check", labels.CHECK: "lint"}
    made = objects.pod(*containers)
    meta = {"name": f"p-{number}", "namespace": NAMESPACE, "uid": f"p-{number}", "labels": own}
    return {**made, "metadata": {**made["metadata"], **meta, "resourceVersion": str(number + 1)}}


def begun(number: int) -> Object:
    return pod(number, running("checkout", at(number)), running("check", at(number)))


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(ConnectionInfo(server="http://127.0.0.1:9")) as found:
        yield found


def filled(client: Client, crowd: Crowd) -> Caches:
    caches = Caches(client)
    first = task(0)
    for number in range(crowd.tasks):
        meta = {"name": f"t-{number:04}", "uid": f"t-{number}", "resourceVersion": str(number + 1)}
        one = {**first, "metadata": {**first["metadata"], **meta}}
        caches.tasks.informer._cache.update(one)
    for number in range(crowd.pods):
        caches.pods._cache.update(begun(number))
    return caches


def test_a_look_at_one_that_waits_costs_as_much_beside_many_that_wait_and_many_pods(
    client: Client,
) -> None:
    found = []
    for crowd in (FEW, MANY):
        caches, last = filled(client, crowd), Key(NAMESPACE, f"t-{crowd.tasks - 1:04}")
        turn, calls = counted(partial(crowds.follows, caches, caches.waiting_tasks, last))
        assert turn is not None
        found.append(calls.total())
    print(f"calls to see when one of {FEW.tasks} and of {MANY.tasks} tries: {found}")
    assert found[0] == found[1]


def test_a_pod_that_begins_has_as_many_looked_at_however_many_wait(client: Client) -> None:
    found = []
    for crowd in (FEW, MANY):
        caches = filled(client, crowd._replace(pods=2))
        new = begun(2)
        caches.pods._cache.update(new)
        told, calls = counted(partial(crowds.followers, caches, caches.waiting_tasks, new))
        assert len(told) == FOLLOW_EACH
        found.append(calls["is_told_by"])
    print(f"looked at, of {FEW.tasks} and of {MANY.tasks}, as a pod begins: {found}")
    assert found[0] == found[1] == FOLLOW_EACH


def test_a_pod_that_shows_nothing_that_anybody_waits_for_has_nobody_looked_at(
    client: Client,
) -> None:
    caches = filled(client, MANY)
    clones = pod(MANY.pods, running("istio-proxy", at(9)), not_started("check"))
    caches.pods._cache.update(clones)

    told, calls = counted(lambda: crowds.followers(caches, caches.waiting_tasks, clones))

    assert not told
    assert calls["is_told_by"] == calls["waits"] == 0


def test_where_nobody_waits_it_is_not_looked_what_a_pod_shows(client: Client) -> None:
    was, now = pod(0, not_started("check")), begun(0)

    def looked(crowd: Crowd) -> int:
        those = filled(client, crowd).waiting_tasks
        shows, calls = counted(partial(crowds.shows_more, those, was, now))
        assert shows == bool(crowd.tasks)
        return calls["shown"]

    assert looked(Crowd(1, 1)) == 2
    assert looked(Crowd(0, 1)) == 0


def test_an_event_costs_as_much_beside_many_that_wait_and_many_pods(client: Client) -> None:
    found = []
    for crowd in (FEW, MANY):
        caches = filled(client, crowd)
        of_pods, of_tasks = caches.pods._cache, caches.tasks.informer._cache
        one, other = begun(crowd.pods), task(crowd.tasks)
        _, by_pod = counted(partial(of_pods.update, one))
        _, by_task = counted(partial(of_tasks.update, other))
        found.append((by_pod.total(), by_task.total()))
    print(f"calls for an event of a pod, and of a Task, beside few and beside many: {found}")
    assert found[0] == found[1]
