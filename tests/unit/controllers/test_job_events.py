"""Events of what is stuck are listed rarely, however often it is looked at."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bernstein.api.meta import Metadata
from bernstein.controllers.job_views import (
    EVENTS_BYTES,
    FIRST_EVENTS_SECONDS,
    LAST_EVENTS_SECONDS,
    OWNER,
    POD_INDEXES,
    JobViews,
)
from bernstein.core import diagnosis, labels
from bernstein.core.jobs import JobView
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import EVENTS, JOBS, PODS, Key, Object, key_of
from tests.unit.kube.apiserver import ApiServer

SUBJECT = Metadata(name="work", namespace="default", uid="uid-owner")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
OLD = (NOW - timedelta(seconds=30)).isoformat()


class Stuck:
    """A Job that gets no pod, at a time that a test sets."""

    def __init__(self, api: ApiServer, client: Client) -> None:
        self.seconds = 0.0
        self.jobs = Informer(client, JOBS, indexes={OWNER: by_controller_uid})
        pods = Informer(client, PODS, indexes=POD_INDEXES)
        clock = Clock(monotonic=lambda: self.seconds)
        self.views = JobViews(client, self.jobs, pods, clock)
        self.api = api

    async def make(self) -> Object:
        owner = {"uid": SUBJECT.uid, "kind": "Task", "name": "work", "controller": True}
        own = {labels.OWNER_UID: SUBJECT.uid, labels.JOB: "check"}
        meta = {"labels": own, "ownerReferences": [owner], "creationTimestamp": OLD}
        made = self.api.put(JOBS, "work-unit-0", metadata=meta, status={})
        await self.jobs.refresh(key_of(made))
        return made

    async def view(self) -> JobView:
        return (await self.views.of(SUBJECT, NOW))["work-unit-0"]

    async def look(self) -> int:
        """How many Events are seen."""
        return len((await self.view()).events)

    def tell(self, name: str, job: Object, **said: Any) -> None:
        """An Event about the Job."""
        about = {"kind": "Job", "uid": job["metadata"]["uid"]}
        self.api.put(EVENTS, name, **{"reason": "FailedCreate", "involvedObject": about} | said)

    def listed(self) -> int:
        return self.api.count("GET", "events")


@pytest.fixture
def stuck(api: ApiServer, client: Client) -> Stuck:
    return Stuck(api, client)


async def test_they_are_listed_after_longer_and_longer_times(stuck: Stuck) -> None:
    await stuck.make()
    at = []
    for seconds in range(200):
        before, stuck.seconds = stuck.listed(), float(seconds)
        await stuck.look()
        if stuck.listed() > before:
            at.append(seconds)
    waits = [later - earlier for earlier, later in itertools.pairwise(at)]
    assert waits[:4] == [FIRST_EVENTS_SECONDS * 2**n for n in range(4)]
    assert set(waits[4:]) == {LAST_EVENTS_SECONDS}


async def test_what_is_told_meanwhile_is_seen_with_the_next_list(stuck: Stuck) -> None:
    job = await stuck.make()
    assert await stuck.look() == 0
    stuck.tell("refused", job)

    assert await stuck.look() == 0
    stuck.seconds = FIRST_EVENTS_SECONDS
    assert await stuck.look() == 1


async def test_of_a_job_that_is_gone_nothing_is_kept(stuck: Stuck) -> None:
    await stuck.make()
    await stuck.look()
    stuck.api.remove(JOBS, "work-unit-0")
    await stuck.jobs.refresh(Key("default", "work-unit-0"))
    await stuck.make()

    await stuck.look()

    assert stuck.listed() == 2


async def test_of_an_event_only_what_is_read_is_kept(stuck: Stuck) -> None:
    job = await stuck.make()
    said = {"message": "no room " * 1000, "mine": "x" * 10_000, "type": "Warning"}
    stuck.tell("refused", job, **said, source={"component": "y" * 10_000})

    view = await stuck.view()

    (event,) = view.events
    assert event["message"] == ("no room " * 1000)[:1024]
    assert len(str(event)) < 2000
    found = diagnosis.diagnose_waiting(view, NOW)
    assert found is not None
    assert found.reason == "PodRejected"


async def test_of_events_that_no_decision_reads_nothing_is_kept(stuck: Stuck) -> None:
    job = await stuck.make()
    for number in range(20):
        stuck.tell(f"a{number}", job, reason="Scheduled", message="as it should be")
    stuck.tell("b", job)

    assert [event["reason"] for event in (await stuck.view()).events] == ["FailedCreate"]


async def test_thousands_of_events_are_as_few(stuck: Stuck) -> None:
    job = await stuck.make()
    for number in range(1000):
        stuck.tell(f"e{number}", job, message="x" * 1000)

    assert await stuck.look() <= 32
    assert stuck.listed() == 1


async def test_of_events_of_many_megabytes_nothing_is_known(stuck: Stuck) -> None:
    job = await stuck.make()
    for number in range(20):
        stuck.tell(f"e{number}", job, message="\N{GRINNING FACE}" + "x" * (EVENTS_BYTES // 10))

    view = await stuck.view()

    assert view.events == ()
    assert diagnosis.diagnose_waiting(view, NOW) is None
    stuck.seconds = FIRST_EVENTS_SECONDS - 1
    await stuck.look()
    assert stuck.listed() == 1, "it is not read again at once"
