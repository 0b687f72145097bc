"""What the writer does where the cluster stores something else than it was given."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.controllers.caches import Caches
from bernstein.controllers.writer import Writer
from bernstein.core import labels
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.errors import NameConflict, Requeue, SpecMutated
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, Key, Object, Resource
from bernstein.resources import PLANS, TASKS
from tests.background import Background, eventually
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer

OWNER = Key("default", "project")
WANTED: Object = {
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": []},
}


@pytest.fixture
def writer(client: Client) -> Writer:
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    return Writer(client, Caches(client), Unfenced(), events)


def changed(api: ApiServer, **spec: Any) -> Object:
    return api.put(NETWORK_POLICIES, "p", spec={**WANTED["spec"], **spec})


async def test_a_spec_that_differs_is_put_right(api: ApiServer, writer: Writer) -> None:
    await writer.set_spec(OWNER, NETWORK_POLICIES, WANTED, changed(api, egress=[{}]))

    assert api.get(NETWORK_POLICIES, "p")["spec"] == WANTED["spec"]


async def test_a_spec_that_something_in_the_cluster_changes_is_written_once(
    api: ApiServer, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a mutating webhook does: what is stored is never what was sent."""
    commit = api._commit

    def mutate(plural: str, old: Object | None, new: Object) -> Object:
        return commit(plural, old, {**new, "spec": {**new["spec"], "egress": [{}]}})

    monkeypatch.setattr(api, "_commit", mutate)
    live = changed(api, policyTypes=["Ingress"])
    for _ in range(3):
        with pytest.raises(SpecMutated, match="NetworkPolicy 'p' is changed by something"):
            await writer.set_spec(OWNER, NETWORK_POLICIES, WANTED, live)
        live = api.get(NETWORK_POLICIES, "p")
    assert len(api.writes()) == 1

    monkeypatch.undo()
    await writer.set_spec(OWNER, NETWORK_POLICIES, WANTED, changed(api, egress=[{"ports": []}]))
    assert api.get(NETWORK_POLICIES, "p")["spec"] == WANTED["spec"]


