"""What memory knows of pull requests whose Plans and Tasks are gone."""

from __future__ import annotations

from typing import Any

from bernstein.api.projects.closing import RequestClosing
from bernstein.controllers.caches import Caches
from bernstein.controllers.projects import withdrawing
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.unit.core import objects
from tests.unit.core.delivery.proposed.proposals import project
from tests.unit.core.retention.test_left_requests import proposed


class Known:
    """Caches that see a Plan come and go, and the status of its Project."""

    def __init__(self, client: Client) -> None:
        self.caches = Caches(client)
        self.project = project()
        self._revision = 0

    def _meta(self, name: str) -> Object:
        self._revision += 1
        revision = str(self._revision)
        return {"name": name, "namespace": "team", "uid": name, "resourceVersion": revision}

    def deleted(self, of: str | None = None, **delivery: Any) -> None:
        """A Plan. `of`: the uid of its Project."""
        plan = objects.plan()
        told = {"project": "default", "phase": "Delivering", "delivery": proposed(**delivery)}
        told |= {"project_uid": of}
        status = plan.status.model_copy(update=told)
        obj = {"spec": plan.spec.dump(), "status": status.dump()}
        cache = self.caches.plans.informer._cache
        cache.update({**obj, "metadata": self._meta("web")})
        cache.delete({**obj, "metadata": self._meta("web")})

    def shows(self, *closing: RequestClosing) -> None:
        status = self.project.status.model_copy(update={"closing": closing})
        obj = {"spec": self.project.whole.spec.dump(), "status": status.dump()}
        meta = self._meta("default")
        self.caches.projects.informer._cache.update({**obj, "metadata": meta})

    def goes(self) -> None:
        obj = {"spec": self.project.whole.spec.dump(), "metadata": self._meta("default")}
        self.caches.projects.informer._cache.delete(obj)

    @property
    def left(self) -> list[str]:
        return [each.branch for each in self.caches.left_requests.of(self.project)]


def closing(known: Known) -> RequestClosing:
    """As the status has it once it is written down."""
    left = known.caches.left_requests
    digestless = [*withdrawing.departed(known.project, left)]
    return RequestClosing(repository="main", waiting=tuple(digestless))


def test_what_was_deleted_is_known_until_the_status_has_it(client: Client) -> None:
    known = Known(client)
    known.deleted(repository=None)
    assert len(known.left) == 1
    rows = closing(known)
    assert [row.number for row in rows.waiting] == [7]

    known.caches.left_requests.written(known.project, (rows,))

    assert known.left == []


def test_who_waits_for_its_turn_forgets_what_who_leads_has_written_down(client: Client) -> None:
    known = Known(client)
    known.deleted(repository=None)
    rows = closing(known)

    known.shows(rows.model_copy(update={"waiting": (), "at_work": rows.waiting[0]}))

    assert known.left == []


def test_another_project_of_the_same_name_closes_nothing_of_it(client: Client) -> None:
    known = Known(client)
    known.deleted(repository=None, of=known.project.metadata.uid)
    assert len(known.left) == 1

    meta = known.project.metadata.model_copy(update={"uid": "another"})
    known.project = known.project.model_copy(update={"metadata": meta})

    assert known.left == []


def test_what_goes_together_with_its_project_is_not_remembered(client: Client) -> None:
    known = Known(client)
    known.shows()
    known.deleted(repository=None)
    assert len(known.left) == 1

    known.goes()

    assert known.left == []


def test_one_of_a_repository_that_the_project_has_not_is_told_and_forgotten(
    client: Client,
) -> None:
    known = Known(client)
    known.deleted(repository="another")
    rows = closing(known)
    assert [row.repository for row in rows.waiting] == ["another"]

    known.caches.left_requests.written(known.project, (rows,))

    assert known.left == []
