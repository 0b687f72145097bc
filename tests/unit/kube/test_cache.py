"""The cache as a whole: whatever is listed and watched, handlers see every difference once."""

import hashlib
import zlib
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.kube.cache import (
    MOST_FINALIZERS,
    MOST_OWNERS,
    OPENED,
    Cache,
    Packed,
    Packing,
    Read,
    Settled,
    by_controller_uid,
    by_label,
)
from bernstein.kube.client import Client
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, key_of, resource_version_of, uid_of
from bernstein.kube.writes import Executor, Ownership, RemoveFinalizer
from tests.fence import Unfenced
from tests.unit.kube.apiserver import WIDGETS, ApiServer

READ = Read(("ours",), ("ours",))


def unheard(*_: Object | None) -> None:
    """A handler that nobody listens to."""


def obj(
    name: str, namespace: str = "a", *, uid: str = "u", revision: int = 1, label: str = ""
) -> Object:
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"{name}-{uid}",
        "resourceVersion": str(revision),
        "managedFields": [],
    }
    if label:
        metadata["labels"] = {"l": label}
        metadata["ownerReferences"] = [
            {"uid": f"owner-{label}", "controller": True},
            {"uid": "other"},
        ]
    return {"metadata": metadata}


objects = st.builds(
    obj,
    st.sampled_from("pqrs"),
    st.sampled_from("ab"),
    uid=st.sampled_from("uv"),
    revision=st.integers(1, 9),
    label=st.sampled_from(["", "x", "y"]),
)
lists = st.tuples(
    st.lists(objects, unique_by=lambda o: tuple(key_of(o))), st.sampled_from([None, "a", "b"])
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("replace"), lists),
        st.tuples(st.just("update"), objects),
        st.tuples(st.just("delete"), objects),
    )
)


def replace(cache: Cache, listed: list[Object], namespace: str | None) -> None:
    """As an informer shows a complete list."""
    objects = {key_of(o): o for o in listed}
    for key in (*cache.keys(namespace), *objects):
        before = state(cache.get(key))
        taken = cache.taken(objects[key]) if key in objects else None
        changed = cache.place(key, taken)
        assert changed == (state(cache.get(key)) != before)


def state(obj: Object | None) -> tuple[str, int] | None:
    return None if obj is None else (uid_of(obj), resource_version_of(obj))


class Mirror:
    """Rebuilds the cache from what handlers are told, and checks that it is told correctly."""

    def __init__(self) -> None:
        self.objects: dict[Key, Object] = {}

    def changed(self, old: Object | None, new: Object | None) -> None:
        assert old is not None or new is not None
        if old is None:
            assert new is not None
            assert key_of(new) not in self.objects
            self.objects[key_of(new)] = new
        elif new is None:
            assert uid_of(self.objects.pop(key_of(old))) == uid_of(old)
        else:
            assert self.objects[key_of(old)] == old
            assert uid_of(old) == uid_of(new)
            assert resource_version_of(old) != resource_version_of(new)
            self.objects[key_of(new)] = new


def is_x(obj: Object) -> bool:
    return bool(obj["metadata"].get("labels", {}).get("l") == "x")


@pytest.mark.parametrize("settled", [None, is_x])
@given(history=steps)
def test_handlers_and_indexes_follow_any_history(
    settled: Settled | None, history: list[tuple[str, Any]]
) -> None:
    mirror = Mirror()
    indexes = {"label": by_label("l"), "owner": by_controller_uid}
    cache = Cache(indexes, mirror.changed, settled=settled)
    for action, argument in history:
        match action, argument:
            case "replace", (listed, scope):
                kept = [o for o in listed if scope in (None, o["metadata"]["namespace"])]
                replace(cache, kept, scope)
                shown = cache.objects(scope)
                assert {(key_of(o), uid_of(o), resource_version_of(o)) for o in shown} == {
                    (key_of(o), uid_of(o), resource_version_of(o)) for o in kept
                }
            case "update", dict() as new:
                cache.update(new)
            case "delete", dict() as last:
                cache.delete(last)
        assert {key_of(o): o for o in cache.objects()} == mirror.objects
        going = [o for o in cache.objects() if settled is None or not settled(o)]
        assert _keys(cache.going()) == _keys(going)
        assert {*cache.keys()} == {*cache.settled_keys(), *_keys(going)}
        for value in ("x", "y"):
            labelled = [
                o for o in cache.objects() if o["metadata"].get("labels", {}).get("l") == value
            ]
            assert _keys(cache.by_index("label", value)) == _keys(labelled)
            assert _keys(cache.by_index("owner", f"owner-{value}")) == _keys(labelled)


