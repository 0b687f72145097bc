import asyncio
import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.kube.client import Client
from bernstein.kube.errors import (
    ApiError,
    Conflict,
    Invalid,
    LostLeadership,
    NameConflict,
    Requeue,
    TransportError,
)
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.patches import status_diff
from bernstein.kube.resource import JOBS, Key, Object, key_of, uid_of
from bernstein.kube.writes import (
    Create,
    Delete,
    Executor,
    MergePatch,
    Ownership,
    RemoveFinalizer,
    SetSpec,
    StatusPatch,
    Write,
)
from tests.background import Background, eventually
from tests.fence import Unfenced
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Fault, _merged

OWNER = Key("default", "w")
OWNERSHIP = Ownership(("app", "engine"), "example.com/spec-hash")


class Closed:
    """The fence of a process that does not lead."""

    def check(self) -> float:
        raise LostLeadership("not leading")


@pytest.fixture
def executor(client: Client) -> Executor:
    return Executor(client, fence=Unfenced(), guard=Guard(()), ownership=OWNERSHIP)


def job(*, owner_uid: str = "owner", owner: str = "w", command: str = "true") -> Object:
    reference = {"apiVersion": "v1", "kind": "Owner", "name": owner, "uid": owner_uid}
    return {
        "metadata": {
            "name": "j",
            "namespace": "default",
            "ownerReferences": [{"controller": True, **reference}],
        },
        "spec": {"command": command},
    }


async def test_create_makes_the_object_with_label_and_hash(
    api: ApiServer, executor: Executor
) -> None:
    desired = job()
    before = copy.deepcopy(desired)
    live = await executor.execute(OWNER, Create(JOBS, desired))
    assert live is not None
    assert live["metadata"]["labels"] == {"app": "engine"}
    assert live["metadata"]["annotations"]["example.com/spec-hash"]
    assert live["kind"] == "Job"
    assert desired == before


async def test_create_again_finds_its_own_object(api: ApiServer, executor: Executor) -> None:
    first = await executor.execute(OWNER, Create(JOBS, job()))
    second = await executor.execute(OWNER, Create(JOBS, job()))
    assert first is not None
    assert second is not None
    assert uid_of(first) == uid_of(second)


async def test_create_after_an_unanswered_create_finds_its_own_object(
    api: ApiServer, executor: Executor
) -> None:
    api.fault = lambda call: "drop-after" if call.verb == "POST" else None
    with pytest.raises(TransportError):
        await executor.execute(OWNER, Create(JOBS, job()))
    api.fault = lambda _: None
    live = await executor.execute(OWNER, Create(JOBS, job()))
    assert live is not None
    assert api.names(JOBS) == ["j"]


@pytest.mark.parametrize("differs", ["label", "owner", "spec"])
async def test_a_foreign_object_of_that_name_is_a_name_conflict(
    api: ApiServer, executor: Executor, differs: str
) -> None:
    if differs == "label":
        api.put(JOBS, "j")
    elif differs == "owner":
        await executor.execute(OWNER, Create(JOBS, job(owner_uid="another", owner="x")))
    else:
        await executor.execute(OWNER, Create(JOBS, job(command="false")))
    with pytest.raises(NameConflict, match="delete or rename") as raised:
        await executor.execute(OWNER, Create(JOBS, job()))
    assert raised.value.differs == differs
    assert raised.value.live["metadata"]["name"] == "j"


async def test_a_name_that_is_still_being_deleted_is_tried_later(
    api: ApiServer, executor: Executor
) -> None:
    api.put(JOBS, "j", metadata={"finalizers": ["foregroundDeletion"]})
    await executor.execute(
        OWNER, Delete(JOBS, Key("default", "j"), api.get(JOBS, "j")["metadata"]["uid"])
    )
    with pytest.raises(Requeue, match="being deleted"):
        await executor.execute(OWNER, Create(JOBS, job()))


async def test_delete_spares_a_successor_and_accepts_that_it_is_gone(
    api: ApiServer, executor: Executor
) -> None:
    api.put(JOBS, "j")
    key = Key("default", "j")
    assert await executor.execute(OWNER, Delete(JOBS, key, "the uid of the one before")) is None
    assert api.names(JOBS) == ["j"]
    uid = api.get(JOBS, "j")["metadata"]["uid"]
    for _ in range(2):
        assert await executor.execute(OWNER, Delete(JOBS, key, uid)) is None
    assert api.names(JOBS) == []