async def test_nothing_is_kept_of_mutated_objects_that_are_gone(
    api: ApiServer, client: Client, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = Caches(client)
    background.start(caches.network_policies.run())
    await caches.network_policies.synced()
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    commit = api._commit

    def mutate(plural: str, old: Object | None, new: Object) -> Object:
        return commit(plural, old, {**new, "spec": {**new["spec"], "egress": [{}]}})

    monkeypatch.setattr(api, "_commit", mutate)
    ours = {"labels": {labels.MANAGED_BY: labels.MANAGER}}
    for number in range(5):
        name = f"p{number}"
        spec = {**WANTED["spec"], "egress": [{}]}
        live = api.put(NETWORK_POLICIES, name, metadata=ours, spec=spec)
        await eventually(lambda n=name: caches.network_policies.get(Key("default", n)))  # type: ignore[misc]
        with pytest.raises(SpecMutated):
            await writer.set_spec(OWNER, NETWORK_POLICIES, WANTED, live)
        api.remove(NETWORK_POLICIES, name)
        await eventually(lambda: len(caches.network_policies) == 0)
    assert len(writer._mutated) == 1


OWNED = {"name": "mine", "ownerReferences": [owner_reference("Plan", "web", "uid")]}
OURS = {labels.MANAGED_BY: labels.MANAGER}


@pytest.mark.parametrize(
    ("resource", "content", "forged"),
    [
        (TASKS, {"spec": {"title": "Write it"}}, {"spec": {"title": "Write it", "goal": "Theft"}}),
        (CONFIG_MAPS, {"data": {"prompt.md": "Good"}}, {"data": {"prompt.md": "Evil"}}),
    ],
    ids=["Task", "prompt"],
)
async def test_what_somebody_else_made_in_our_name_is_adopted_only_if_it_says_the_same(
    api: ApiServer, writer: Writer, resource: Resource, content: Object, forged: Object
) -> None:
    """Label, owner and hash are no secret: whoever may make such objects can write them, too."""
    wanted = {"metadata": {**OWNED, "namespace": "default"}, **content}
    made = await writer.create(OWNER, resource, wanted)
    assert await writer.create(OWNER, resource, wanted) == made

    api.put(resource, "mine", metadata=made["metadata"], **forged)
    with pytest.raises(NameConflict) as conflict:
        await writer.create(OWNER, resource, wanted)
    assert conflict.value.differs == "spec"


async def test_a_job_of_an_older_release_is_adopted(api: ApiServer, writer: Writer) -> None:
    before = api.put(JOBS, "mine", metadata={**OWNED, "labels": OURS}, spec={"suspend": True})
    wanted = {"metadata": {**OWNED, "namespace": "default"}, "spec": {"suspend": False}}

    assert await writer.create(OWNER, JOBS, wanted) == before


async def test_what_an_owner_of_the_same_name_has_left_is_waited_for(
    api: ApiServer, writer: Writer
) -> None:
    owners = [owner_reference("Plan", "web", "the uid of the one before")]
    api.put(JOBS, "mine", metadata={"labels": OURS, "ownerReferences": owners})
    wanted = {"metadata": {**OWNED, "namespace": "default"}, "spec": {}}
    with pytest.raises(Requeue, match="left over"):
        await writer.create(OWNER, JOBS, wanted)

    api.remove(JOBS, "mine")
    assert (await writer.create(OWNER, JOBS, wanted))["metadata"]["name"] == "mine"


async def test_what_has_an_owner_besides_the_one_before_is_no_left_over(
    api: ApiServer, writer: Writer
) -> None:
    """The garbage collector leaves it alone as long as there is that one."""
    before = owner_reference("Plan", "web", "the uid of the one before")
    other = {**owner_reference("Plan", "shop", "uid of another"), "controller": False}
    api.put(JOBS, "mine", metadata={"labels": OURS, "ownerReferences": [before, other]})

    with pytest.raises(NameConflict):
        await writer.create(
            OWNER, JOBS, {"metadata": {**OWNED, "namespace": "default"}, "spec": {}}
        )


PRODUCED: Object = {
    "apiVersion": "bernstein.dev/v1alpha1",
    "kind": "Plan",
    "metadata": {
        "name": "limits",
        "namespace": "default",
        "labels": {labels.MANAGED_BY: labels.MANAGER, labels.TASK: "goal"},
    },
    "spec": {
        "name": "Limits",
        "approval": {"plan": "Always"},
        "stages": [{"name": "a", "steps": [{"title": "One"}]}],
    },
}


async def test_a_plan_that_others_made_to_begin_without_a_yes_is_none_that_was_produced(
    api: ApiServer, writer: Writer
) -> None:
    loose = {key: value for key, value in PRODUCED["spec"].items() if key != "approval"}
    meta = PRODUCED["metadata"]
    api.put(PLANS, meta["name"], spec=loose, metadata=meta)

    with pytest.raises(NameConflict, match="waits for no approval"):
        await writer.produce(Key("default", "goal"), PRODUCED)


async def test_labels_of_ours_make_no_produced_plan_of_one_that_says_something_else(
    api: ApiServer, writer: Writer
) -> None:
    theirs = {**PRODUCED["spec"], "stages": [{"name": "a", "steps": [{"title": "Another"}]}]}
    meta = PRODUCED["metadata"]
    api.put(PLANS, meta["name"], spec=theirs, metadata=meta)

    with pytest.raises(NameConflict, match="says something else"):
        await writer.produce(Key("default", "goal"), PRODUCED)


async def test_a_plan_that_was_produced_before_a_crash_is_the_one_whatever_people_changed_since(
    api: ApiServer, writer: Writer
) -> None:
    await writer.produce(Key("default", "goal"), PRODUCED)
    live = api.get(PLANS, "limits")
    spec = live["spec"] | {"budget": "5", "approval": {"plan": "Always", "result": "Always"}}
    api.put(PLANS, "limits", spec=spec, metadata=live["metadata"])

    await writer.produce(Key("default", "goal"), PRODUCED)