def test_what_is_packed_comes_back_whatever_the_first_of_its_kind_says() -> None:
    packing = Packing()
    small, large = {"uid": "a" * 36}, {"uid": "b" * 36, "of": [f"line {n}" for n in range(20_000)]}
    for said in (small, large, {**large, "of": []}, small):
        made = {"metadata": said}
        assert packing.pack(made).unpacked() == made


def test_of_what_is_packed_what_the_first_says_too_takes_no_room() -> None:
    def made(number: int) -> Object:
        said = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(20)]
        return {"metadata": {"uid": f"uid-{number}"}, "spec": said}

    packing = Packing()
    packing.pack(made(0))
    first, alone = packing.pack(made(1)), Packing().pack(made(1))

    assert len(first.data) < len(zlib.compress(orjson.dumps(made(1)))) / 2
    assert first.unpacked() == alone.unpacked() == made(1)


def test_who_keeps_the_name_or_uid_of_an_object_keeps_the_texts_of_the_cache() -> None:
    heard: list[Object] = []
    cache = Cache({}, lambda _, new: heard.append(new or {}), settled=lambda _: True)
    for name in ("first", "second"):
        listed = obj(name, revision=3)
        cache.place(key_of(listed), cache.taken(listed))

    for key, new in zip(cache.keys(), heard, strict=True):
        kept = cache._objects[key]
        assert isinstance(kept, Packed)
        assert new["metadata"]["name"] is key.name
        assert new["metadata"]["namespace"] is key.namespace is cache.keys()[0].namespace
        assert new["metadata"]["uid"] is kept.uid


def _keys(found: list[Object]) -> list[Key]:
    return sorted(key_of(o) for o in found)


def test_a_list_shows_what_was_deleted_meanwhile_with_its_last_known_state() -> None:
    seen: list[tuple[Object | None, Object | None]] = []
    cache = Cache({}, lambda old, new: seen.append((old, new)))
    gone = obj("p", revision=3)
    cache.update(gone)
    replace(cache, [], None)
    assert seen[-1] == (gone, None)


def test_the_same_name_with_another_uid_is_a_deletion_and_an_addition() -> None:
    seen: list[tuple[Object | None, Object | None]] = []
    cache = Cache({}, lambda old, new: seen.append((old, new)))
    first, second = obj("p", uid="u", revision=1), obj("p", uid="v", revision=9)
    cache.update(first)
    replace(cache, [second], None)
    assert seen[1:] == [(first, None), (None, second)]


def test_an_event_older_than_the_cached_state_is_ignored() -> None:
    cache = Cache({}, unheard)
    cache.update(obj("p", revision=5))
    cache.update(obj("p", revision=4))
    cached = cache.get(Key("a", "p"))
    assert cached is not None
    assert resource_version_of(cached) == 5


def test_the_deletion_of_a_former_object_leaves_its_successor() -> None:
    cache = Cache({}, unheard)
    cache.update(obj("p", uid="v", revision=5))
    cache.delete(obj("p", uid="u", revision=4))
    assert len(cache) == 1


def test_managed_fields_are_not_kept() -> None:
    cache = Cache({}, unheard)
    cache.update(obj("p"))
    assert "managedFields" not in cache.objects()[0]["metadata"]


def test_annotations_that_nobody_reads_are_not_kept() -> None:
    last: list[Object | None] = []
    cache = Cache({}, lambda old, _: last.append(old), READ)

    def noted(revision: int) -> Object:
        found = obj("p", revision=revision)
        found["metadata"]["annotations"] = {"ours": "read", "theirs": "x" * 1000}
        return found

    cache.update(noted(1))
    assert cache.objects()[0]["metadata"]["annotations"] == {"ours": "read"}
    cache.delete(noted(2))
    assert last[-1] is not None
    assert last[-1]["metadata"]["annotations"] == {"ours": "read"}


def shown(**metadata: Any) -> Object:
    """The metadata of an object that came with these."""
    cache = Cache({}, unheard, READ)
    came = obj("p")
    came["metadata"] |= metadata
    cache.update(came)
    found: Object = cache.objects()[0]["metadata"]
    return found


def test_labels_that_nobody_reads_are_not_kept() -> None:
    theirs = {f"l{number}": "x" for number in range(1000)}
    assert shown(labels=theirs | {"ours": "read"})["labels"] == {"ours": "read"}
    assert shown(labels=theirs)["labels"] == {}
    assert "labels" not in shown(), "nothing is there that was not"


def test_of_an_annotation_that_is_read_no_more_is_kept_than_a_name_takes() -> None:
    found = shown(annotations={"ours": "x" * 100_000})["annotations"]
    assert found["ours"] == "x" * 254


