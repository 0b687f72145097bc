from datetime import UTC, datetime, timedelta

import pytest

from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import EVENTS, Object
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS, ApiServer


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
def recorder(client: Client, clock: Seconds) -> EventRecorder:
    return EventRecorder(
        client,
        component="example.com/operator",
        instance="pod-1",
        sanitise=lambda text: text.replace("\x1b", ""),
        capacity=3,
        clock=Clock(monotonic=clock),
    )


def moved(recorder: EventRecorder, obj: Object, message: str = "moved to Done") -> None:
    recorder.record(obj, reason="Moved", message=message, action="Reconcile")


def events(api: ApiServer) -> list[Object]:
    return [api.get(EVENTS, name) for name in api.names(EVENTS)]


async def test_an_event_names_its_object_and_is_sanitised_and_cut(
    api: ApiServer, recorder: EventRecorder, background: Background
) -> None:
    background.start(recorder.run())
    obj = api.put(WIDGETS, "w")
    recorder.record(
        obj,
        reason="Failed",
        message="\x1b[31m" + "ä" * 1000,
        action="Verify",
        warning=True,
    )
    await eventually(lambda: events(api))
    (event,) = events(api)
    assert event["type"] == "Warning"
    assert event["involvedObject"]["uid"] == obj["metadata"]["uid"]
    assert "\x1b" not in event["message"]
    assert len(event["message"].encode()) <= 1024
    assert event["message"].endswith("ä…")


async def test_an_event_has_the_times_and_the_count_that_readers_look_for(
    api: ApiServer, client: Client, background: Background, clock: Seconds
) -> None:
    begun = datetime(2030, 1, 1, tzinfo=UTC)
    day = Clock(monotonic=clock, now=lambda: begun + timedelta(seconds=clock.now))
    recorder = EventRecorder(client, component="c", instance="i", sanitise=str, clock=day)
    background.start(recorder.run())
    obj = api.put(WIDGETS, "w")
    moved(recorder, obj)
    await eventually(lambda: events(api))
    (event,) = events(api)
    assert (event["apiVersion"], event["count"]) == ("v1", 1)
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2030-01-01T00:00:00Z"

    clock.now = 61.0
    moved(recorder, obj)

    await eventually(lambda: events(api)[0]["count"] == 2)
    (event,) = events(api)
    assert event["firstTimestamp"] == "2030-01-01T00:00:00Z"
    assert event["lastTimestamp"] == "2030-01-01T00:01:01Z"


async def test_repetitions_count_up_one_event_and_seldom_write(
    api: ApiServer, recorder: EventRecorder, background: Background, clock: Seconds
) -> None:
    background.start(recorder.run())
    obj = api.put(WIDGETS, "w")
    for _ in range(100):
        moved(recorder, obj)
    moved(recorder, obj, "moved to Failed")
    await eventually(lambda: len(events(api)) == 2)
    assert len(api.writes()) == 2
    clock.now = 61.0
    moved(recorder, obj)
    await eventually(lambda: len(api.writes()) == 3)
    assert events(api)[0]["count"] == 101
    clock.now = 1000.0
    moved(recorder, obj)
    await eventually(lambda: len(events(api)) == 3)


async def test_an_expired_event_is_made_anew(
    api: ApiServer, recorder: EventRecorder, background: Background, clock: Seconds
) -> None:
    background.start(recorder.run())
    obj = api.put(WIDGETS, "w")
    moved(recorder, obj)
    await eventually(lambda: events(api))
    api.remove(EVENTS, api.names(EVENTS)[0])
    clock.now = 61.0
    moved(recorder, obj)
    await eventually(lambda: len(api.writes()) == 2)
    moved(recorder, obj)
    await eventually(lambda: len(events(api)) == 1)


async def test_failures_never_reach_the_caller_and_do_not_end_the_recorder(
    api: ApiServer, recorder: EventRecorder, background: Background
) -> None:
    recorder.record({}, reason="Broken", message="no object", action="Reconcile")
    obj = api.put(WIDGETS, "w")
    for number in range(10):
        moved(recorder, obj, f"more than fit {number}")
    api.fault = lambda _: 403
    background.start(recorder.run())
    await eventually(lambda: len(api.writes()) == 3)
    api.fault = lambda _: None
    moved(recorder, obj, "after the failure")
    await eventually(lambda: len(events(api)) == 1)


async def test_the_event_of_a_cluster_scoped_object_lives_in_default(
    api: ApiServer, recorder: EventRecorder, background: Background
) -> None:
    background.start(recorder.run())
    moved(recorder, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u"}})
    await eventually(lambda: events(api))
    assert events(api)[0]["metadata"]["namespace"] == "default"


async def test_an_event_that_cannot_be_posted_at_all_ends_nothing(
    api: ApiServer, client: Client, background: Background
) -> None:
    """As with a text that is no Unicode: what it tells about goes on, and so do other Events."""
    recorder = EventRecorder(client, component="c", instance="i", sanitise=str)
    running = background.start(recorder.run())
    widget = api.put(WIDGETS, "w")
    recorder.record(widget, reason="\ud800", message="m", action="Reconcile")
    moved(recorder, widget)
    await eventually(lambda: events(api))
    assert not running.done()
