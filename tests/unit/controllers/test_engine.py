"""What the engine puts together, and what it says where a reconcile keeps failing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bernstein import controllers
from bernstein.controllers.engine import CONTROLLERS, LEASE, Engine, Tuning, tell_failure
from bernstein.controllers.settings import OperatorSettings
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.lease import Fence
from bernstein.kube.resource import LEASES
from bernstein.observe import series
from bernstein.observe.metrics import Metrics
from bernstein.resources import TASKS
from tests.background import Background, eventually
from tests.unit.kube.apiserver import ApiServer

COUNTED = (series.TASKS, series.SESSIONS, series.PLANS, series.APPROVALS, series.STALLED)


def test_every_controller_that_has_a_folder_is_in_the_list() -> None:
    folder = Path(str(controllers.__file__)).parent
    modules = {
        f"{controllers.__name__}.{path.parent.name}.controller"
        for path in folder.glob("*/controller.py")
    }

    assert {kind.__module__ for kind in CONTROLLERS} == modules
    assert len({kind.NAME for kind in CONTROLLERS}) == len(CONTROLLERS)


async def test_every_list_of_an_informer_is_counted(client: Client, background: Background) -> None:
    metrics = Metrics(process=False)
    engine = Engine(client, namespace="b", settings=OperatorSettings(image="b:1"), metrics=metrics)

    for informer in engine.caches.informers:
        background.start(informer.run())
        await informer.synced()

        counted = {"resource": informer.resource.plural, "reason": "Started"}
        value = metrics.registry.get_sample_value("bernstein_informer_relists_total", counted)
        assert value == 1


class Recorder:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def record(self, regarding: Any, **said: Any) -> None:
        self.events.append({"about": regarding["metadata"]["name"], **said})


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such pattern"), "ValueError, see the operator's log"),
        (Forbidden(403, "Forbidden", "jobs is forbidden"), "jobs is forbidden"),
    ],
)
def test_a_failure_that_lasts_is_told_on_the_object_itself(error: Exception, said: str) -> None:
    recorder = Recorder()

    tell_failure(recorder, {"metadata": {"name": "one"}}, error)  # type: ignore[arg-type]

    (event,) = recorder.events
    assert (event["about"], event["reason"], event["warning"]) == ("one", "ReconcileFailed", True)
    assert said in event["message"]


def test_nothing_is_told_of_an_object_that_is_gone() -> None:
    recorder = Recorder()

    tell_failure(recorder, None, ValueError("x"))  # type: ignore[arg-type]

    assert recorder.events == []


async def test_the_lease_lasts_as_long_as_it_is_told_to(client: Client) -> None:
    engine = Engine(
        client,
        namespace="b",
        settings=OperatorSettings(image="b:1"),
        metrics=Metrics(process=False),
        tuning=Tuning(lease_seconds=3),
    )
    stop = asyncio.Event()

    async def look(fence: Fence) -> None:
        lease = await client.get(LEASES, LEASE, "b")
        assert lease["spec"]["leaseDurationSeconds"] == 3
        assert 0 < fence.check() <= 3
        stop.set()

    await engine.elector.run(look, stop=stop)

    assert stop.is_set()


async def test_a_standby_exports_none_of_what_the_leader_counts(
    api: ApiServer, client: Client, background: Background
) -> None:
    api.put(TASKS, "one", "team", spec={"title": "t"}, status={"state": "Closed"})
    counted = {"namespace": "team", "state": "Closed"}

    async def replica(name: str) -> Metrics:
        metrics = Metrics(process=False)
        settings = OperatorSettings(image="b:1")
        engine = Engine(client, namespace="b", settings=settings, metrics=metrics, identity=name)
        background.start(engine.run(asyncio.Event()))
        await asyncio.gather(*(informer.synced() for informer in engine.caches.informers))
        return metrics

    leader = (await replica("first")).registry
    await eventually(lambda: leader.get_sample_value("bernstein_tasks", counted) == 1)
    standby = (await replica("second")).registry

    exported = {family.name for family in standby.collect()}
    assert not exported & {entry.name for entry in COUNTED}


async def test_who_leads_from_the_start_lists_everything_once_and_who_takes_over_again(
    api: ApiServer, client: Client, background: Background
) -> None:
    kinds = ["projects", "plans", "tasks", "agentsessions", "approvals"]
    kinds += ["jobs", "pods", "networkpolicies"]
    api.put(TASKS, "one", "team", spec={"title": "t"}, status={"state": "Closed"})

    def replica(name: str) -> tuple[Engine, Metrics]:
        settings, metrics = OperatorSettings(image="b:1"), Metrics(process=False)
        engine = Engine(client, namespace="b", settings=settings, metrics=metrics, identity=name)
        return engine, metrics

    async def is_at_work(metrics: Metrics) -> None:
        counted, read = {"namespace": "team", "state": "Closed"}, metrics.registry.get_sample_value
        await eventually(lambda: read("bernstein_tasks", counted) == 1)

    (first, told), (second, told_later), stop = replica("one"), replica("two"), asyncio.Event()
    leading = background.start(first.run(stop))
    await is_at_work(told)
    assert [api.count("GET", kind) for kind in kinds] == [1] * len(kinds)

    background.start(second.run(asyncio.Event()))
    await asyncio.gather(*(informer.synced() for informer in second.caches.informers))
    stop.set()
    await leading
    await is_at_work(told_later)
    assert [api.count("GET", kind) for kind in kinds] == [3] * len(kinds)
