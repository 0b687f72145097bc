"""What a trial says when something is not as it must be, and that it leaves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bernstein.hooks.program import Failed
from bernstein.hooks.trial import Trial, attempt
from bernstein.kube.errors import ApiError, Forbidden, NotFound, TransportError
from bernstein.kube.resource import Object, Resource
from bernstein.resources import PLANS, PROJECTS

TRIAL = Trial("tried", "t", "bernstein:1", "system/operator", seconds=0.2)
PROBED = {"observedGeneration": 1, "probe": {"settled": True}}
Status = Callable[[Resource, Object], Object]


class Cluster:
    """An API server, and an operator who says `status`."""

    def __init__(self, status: Status) -> None:
        self.objects: dict[str, Object] = {}
        self.status = status
        self.refuses: dict[str, Exception] = {}
        self.keeps = False

    async def create(self, resource: Resource, obj: Object) -> None:
        if problem := self.refuses.get(resource.kind):
            raise problem
        self.objects[resource.kind] = obj

    async def get(self, resource: Resource, name: str, namespace: str) -> Object:
        assert namespace == TRIAL.namespace
        if resource.kind not in self.objects:
            raise NotFound(404, "NotFound", "none", {"name": name})
        obj = self.objects[resource.kind]
        return {**obj, "status": self.status(resource, obj)}

    async def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        assert (name, namespace) == (TRIAL.name, TRIAL.namespace)
        self.objects[resource.kind]["spec"] |= body["spec"]

    async def delete(self, resource: Resource, name: str, namespace: str) -> None:
        await self.get(resource, name, namespace)
        if not self.keeps:
            del self.objects[resource.kind]


def well(resource: Resource, obj: Object) -> Object:
    if resource is PROJECTS:
        return PROBED
    phase = "Cancelled" if "cancel" in obj["spec"] else "Suspended"
    return {"observedGeneration": 1, "expanded": True, "phase": phase}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bernstein.hooks.trial._LOOK_SECONDS", 0.01)


async def fails(cluster: Any) -> Failed:
    with pytest.raises(Failed) as failed:
        await attempt(cluster, TRIAL)
    return failed.value


async def test_it_goes_through_and_leaves_nothing() -> None:
    cluster: Any = Cluster(well)
    said: list[str] = []

    await attempt(cluster, TRIAL, said.append)

    assert cluster.objects == {}
    assert said[-1] == "All is deleted again. Bernstein works"


async def test_what_one_that_was_killed_has_left_is_deleted_first() -> None:
    cluster: Any = Cluster(well)
    cluster.objects = {"Plan": TRIAL.plan(), "Project": TRIAL.project()}

    await attempt(cluster, TRIAL)

    assert cluster.objects == {}


@pytest.mark.parametrize("kind", ["Plan", "Project"])
async def test_what_is_somebodys_is_left_alone_and_told(kind: str) -> None:
    cluster: Any = Cluster(well)
    theirs = {"metadata": {"name": TRIAL.name, "labels": {"team": "a"}}, "spec": {}}
    cluster.objects = {kind: theirs}

    failed = await fails(cluster)

    assert failed.reason == "NameTaken"
    assert "test.namespace" in failed.remedy
    assert cluster.objects == {kind: theirs}


async def test_an_operator_that_does_not_look_is_told() -> None:
    cluster: Any = Cluster(lambda *_: {"observedGeneration": -1})

    failed = await fails(cluster)

    assert failed.reason == "OperatorSilent"
    assert "kubectl -n system rollout status deployment/operator" in failed.remedy
    assert cluster.objects == {}


async def test_what_a_project_says_that_is_not_probed_is_told() -> None:
    condition = {"type": "Ready", "status": "Unknown", "reason": "ImagePullFailed"}
    told = {"observedGeneration": 1, "conditions": [{**condition, "message": "no bernstein:1"}]}

    failed = await fails(Cluster(lambda *_: told))

    assert failed.reason == "NotInTime"
    assert "Ready is Unknown (ImagePullFailed): no bernstein:1" in failed.message


async def test_a_plan_that_does_not_end_is_told() -> None:
    def stuck(resource: Resource, obj: Object) -> Object:
        return well(resource, obj) | {"phase": "Cancelling"}

    cluster: Any = Cluster(stuck)

    failed = await fails(cluster)

    assert failed.message.startswith("Plan 't' has not come to its end")
    assert cluster.objects == {}


async def test_who_refuses_an_object_is_told() -> None:
    cluster: Any = Cluster(well)
    cluster.refuses["Plan"] = Forbidden(403, "Forbidden", "policy 'ours' denied the request")

    failed = await fails(cluster)

    assert failed.reason == "Refused"
    assert "make a Plan" in failed.message
    assert "policy 'ours' denied the request" in failed.message
    assert cluster.objects == {}


async def test_what_was_made_without_an_answer_is_deleted() -> None:
    cluster: Any = Cluster(well)
    create = cluster.create

    async def silent(resource: Resource, obj: Object) -> None:
        await create(resource, obj)
        if resource is PLANS:
            raise TransportError("no answer")

    cluster.create = silent

    with pytest.raises(TransportError):
        await attempt(cluster, TRIAL)
    assert cluster.objects == {}


async def test_a_server_that_is_gone_does_not_hide_what_was_found() -> None:
    cluster: Any = Cluster(lambda *_: {"observedGeneration": -1})
    delete = cluster.delete

    async def gone(resource: Resource, name: str, namespace: str) -> None:
        if resource.kind in cluster.objects:
            raise TransportError("no answer")
        await delete(resource, name, namespace)

    cluster.delete = gone

    assert (await fails(cluster)).reason == "OperatorSilent"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_that_is_busy_for_a_while_is_asked_again(status: int) -> None:
    cluster: Any = Cluster(well)
    get, asked = cluster.get, []

    async def busy(resource: Resource, name: str, namespace: str) -> Object:
        found: Object = await get(resource, name, namespace)
        asked.append(resource)
        if len(asked) == 1:
            raise ApiError(status, "Busy", "later")
        return found

    cluster.get = busy

    await attempt(cluster, TRIAL)
    assert cluster.objects == {}


async def test_kinds_that_are_missing_are_told() -> None:
    cluster: Any = Cluster(well)
    cluster.refuses["Project"] = NotFound(404, "NotFound", "the server could not find the resource")

    failed = await fails(cluster)

    assert failed.reason == "KindsMissing"
    assert "kubectl get crd" in failed.remedy


async def test_what_cannot_be_deleted_is_told() -> None:
    cluster: Any = Cluster(well)
    cluster.objects = {"Plan": TRIAL.plan()}
    cluster.keeps = True

    failed = await fails(cluster)

    assert failed.reason == "NotDeleted"
    assert f"get {PLANS.plural}.{PLANS.group} t" in failed.remedy