async def test_a_finalizer_is_removed_alone(api: ApiServer, executor: Executor) -> None:
    obj = api.put(WIDGETS, "w", metadata={"finalizers": ["a/other", "b/ours"]})
    removed = await executor.execute(OWNER, RemoveFinalizer(WIDGETS, obj, "b/ours"))
    assert removed is not None
    assert removed["metadata"]["finalizers"] == ["a/other"]


async def test_the_object_is_gone_with_its_last_finalizer_but_not_before(
    api: ApiServer, client: Client, background: Background
) -> None:
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    guard = Guard([informer])
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    obj = api.put(WIDGETS, "w", metadata={"finalizers": ["a/other", "b/ours"]})
    await client.delete(WIDGETS, "w", "default")
    rest = await executor.execute(OWNER, RemoveFinalizer(WIDGETS, obj, "b/ours"))
    assert rest is not None
    await eventually(lambda: guard.caught_up(OWNER))
    api.stall()
    assert await executor.execute(OWNER, RemoveFinalizer(WIDGETS, rest, "a/other")) is None
    assert not guard.caught_up(OWNER)
    api.flow()
    await eventually(lambda: guard.caught_up(OWNER))
    assert informer.get(OWNER) is None


async def test_a_finalizer_that_has_moved_is_found_again(
    api: ApiServer, executor: Executor
) -> None:
    obj = api.put(WIDGETS, "w", metadata={"finalizers": ["a/other", "b/ours"]})
    api.put(WIDGETS, "w", metadata={"finalizers": ["b/ours", "c/new"]}, status={"moved": True})
    await executor.execute(OWNER, RemoveFinalizer(WIDGETS, obj, "b/ours"))
    assert api.get(WIDGETS, "w")["metadata"]["finalizers"] == ["c/new"]


@pytest.mark.parametrize("meanwhile", ["gone", "replaced", "finished"])
async def test_removing_the_finalizer_of_what_is_over_changes_nothing_else(
    api: ApiServer, executor: Executor, meanwhile: str
) -> None:
    obj = api.put(WIDGETS, "w", metadata={"finalizers": ["b/ours"]})
    if meanwhile == "finished":
        api.put(WIDGETS, "w", metadata={"finalizers": []})
    else:
        api.remove(WIDGETS, "w")
    if meanwhile == "replaced":
        api.put(WIDGETS, "w", metadata={"finalizers": ["b/ours"]})
    await executor.execute(OWNER, RemoveFinalizer(WIDGETS, obj, "b/ours"))
    if meanwhile == "replaced":
        assert api.get(WIDGETS, "w")["metadata"]["finalizers"] == ["b/ours"]


async def test_a_spec_is_set_only_when_it_differs(api: ApiServer, executor: Executor) -> None:
    live = await executor.execute(OWNER, Create(JOBS, job()))
    assert live is not None
    assert await executor.execute(OWNER, SetSpec(JOBS, job(), live)) is live
    assert len(api.writes()) == 1

    live = await executor.execute(OWNER, SetSpec(JOBS, job(command="false"), live))

    assert live is not None
    assert live["spec"] == {"command": "false"}
    assert await executor.execute(OWNER, SetSpec(JOBS, job(command="false"), live)) is live


async def test_what_others_changed_in_a_spec_is_put_right_and_their_annotations_stay(
    api: ApiServer, executor: Executor
) -> None:
    made = await executor.execute(OWNER, Create(JOBS, job()))
    assert made is not None
    meta = {**made["metadata"], "annotations": {**made["metadata"]["annotations"], "theirs": "x"}}
    changed = {**made, "metadata": meta, "spec": {**made["spec"], "extra": 1}}
    theirs = api.put(JOBS, "j", **{k: changed[k] for k in ("metadata", "spec")})

    live = await executor.execute(OWNER, SetSpec(JOBS, job(), theirs))

    assert live is not None
    assert live["spec"] == {"command": "true"}
    assert live["metadata"]["annotations"] == meta["annotations"]


async def test_a_spec_is_not_set_on_another_object_of_that_name(
    api: ApiServer, executor: Executor
) -> None:
    live = await executor.execute(OWNER, Create(JOBS, job()))
    assert live is not None
    before = {**live, "metadata": {**live["metadata"], "uid": "the one before"}}

    with pytest.raises(Invalid):
        await executor.execute(OWNER, SetSpec(JOBS, job(command="false"), before))

    assert api.get(JOBS, "j")["spec"] == {"command": "true"}


