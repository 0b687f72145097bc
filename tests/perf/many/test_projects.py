"""What a Project costs the operator beside others of its namespace.

What the operator's own functions are called for is counted, and is the same on any machine; figures
are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bernstein.api.pod import CHECK
from bernstein.api.projects.workplace import at
from bernstein.controllers import snapshots
from bernstein.controllers.caches import Caches
from bernstein.controllers.plans import watches as plans
from bernstein.controllers.projects import caching
from bernstein.controllers.tasks import watches as tasks
from bernstein.core import labels
from bernstein.kube.informer import Informer
from bernstein.kube.resource import PODS, Key, Object, Resource
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.store import NAMESPACE
from tests.perf.memory.test_closed import Lists, filled
from tests.perf.test_waiting import Costs
from tests.unit.controllers.test_cache_claims import CONTENT, FOLDER
from tests.unit.core.objects import NOW

NUMBERS = (1, 50, 200)
PULL: Object = {"number": 7, "url": "https://forge/7", "state": "Open", "sha": "1" * 40}
DELIVERY: Object = {"step": "Proposing", "onto": "refs/heads/main", "pullRequest": PULL}
MISSED: Object = {
    "reason": "SecretNotFound",
    "message": 'secret "key" not found',
    "since": NOW.isoformat(),
}


def listed(number: int) -> Lists:
    """So many Projects of a namespace: of each a Task with an agent, one that waits for a pull
    request, a Plan, and a pod that waits for the claim of its cache."""
    found: dict[Resource, list[bytes]] = {PROJECTS: [], TASKS: [], PLANS: [], PODS: []}

    def add(kind: Resource, obj: Object, status: Object) -> None:
        name = obj["metadata"]["name"]
        meta = {"uid": f"uid-{name}", "resourceVersion": "7", "generation": 1}
        obj["metadata"] |= meta | {"creationTimestamp": NOW.isoformat()}
        found[kind].append(json.dumps({**obj, "status": status}).encode())

    for n in range(number):
        name = f"project-{n}"
        its = {"project": name, "projectUid": f"uid-{name}"}
        cache = {"repository": "app", "claim": "caches", "folder": FOLDER, "content": CONTENT}
        add(PROJECTS, valid("Project", NAMESPACE, name), {"caches": [cache]})
        works, waits = (valid("Task", NAMESPACE, f"{what}-{n}") for what in ("works", "waits"))
        add(TASKS, works, {**its, "state": "InProgress", "waiting": MISSED})
        add(TASKS, waits, {**its, "state": "Done", "delivery": DELIVERY})
        add(PLANS, valid("Plan", NAMESPACE, f"plan-{n}"), {**its, "delivery": DELIVERY})
        add(PODS, _pod(f"pod-{n}", name), {"phase": "Pending"})
    return found


def _pod(name: str, project: str) -> Object:
    said = {labels.PROJECT: project, labels.JOB: CHECK}
    claim = {"name": "cache", "persistentVolumeClaim": {"claimName": "caches", "readOnly": True}}
    meta = {"name": name, "namespace": NAMESPACE, "labels": said}
    return {"metadata": meta, "spec": {"volumes": [claim], "containers": []}}


def looks(caches: Caches, name: str) -> Iterator[Callable[[], Any]]:
    """All that is looked up for this Project."""
    key = Key(NAMESPACE, name)
    project, obj = caches.projects.get(key), caches.projects.informer.get(key)
    assert project is not None
    assert obj is not None
    for look in (
        snapshots.agents_at_work,
        snapshots.beginning,
        snapshots.limited,
        snapshots.misses_a_secret,
        snapshots.proofs_of,
        snapshots.proposed,
    ):
        yield lambda look=look: look(caches, project)  # type: ignore[misc]
    yield lambda: caching.trouble(at(project, "app"), caches, NOW)
    for watches in (tasks.watches, plans.watches):
        for watch in watches(caches):
            if watch.informer is caches.projects.informer and _concerns_its_own(watch.keys):
                yield lambda watch=watch: watch.keys(obj)  # type: ignore[misc]


def _concerns_its_own(keys: object) -> bool:
    """Whether a watch of Projects wakes what is of this one: not what may go over to it."""
    named = getattr(keys, "func", keys)
    return getattr(named, "__name__", "") in ("_proposed_in", "proposed", "kept_back_in")


@pytest.fixture(scope="module")
def costs() -> dict[int, Costs]:
    found = {}
    for number in NUMBERS:
        caches = asyncio.run(filled(listed(number)))
        counted = found[number] = Costs()
        each = [*looks(caches, "project-0")]
        assert len(each) == 10
        for look in each:  # what is loaded and compiled at the first call
            look()
        with counted.counted():
            said = [look() for look in each]
        assert said[0] == 1, "an agent"
        assert said[3] is True, "a Secret"
    return found


def test_what_is_looked_up_for_a_project_costs_no_more_beside_others(
    costs: dict[int, Costs],
) -> None:
    calls = {number: counted.all for number, counted in costs.items()}
    print(f"\ncalls for all that is looked up for a Project, by the Projects there: {calls}")
    more = costs[NUMBERS[-1]].calls - costs[1].calls
    assert len(set(calls.values())) == 1, more.most_common(5)


def test_nothing_looks_through_all_objects_of_a_kind_for_a_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walked: list[str] = []
    original = Informer.objects

    def objects(self: Informer, namespace: str | None = None) -> list[Object]:
        walked.append(self.resource.plural)
        return original(self, namespace)

    monkeypatch.setattr(Informer, "objects", objects)
    caches = asyncio.run(filled(listed(2)))
    for look in looks(caches, "project-0"):
        look()
    assert walked == []
