"""What one Task takes, the next one of its namespace sees before it decides."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.controllers.caches import Caches
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.tasks.controller import TaskController, _Step
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import Writer
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, KubeError, TransportError
from bernstein.kube.events import EventRecorder
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from bernstein.resources import TASKS
from tests.background import Background
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer, Call, Fault


class Claiming(TaskController):
    """Claims every Task that it looks at, and notes which others it saw claimed."""

    saw: dict[str, set[str]]

    async def _step(self, key: Key) -> _Step:
        tasks = self._caches.tasks.informer
        claimed = {o["metadata"]["name"] for o in tasks.objects() if o["status"].get("state")}
        self.saw[key.name] = claimed
        obj = tasks.get(key)
        assert obj is not None
        return _Step(Result(), await self._writer.status(key, TASKS, obj, {"state": "Claimed"}))


@pytest.fixture
async def controller(api: ApiServer, client: Client, background: Background) -> Claiming:
    spec = {"title": "t", "projectRef": "default"}
    for name in ("one", "two"):
        meta: dict[str, Any] = {"creationTimestamp": "2025-01-01T00:00:00Z", "generation": 1}
        api.put(TASKS, name, metadata=meta, spec=spec, status={})
    caches = Caches(client)
    background.start(caches.tasks.informer.run())
    await caches.tasks.informer.synced()
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    claiming = Claiming(Context(caches, writer, OperatorSettings(image="bernstein:1"), Metrics()))
    claiming.saw = {}
    return claiming


async def test_a_claim_is_seen_by_the_next_however_late_its_event_comes(
    api: ApiServer, controller: Claiming, background: Background
) -> None:
    api.stall()
    await controller.reconcile(Key("default", "one"))
    second = background.start(_reconcile(controller, "two"))
    api.flow()
    await second
    assert controller.saw == {"one": set(), "two": {"one"}}


@pytest.mark.parametrize("fault", ["drop-after", "fail-after"])
async def test_a_claim_that_may_have_been_written_is_seen_by_the_next(
    api: ApiServer, controller: Claiming, fault: Fault
) -> None:
    api.stall()
    api.fault = lambda call: fault if call.verb == "PATCH" else None
    with pytest.raises((TransportError, ApiError)):
        await controller.reconcile(Key("default", "one"))
    api.fault = lambda _: None
    await controller.reconcile(Key("default", "two"))
    assert controller.saw == {"one": set(), "two": {"one"}}


async def test_nobody_decides_while_it_cannot_be_found_out_what_was_taken(
    api: ApiServer, controller: Claiming
) -> None:
    def cut_off(call: Call) -> Fault | None:
        return "drop-after" if call.verb == "PATCH" else "drop-before"

    api.stall()
    api.fault = cut_off
    for name in ("one", "two", "two"):
        with pytest.raises(KubeError):
            await controller.reconcile(Key("default", name))
    api.fault = lambda _: None
    await controller.reconcile(Key("default", "two"))
    assert controller.saw == {"one": set(), "two": {"one"}}


async def _reconcile(controller: Claiming, name: str) -> None:
    await controller.reconcile(Key("default", name))