def test_of_thousands_of_owners_the_controller_is_kept_and_that_there_are_others() -> None:
    others = [{"kind": "Plan", "name": f"o{number}", "uid": str(number)} for number in range(1000)]
    controller = {"kind": "Plan", "name": "c", "uid": "c", "controller": True}

    found = shown(ownerReferences=[*others, controller])["ownerReferences"]

    assert found == [*others[:MOST_OWNERS], controller]
    assert shown(ownerReferences=others)["ownerReferences"] == others[:MOST_OWNERS]
    assert shown(ownerReferences=[controller, *others[:2]])["ownerReferences"] == [
        controller,
        *others[:2],
    ]


def test_no_owner_takes_more_than_the_longest_that_there_can_be() -> None:
    (owner,) = shown(ownerReferences=[{"uid": "u" * 100_000, "name": "n", "controller": True}])[
        "ownerReferences"
    ]
    assert owner == {"uid": "u" * 254, "name": "n", "controller": True}


def test_of_thousands_of_finalizers_those_that_are_asked_for_are_kept_and_a_few_more() -> None:
    others = [f"x/{number}" for number in range(1000)]

    found = shown(finalizers=[*others, "ours"])["finalizers"]

    assert found == [*others[:MOST_FINALIZERS], "ours"]
    assert shown(finalizers=["a", "ours", "b"])["finalizers"] == ["a", "ours", "b"]


def test_behind_a_finalizer_that_is_there_a_thousand_times_another_is_seen() -> None:
    assert shown(finalizers=["orphan"] * 1000 + ["x/holds"])["finalizers"] == ["orphan", "x/holds"]


def test_an_event_of_a_former_object_leaves_its_successor() -> None:
    cache = Cache({}, unheard)
    successor = obj("p", uid="v", revision=5)
    cache.update(successor)
    cache.update(obj("p", uid="u", revision=4))
    assert cache.get(Key("a", "p")) is successor


def test_what_is_settled_is_read_as_it_came() -> None:
    cache = Cache({}, unheard, settled=is_x)
    for number in range(OPENED + 10):
        cache.update(obj(f"p{number}", label="x"))

    first = cache.get(Key("a", "p0"))

    assert first == {
        "metadata": {
            k: v for k, v in obj("p0", label="x")["metadata"].items() if k != "managedFields"
        }
    }
    assert cache.get(Key("a", "p0")) is first  # who reads it several times in a row reads one


def test_whether_an_object_is_settled_may_be_asked_anew() -> None:
    over: set[str] = set()
    heard: list[object] = []
    cache = Cache({}, lambda *event: heard.append(event), settled=lambda o: key_of(o).name in over)
    key = Key("a", "p")
    cache.update(obj("p"))
    heard.clear()
    shown = cache.get(key)

    assert not cache.reconsider(key)
    over.add("p")
    assert cache.reconsider(key)
    assert cache.is_settled(key)
    over.clear()
    assert cache.reconsider(key)
    assert not cache.is_settled(key)
    assert cache.get(key) == shown
    assert heard == []
    assert not cache.reconsider(Key("a", "nobody"))


def test_of_an_object_that_cannot_be_judged_nothing_is_lost() -> None:
    def broken(_: Object) -> bool:
        raise ValueError("no such field")

    cache = Cache({}, unheard, settled=broken)
    cache.update(obj("p"))

    assert [key_of(o).name for o in cache.going()] == ["p"]


def test_a_list_that_says_nothing_new_keeps_what_is_there() -> None:
    cache = Cache({}, unheard, settled=is_x)
    for label in ("x", "y"):
        cache.update(obj(label, label=label))
        again = cache.taken(obj(label, label=label))

        assert not cache.place(Key("a", label), again)
        assert again is cache.taken(obj(label, label=label))


def test_who_strips_an_object_says_what_is_kept() -> None:
    cache = Cache({}, unheard, strip=lambda o: {"metadata": o["metadata"]})
    cache.update(obj("p") | {"spec": {"a": 1}})

    assert (cache.get(Key("a", "p")) or {}).keys() == {"metadata"}


async def test_by_what_a_cache_shows_of_many_finalizers_only_ours_is_removed(
    api: ApiServer, client: Client
) -> None:
    key = Key("default", "w")
    others = [f"x/{number}" for number in range(50)]
    api.put(WIDGETS, "w", metadata={"finalizers": [*others, "b/ours", "y/last"]})
    informer = Informer(client, WIDGETS, read=Read((), ("b/ours",)))
    await informer.refresh(key)
    seen = informer.get(key)
    assert seen is not None
    assert len(seen["metadata"]["finalizers"]) < 50

    executor = Executor(
        client, fence=Unfenced(), guard=Guard(()), ownership=Ownership(("app", "engine"), "h")
    )
    await executor.execute(key, RemoveFinalizer(WIDGETS, seen, "b/ours"))

    assert api.get(WIDGETS, "w")["metadata"]["finalizers"] == [*others, "y/last"]
