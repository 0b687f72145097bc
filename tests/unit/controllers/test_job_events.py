"""Events of what is stuck are listed rarely, however often it is looked at."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from bernstein.api.meta import Metadata
from bernstein.controllers.job_views import (
    FIRST_EVENTS_SECONDS,
    LAST_EVENTS_SECONDS,
    OWNER,
    POD_INDEXES,
    JobViews,
)
from bernstein.core import labels
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

    async def look(self) -> int:
        """How many Events are seen."""
        return len((await self.views.of(SUBJECT, NOW))["work-unit-0"].events)

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
    about = {"kind": "Job", "uid": job["metadata"]["uid"]}
    stuck.api.put(EVENTS, "refused", reason="FailedCreate", involvedObject=about)

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
