"""The cache as a whole: whatever is listed and watched, handlers see every difference once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.kube.cache import Cache, by_controller_uid, by_label
from bernstein.kube.resource import Key, Object, key_of, resource_version_of, uid_of


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
        before = cache.get(key)
        changed = cache.place(key, objects.get(key))
        assert changed == (cache.get(key) is not before)


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
            assert self.objects[key_of(old)] is old
            assert uid_of(old) == uid_of(new)
            assert resource_version_of(old) != resource_version_of(new)
            self.objects[key_of(new)] = new


@given(steps)
def test_handlers_and_indexes_follow_any_history(history: list[tuple[str, Any]]) -> None:
    mirror = Mirror()
    cache = Cache({"label": by_label("l"), "owner": by_controller_uid}, mirror.changed)
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
        for value in ("x", "y"):
            labelled = [
                o for o in cache.objects() if o["metadata"].get("labels", {}).get("l") == value
            ]
            assert _keys(cache.by_index("label", value)) == _keys(labelled)
            assert _keys(cache.by_index("owner", f"owner-{value}")) == _keys(labelled)


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
    cache = Cache({}, lambda old, _: last.append(old), lambda name: name == "ours")

    def noted(revision: int) -> Object:
        found = obj("p", revision=revision)
        found["metadata"]["annotations"] = {"ours": "read", "theirs": "x" * 1000}
        return found

    cache.update(noted(1))
    assert cache.objects()[0]["metadata"]["annotations"] == {"ours": "read"}
    cache.delete(noted(2))
    assert last[-1] is not None
    assert last[-1]["metadata"]["annotations"] == {"ours": "read"}


def test_an_event_of_a_former_object_leaves_its_successor() -> None:
    cache = Cache({}, unheard)
    successor = obj("p", uid="v", revision=5)
    cache.update(successor)
    cache.update(obj("p", uid="u", revision=4))
    assert cache.get(Key("a", "p")) is successor