async def test_an_equal_status_is_not_written_and_not_waited_for(
    api: ApiServer, client: Client
) -> None:
    guard = Guard([Informer(client, WIDGETS)])
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    obj = api.put(WIDGETS, "w", status={"state": "Open", "list": [{"a": 1}]})
    same = {"state": "Open", "list": [{"a": 1, "b": None}], "gone": None}
    assert await executor.execute(OWNER, StatusPatch(WIDGETS, obj, same)) is obj
    assert api.writes() == []
    assert guard.caught_up(OWNER)


async def test_a_changed_status_is_one_patch_that_removes_what_is_absent(
    api: ApiServer, executor: Executor
) -> None:
    obj = api.put(
        WIDGETS, "w", status={"state": "Open", "old": 1, "nested": {"a": 1, "b": 2}, "report": {}}
    )
    desired = {"state": "Claimed", "nested": {"b": 2, "c": None}}
    new = await executor.execute(OWNER, StatusPatch(WIDGETS, obj, desired, preserve=("report",)))
    assert new is not None
    assert new["status"] == {"state": "Claimed", "nested": {"b": 2}, "report": {}}
    (write,) = api.writes()
    assert write.body == {
        "metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]},
        "status": {"state": "Claimed", "old": None, "nested": {"a": None}},
    }


async def test_a_status_computed_from_an_outdated_object_is_a_conflict(
    api: ApiServer, executor: Executor
) -> None:
    obj = api.put(WIDGETS, "w", status={"state": "Open"})
    api.put(WIDGETS, "w", status={"state": "Claimed"})
    with pytest.raises(Conflict):
        await executor.execute(OWNER, StatusPatch(WIDGETS, obj, {"state": "Done"}))


def rows(state: str = "Open", number: int = 80) -> list[Object]:
    return [{"name": f"t{n}", "state": state if n == 7 else "Open"} for n in range(number)]


async def test_of_a_long_list_one_changed_item_is_sent(api: ApiServer, executor: Executor) -> None:
    obj = api.put(WIDGETS, "w", status={"tasks": rows(), "report": {}, "old": 1})
    desired = {"tasks": rows("Closed"), "phase": "Running", "none": None}

    new = await executor.execute(OWNER, StatusPatch(WIDGETS, obj, desired, preserve=("report",)))

    assert new is not None
    assert new["status"] == {"tasks": rows("Closed"), "phase": "Running", "report": {}}
    (write,) = api.writes()
    assert write.body[1:] == [
        {"op": "remove", "path": "/status/old"},
        {"op": "replace", "path": "/status/tasks/7/state", "value": "Closed"},
        {"op": "add", "path": "/status/phase", "value": "Running"},
    ]


async def test_a_long_list_is_written_where_there_was_no_status(
    api: ApiServer, executor: Executor
) -> None:
    obj = api.put(WIDGETS, "w")

    new = await executor.execute(OWNER, StatusPatch(WIDGETS, obj, {"tasks": rows()}))

    assert new is not None
    assert new["status"] == {"tasks": rows()}


@pytest.mark.parametrize("left", [80, 5], ids=["where it still applies", "where it does not"])
async def test_a_long_list_computed_from_an_outdated_object_is_a_conflict(
    api: ApiServer, executor: Executor, left: int
) -> None:
    obj = api.put(WIDGETS, "w", status={"tasks": rows()})
    api.put(WIDGETS, "w", status={"tasks": rows("Claimed", left)})

    with pytest.raises(Conflict):
        await executor.execute(OWNER, StatusPatch(WIDGETS, obj, {"tasks": rows("Closed")}))


async def test_without_leadership_nothing_is_sent(api: ApiServer, client: Client) -> None:
    executor = Executor(client, fence=Closed(), guard=Guard(()), ownership=OWNERSHIP)
    obj = api.put(WIDGETS, "w", metadata={"finalizers": ["b/ours"]}, status={"state": "Open"})
    for action in (
        Create(JOBS, job()),
        Delete(WIDGETS, key_of(obj), uid_of(obj)),
        RemoveFinalizer(WIDGETS, obj, "b/ours"),
        SetSpec(JOBS, job(), obj),
        MergePatch(WIDGETS, key_of(obj), {"spec": {}}),
        StatusPatch(WIDGETS, obj, {"state": "Done"}),
    ):
        with pytest.raises(LostLeadership):
            await executor.execute(OWNER, action)
    assert api.calls == []


