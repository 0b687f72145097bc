"""What the API server refuses is decided about at once: it is no error that comes again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bernstein.controllers import execution, job_actions
from bernstein.controllers.caches import Caches
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.logs.reader import LogReader
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import Writer
from bernstein.core.jobs import JobView
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, Forbidden, api_error, is_refusal
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Key, Resource
from bernstein.observe.metrics import Metrics
from bernstein.resources import SESSIONS, TASKS
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer, Call

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = Key("default", "work")


@dataclass(frozen=True)
class Wishes:
    """Asks for these Jobs, but for those that were refused."""

    names: tuple[str, ...]
    jobs: dict[str, JobView] = field(default_factory=dict)
    refused: str | None = None

    def with_job(self, job: JobView) -> Wishes:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> Wishes:
        return replace(self, names=(), refused=message)

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.jobs)


@pytest.fixture
def context(client: Client) -> Context:
    caches = Caches(client)
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    writer = Writer(client, caches, Unfenced(), events)
    return Context(
        caches,
        writer,
        OperatorSettings(image="i"),
        Metrics(),
        LogReader(client),
        DocumentReader(client),
    )


def _name(call: Call) -> str | None:
    return call.body["metadata"]["name"] if call.body else None


def _made(name: str) -> Any:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {}}


async def _make(resource: Resource, name: str, context: Context) -> None:
    with job_actions.refusable(resource, name, KEY, context):
        await context.writer.create(KEY, resource, _made(name))


async def _carried_out(resource: Resource, context: Context, *names: str) -> Wishes:
    async def execute(_: Wishes, name: Any) -> None:
        await _make(resource, name, context)

    return await execution.decide_and_execute(Wishes(names), lambda wishes, _: wishes, execute, NOW)


@pytest.mark.parametrize("status", [400, 402, 403, 405, 406, 413, 415, 418, 422, 451])
async def test_the_others_are_made_and_the_refusal_is_part_of_what_is_decided_on(
    api: ApiServer, context: Context, status: int
) -> None:
    """Also a webhook's, which chooses the status: one that chooses none is told of as 400."""
    api.fault = lambda call: status if _name(call) == "b" else None

    decided = await _carried_out(JOBS, context, "a", "b", "c")

    assert api.names(JOBS) == ["a", "c"]
    assert list(decided.jobs) == ["b"]
    assert decided.jobs["b"].refused


@pytest.mark.parametrize("status", [401, 404, 408, 410, 429, 500, 503])
async def test_what_passes_is_no_refusal(api: ApiServer, context: Context, status: int) -> None:
    api.fault = lambda _: status

    with pytest.raises(ApiError):
        await _carried_out(JOBS, context, "a")


@pytest.mark.parametrize("resource", [SESSIONS, TASKS])
async def test_other_objects_are_refused_as_jobs_are(
    api: ApiServer, context: Context, resource: Resource
) -> None:
    api.fault = lambda _: 403

    decided = await _carried_out(resource, context, "a")

    assert decided.jobs == {}
    assert decided.refused is not None


def test_a_kind_that_admission_does_not_know_yet_is_no_refusal() -> None:
    no_mapping = {"message": "cannot find RESTMapping for APIVersion bernstein.dev/v1alpha1"}

    assert not is_refusal(api_error(403, no_mapping))
    assert is_refusal(api_error(403, {"message": "exceeded quota"}))


async def test_a_refusal_settles_nothing_while_an_earlier_request_may_be_on_its_way(
    api: ApiServer, context: Context
) -> None:
    api.fault = lambda _: 500
    with pytest.raises(ApiError):
        await _make(JOBS, "late", context)

    api.fault = lambda _: 403
    with pytest.raises(Forbidden):
        await _make(JOBS, "late", context)
    with pytest.raises(Forbidden), job_actions.refusable(JOBS, "late", KEY, context):
        await context.writer.create(KEY, CONFIG_MAPS, _made("what-it-needs"))
