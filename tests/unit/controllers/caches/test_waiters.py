"""What the caches keep in order of those that wait, and of the pods that show it to them."""

from __future__ import annotations

from datetime import datetime

import pytest

from bernstein.controllers.caches.waiters import Ordered
from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.resource import PODS, Object
from tests.unit.core.objects import at


def times(pod: Object) -> dict[str, datetime]:
    """What the pod of such a test has under each name."""
    return {name: at(second) for name, second in pod["spec"].items()}


class Pods:
    """Pods in a cache, with what is kept of them."""

    def __init__(self, client: Client) -> None:
        informer = Informer(client, PODS)
        self._cache, self._revision = informer._cache, 0
        self.kept: Ordered[datetime] = Ordered(informer, times)

    def put(self, name: str, *, uid: str = "", **entries: int) -> Object:
        self._revision += 1
        meta = {"name": name, "namespace": "team", "uid": uid or name}
        meta["resourceVersion"] = str(self._revision)
        pod = {"metadata": meta, "spec": entries}
        self._cache.update(pod)
        return pod

    def gone(self, pod: Object, **said_last: int) -> None:
        self._cache.delete({**pod, "spec": said_last})

    def under(self, name: str) -> list[datetime]:
        return [*self.kept.under(name)]


@pytest.fixture
def pods(client: Client) -> Pods:
    return Pods(client)


def test_what_objects_have_under_a_name_is_in_order(pods: Pods) -> None:
    for name, second in (("a", 5), ("b", 3), ("c", 9), ("d", 3)):
        pods.put(name, room=second)

    assert pods.under("room") == [at(3), at(3), at(5), at(9)]
    assert pods.under("start") == []


def test_an_object_that_changes_has_its_new_place_and_leaves_the_others_theirs(pods: Pods) -> None:
    pods.put("a", room=5, start=6)
    pods.put("b", room=5)

    pods.put("a", room=7)

    assert pods.under("room") == [at(5), at(7)]
    assert pods.under("start") == []


def test_what_is_gone_is_under_no_name_whatever_it_said_last(pods: Pods) -> None:
    pods.put("b", room=5)
    pods.gone(pods.put("a", room=5, start=6), room=8)

    assert pods.under("room") == [at(5)]
    assert pods.under("start") == []


def test_what_is_made_again_under_the_same_name_counts_once(pods: Pods) -> None:
    pods.put("a", room=5)
    pods.put("a", uid="another", room=6)

    assert pods.under("room") == [at(6)]


def test_what_cannot_be_read_any_more_is_under_no_name(pods: Pods) -> None:
    pods.put("a", room=5)
    broken: Object = {"room": "soon"}

    pods.put("a", **broken)
    assert pods.under("room") == []
    pods.put("a", room=7)

    assert pods.under("room") == [at(7)]
