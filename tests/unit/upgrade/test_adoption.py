"""Objects that an older release made are taken for our own, whatever has changed of their content.

`test_upgrade` holds their names, labels and owners, by which that is decided, and their content.
"""

from __future__ import annotations

import pytest

from bernstein.controllers.caches import Caches
from bernstein.controllers.writer import Writer
from bernstein.core.labels import SPEC_HASH
from bernstein.kube.client import Client
from bernstein.kube.errors import NameConflict
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, Key
from bernstein.resources import SESSIONS, TASKS
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer
from tests.unit.upgrade import made
from tests.unit.upgrade.decisions import Object
from tests.unit.upgrade.recordings import files, read

WHOLE = {
    made.kind(obj): obj
    for path in files()
    for recording in read(path)
    for obj in recording.made
    if made.is_whole(obj)
}
"""One object of each kind, as the older release made it."""
RESOURCES = {r.kind: r for r in (CONFIG_MAPS, JOBS, NETWORK_POLICIES, SESSIONS, TASKS)}
OWNER = Key("team", "work")


@pytest.fixture
def writer(client: Client) -> Writer:
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    return Writer(client, Caches(client), Unfenced(), events)


def changed(obj: Object, **metadata: object) -> Object:
    """The object as a release makes it that means something else by it."""
    of_today = {key: value for key, value in obj["metadata"].items() if key != "annotations"}
    return obj | {"metadata": of_today | metadata, "added": "by a later release"}


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if "NetworkPolicy" not in kind])
async def test_an_object_of_other_content_is_adopted(
    api: ApiServer, writer: Writer, kind: str
) -> None:
    old = WHOLE[kind]
    resource, name = RESOURCES[old["kind"]], old["metadata"]["name"]
    live = api.put(resource, name, OWNER.namespace, **old)

    assert await writer.create(OWNER, resource, changed(old)) == live

    (refused,) = api.writes()
    assert refused.body["metadata"]["annotations"] != old["metadata"]["annotations"]
    assert SPEC_HASH in old["metadata"]["annotations"]
    assert api.get(resource, name, OWNER.namespace) == live


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if kind.startswith("Job")])
async def test_an_object_of_another_owner_is_not(api: ApiServer, writer: Writer, kind: str) -> None:
    old = WHOLE[kind]
    api.put(JOBS, old["metadata"]["name"], OWNER.namespace, **old)
    (owner,) = old["metadata"]["ownerReferences"]

    with pytest.raises(NameConflict, match="its owner is not ours"):
        await writer.create(
            OWNER, JOBS, changed(old, ownerReferences=[owner | {"name": "x", "uid": "y"}])
        )


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if "NetworkPolicy" in kind])
async def test_a_network_policy_of_other_content_is_put_right(
    api: ApiServer, writer: Writer, kind: str
) -> None:
    old = WHOLE[kind]
    name = old["metadata"]["name"]
    live = api.put(NETWORK_POLICIES, name, OWNER.namespace, **old)

    new = changed(old)
    new["spec"] = old["spec"] | {"policyTypes": ["Egress", "Ingress"]}
    await writer.set_spec(OWNER, NETWORK_POLICIES, new, live)

    assert api.get(NETWORK_POLICIES, name, OWNER.namespace)["spec"] == new["spec"]
