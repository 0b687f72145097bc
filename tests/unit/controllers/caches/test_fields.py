"""Nothing reads of an object what the caches drop."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.controllers import caches
from bernstein.controllers.caches import fields
from bernstein.controllers.caches.fields import Fields
from bernstein.core import labels
from bernstein.kube.cache import Read
from bernstein.kube.resource import Object
from tests.model.scenario import generate
from tests.model.world import play

SEED = 2
"""Of a life of a cluster in which many things go wrong: most that is read is read of failures."""


class Wired(dict[str, Any]):
    """A part of an object that tells when somebody asks it for what is not kept."""

    def __init__(self, kept: Object, known: Fields, told: set[str]) -> None:
        super().__init__(kept)
        self._known, self._told = known, told

    def __getitem__(self, name: str) -> Any:
        self._look(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._look(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._look(name)
        return super().get(name, default)

    def _look(self, name: object) -> None:
        if name not in self._known:
            self._told.add(str(name))


def read_of_dropped(patch: pytest.MonkeyPatch) -> set[str]:
    """The names of dropped fields that somebody asks for in one life of a cluster."""
    told: set[str] = set()
    original = fields.only

    def wired(obj: Object, kept: Fields) -> Object:
        return Wired(original(obj, kept), kept, told)

    patch.setattr(fields, "only", wired)
    play(generate(SEED, "rough"))
    return told


def test_no_dropped_field_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_of_dropped(monkeypatch) == set()


@pytest.mark.parametrize("part", ["containerStatuses", "conditions"])
def test_a_field_that_is_read_is_missed_where_it_is_dropped(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = fields.POD["status"]
    assert isinstance(status, dict)
    without = {name: kept for name, kept in status.items() if name != part}
    monkeypatch.setattr(fields, "POD", {**fields.POD, "status": without})

    assert read_of_dropped(monkeypatch) == {part}


def read_of_dropped_labels(patch: pytest.MonkeyPatch) -> set[str]:
    """The names of dropped labels and annotations that somebody asks for in such a life."""
    told: set[str] = set()
    original = Read.lighten

    def wired(self: Read, metadata: Object) -> None:
        original(self, metadata)
        for part in {"labels", "annotations"} & metadata.keys():
            metadata[part] = Wired(metadata[part], dict.fromkeys(self.names), told)

    patch.setattr(Read, "lighten", wired)
    play(generate(SEED, "rough"))
    return told


def test_no_dropped_label_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_of_dropped_labels(monkeypatch) == set()


def test_a_label_that_is_read_is_missed_where_it_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = tuple(name for name in caches.READ.names if name != labels.CHECK)
    monkeypatch.setattr(caches, "READ", Read(names, caches.READ.finalizers))

    assert read_of_dropped_labels(monkeypatch) == {labels.CHECK}


def test_of_every_item_of_a_list_the_same_is_kept() -> None:
    pod = {
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {
            "containers": [{"name": "a", "image": "i", "tty": True}, {"name": "b", "env": []}]
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }

    assert fields.pod(pod) == {
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]},
        "status": {"phase": "Running"},
    }


def test_of_a_claim_it_is_known_who_writes_to_it() -> None:
    claim = {"claimName": "caches", "readOnly": True}
    pod = {"metadata": {}, "spec": {"volumes": [{"name": "cache", "persistentVolumeClaim": claim}]}}

    (kept,) = fields.pod(pod)["spec"]["volumes"]

    assert kept["persistentVolumeClaim"] == claim
