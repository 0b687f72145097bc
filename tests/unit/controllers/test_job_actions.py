"""A Job that the API server refuses is decided about at once: it is no error that comes again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bernstein.controllers import job_actions
from bernstein.controllers.caches import Caches
from bernstein.controllers.log_reader import LogReader
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import Writer
from bernstein.core.jobs import JobView
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, Forbidden
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import JOBS, Key
from bernstein.observe.metrics import Metrics
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer, Call

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = Key("default", "work")


@dataclass(frozen=True)
class Wishes:
    """Asks for these Jobs, but for those that were refused."""

    names: tuple[str, ...]
    jobs: dict[str, JobView] = field(default_factory=dict)

    def with_job(self, job: JobView) -> Wishes:
        return replace(self, jobs={**self.jobs, job.name: job})

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.jobs)


@pytest.fixture
def context(client: Client) -> Context:
    caches = Caches(client)
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    return Context(caches, writer, OperatorSettings(image="i"), Metrics(), LogReader(client))


def _name(call: Call) -> str | None:
    return call.body["metadata"]["name"] if call.body else None


@pytest.mark.parametrize("status", [403, 422])
async def test_the_others_are_made_and_the_refusal_is_part_of_what_is_decided_on(
    api: ApiServer, context: Context, status: int
) -> None:
    api.fault = lambda call: status if _name(call) == "b" else None

    async def execute(_: Wishes, name: Any) -> None:
        job = {"metadata": {"name": name, "namespace": "default"}, "spec": {}}
        await job_actions.create(KEY, job, context)

    decided = await job_actions.carry_out(
        Wishes(("a", "b", "c")), lambda wishes, _: wishes, execute, NOW
    )

    assert api.names(JOBS) == ["a", "c"]
    assert list(decided.jobs) == ["b"]
    assert decided.jobs["b"].refused


async def test_a_refusal_settles_nothing_while_an_earlier_request_may_be_on_its_way(
    api: ApiServer, context: Context
) -> None:
    job = {"metadata": {"name": "late", "namespace": "default"}, "spec": {}}
    api.fault = lambda _: 500
    with pytest.raises(ApiError):
        await job_actions.create(KEY, job, context)

    api.fault = lambda _: 403
    with pytest.raises(Forbidden):
        await job_actions.create(KEY, job, context)
