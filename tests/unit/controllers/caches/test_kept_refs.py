"""What memory knows of refs whose Plans and Tasks are gone."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.projects.refs import RefPruning, RefToDelete
from bernstein.controllers.caches import Caches, kept_refs
from bernstein.controllers.caches.waiters import End
from bernstein.core.tasks.retention import ended_at
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, sha


class Known:
    """Caches that see Plans come and go, and their Project."""

    def __init__(self, client: Client) -> None:
        self.caches = Caches(client)
        self.project = objects.project()
        self._revision = 0

    def meta(self, name: str) -> Object:
        self._revision += 1
        revision = str(self._revision)
        return {"name": name, "namespace": NAMESPACE, "uid": name, "resourceVersion": revision}

    def deleted(self, name: str = "1" * 16) -> RefToDelete:
        """A Plan; returns its ref."""
        ref = f"refs/bernstein/{name}/integration"
        begun = {"ref": ref, "base": sha(1), "sha": sha(2), "target": "main", "targetSha": sha(1)}
        status = PlanStatus.model_validate(
            {"project": self.project.metadata.name, "phase": "Running", "integration": begun}
        )
        obj = {"spec": objects.plan().spec.dump(), "status": status.dump()}
        cache = self.caches.plans.informer._cache
        cache.update({**obj, "metadata": self.meta(name)})
        cache.delete({**obj, "metadata": self.meta(name)})
        return RefToDelete(ref=ref, sha=sha(2), due=NOW)

    def shows(self, *refs: RefPruning, **spec: Any) -> None:
        status = self.project.status.model_copy(update={"refs": refs})
        whole = {**self.project.whole.spec.dump(), **spec}
        obj = {"spec": whole, "status": status.dump()}
        meta = self.meta(self.project.metadata.name)
        self.caches.projects.informer._cache.update({**obj, "metadata": meta})
        self.caches.projects.informer._synced.set()

    def goes(self) -> None:
        meta = self.meta(self.project.metadata.name)
        obj = {"spec": self.project.whole.spec.dump(), "metadata": meta}
        self.caches.projects.informer._cache.delete(obj)

    @property
    def left(self) -> list[str]:
        return [each.ref for each in self.caches.kept_refs.departed(self.project)]


@pytest.fixture
def known(client: Client) -> Known:
    return Known(client)


def waiting(*rows: RefToDelete) -> RefPruning:
    return RefPruning(repository="main", waiting=rows)


async def test_what_was_deleted_is_known_until_the_status_has_it(known: Known) -> None:
    known.shows()
    row = known.deleted()
    assert known.left == [row.ref]

    known.caches.kept_refs.written(known.project, (row,), ())

    assert known.left == []


async def test_who_waits_for_its_turn_forgets_what_who_leads_has_written_down(known: Known) -> None:
    known.shows()
    row, other = known.deleted(), known.deleted("2" * 16)

    known.shows(waiting(row))

    assert known.left == [other.ref]


async def test_what_is_being_deleted_for_another_reason_is_known_until_it_waits_itself(
    known: Known,
) -> None:
    known.shows()
    row = known.deleted()

    known.shows(RefPruning(repository="main", batch=(row,)))

    assert known.left == [row.ref], "should the Job fail nobody else knows it"


async def test_what_goes_together_with_its_project_is_not_remembered(known: Known) -> None:
    known.shows()
    known.deleted()

    known.goes()
    assert known.left == []

    known.deleted()
    assert known.left == [], "nobody will ever ask for it"


async def test_where_refs_are_kept_for_ever_none_is_remembered(known: Known) -> None:
    known.shows()
    known.deleted()

    known.shows(retention={"refsSeconds": 0})
    assert known.left == []

    known.deleted()
    assert known.left == []


async def test_before_projects_are_listed_what_was_deleted_is_remembered(known: Known) -> None:
    row = known.deleted()
    assert known.left == [row.ref]


@pytest.mark.parametrize("told", ["endedAt", "history", "neither"])
async def test_an_ended_task_without_a_plan_is_read_without_being_parsed(
    known: Known, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    move = {"toState": "Closed", "reason": "Merged", "attempt": 1, "time": objects.at(-30)}
    more: Object = {
        "endedAt": {"ended_at": objects.at(-20)},
        "history": {"history": [move]},
        "neither": {},
    }
    task = objects.task(plan=None, status=objects.closed(1, **more[told]))
    metadata = {**task.metadata.dump(), **known.meta("work")}
    obj = {"metadata": metadata, "spec": task.spec.dump(), "status": task.status.dump()}
    monkeypatch.setattr(kept_refs, "parse_task", None)

    found = kept_refs._end_of_task(obj)

    ended = ended_at(task)
    assert ended is not None
    assert found == {"team/default": End(ended, "work", "work")}
    deleted = {**metadata, "deletionTimestamp": metadata["creationTimestamp"]}
    assert not kept_refs._end_of_task({**obj, "metadata": deleted})