async def test_a_write_ends_before_another_leader_may_start(api: ApiServer, client: Client) -> None:
    class Ending:
        def check(self) -> float:
            return 0.05

    api.fault = lambda _: "hang"
    executor = Executor(client, fence=Ending(), guard=Guard(()), ownership=OWNERSHIP)
    with pytest.raises(TransportError):
        await executor.execute(OWNER, Create(JOBS, job()))


# What is left of a write, and who finds out: the object's own key is not looked at before.


@pytest.fixture
async def widgets(api: ApiServer, client: Client, background: Background) -> Informer:
    api.put(WIDGETS, "w", metadata={"finalizers": ["b/ours"]}, spec={"a": 1})
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    return informer


def writes_of(obj: Object) -> dict[str, Write]:
    changed = {**obj, "spec": {"a": 2}}
    return {
        "create": Create(WIDGETS, {"metadata": {"name": "new", "namespace": "default"}}),
        "delete": Delete(WIDGETS, key_of(obj), uid_of(obj)),
        "finalizer": RemoveFinalizer(WIDGETS, obj, "b/ours"),
        "spec": SetSpec(WIDGETS, changed, obj),
        "merge": MergePatch(WIDGETS, key_of(obj), {"spec": {"a": 2}}),
        "status": StatusPatch(WIDGETS, obj, {"state": "Done"}),
    }


@pytest.mark.parametrize("write", ["create", "delete", "finalizer", "spec", "merge", "status"])
@pytest.mark.parametrize(
    "fault", ["drop-after", "drop-before", "fail-after", 500, 503, "cancelled"]
)
async def test_a_write_that_may_have_been_applied_is_read_back_before_the_key_comes_again(
    api: ApiServer, client: Client, widgets: Informer, write: str, fault: Fault | str
) -> None:
    guard = Guard([widgets])
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    action = writes_of(api.get(WIDGETS, "w"))[write]
    api.stall()
    sent: Any = "hang" if fault == "cancelled" else fault
    api.fault = lambda call: None if call.verb == "GET" else sent
    with pytest.raises((TransportError, ApiError, TimeoutError)):
        async with asyncio.timeout(0.2 if fault == "cancelled" else 60):
            await executor.execute(OWNER, action)
    assert not guard.caught_up(OWNER)
    assert await guard.settle(OWNER) == 0
    for name in ("w", "new"):
        cached = widgets.get(Key("default", name))
        there = api.get(WIDGETS, name) if name in api.names(WIDGETS) else None
        assert (cached or {}).get("metadata", {}).get("resourceVersion") == (there or {}).get(
            "metadata", {}
        ).get("resourceVersion")


@pytest.mark.parametrize("status", [403, 409, 422, 429])
async def test_a_write_that_was_refused_is_not_waited_for(
    api: ApiServer, client: Client, widgets: Informer, status: int
) -> None:
    guard = Guard([widgets])
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    api.fault = lambda _: status
    with pytest.raises(ApiError):
        await executor.execute(OWNER, MergePatch(WIDGETS, Key("default", "w"), {"spec": {"a": 2}}))
    assert guard.caught_up(OWNER)


async def test_uncertain_writes_to_what_nobody_caches_are_not_remembered(
    api: ApiServer, client: Client, widgets: Informer
) -> None:
    guard = Guard([widgets])
    executor = Executor(client, fence=Unfenced(), guard=guard, ownership=OWNERSHIP)
    api.fault = lambda _: "drop-after"
    with pytest.raises(TransportError):
        await executor.execute(OWNER, Create(JOBS, job()))
    assert guard.caught_up(OWNER)


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=8,
)
statuses = st.dictionaries(st.sampled_from("xyz"), values)


def stored(value: Any) -> Any:
    """What the server stores of a status: no nulls."""
    if isinstance(value, Mapping):
        return {name: stored(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [stored(item) for item in value]
    return value


@given(statuses, statuses)
def test_the_status_diff_turns_the_old_into_the_new_and_is_empty_between_equals(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    before, after = stored(old), stored(new)
    patch = status_diff(before, new)
    assert _merged(before, patch) == after
    assert (patch == {}) == (before == after)
    assert status_diff(after, new) == {}


@given(statuses, statuses)
def test_preserved_keys_are_never_in_the_diff(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert "x" not in status_diff(stored(old), new, preserve=("x",))
