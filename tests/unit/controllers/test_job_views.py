"""Jobs and pods come by two streams: what one of them does not show is not gone for that."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bernstein.api.meta import Metadata
from bernstein.api.pod import FENCE
from bernstein.controllers import job_views
from bernstein.controllers.job_views import DELETED_PODS, OWNER, POD_INDEXES, JobViews
from bernstein.core import labels, runs
from bernstein.core.jobs import JobView
from bernstein.core.runs import State
from bernstein.kube.answers import WatchEvent
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, PODS, Object, is_deleting, key_of
from tests.unit.kube.apiserver import ApiServer

SUBJECT = Metadata(name="work-s1", namespace="default", uid="uid-owner")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
OURS = {labels.MANAGED_BY: labels.MANAGER, labels.OWNER_UID: SUBJECT.uid, labels.JOB: "agent"}


@pytest.fixture
def jobs(client: Client) -> Informer:
    return Informer(client, JOBS, indexes={OWNER: by_controller_uid})


@pytest.fixture
def pods(client: Client) -> Informer:
    return Informer(client, PODS, indexes=POD_INDEXES)


@pytest.fixture
def views(client: Client, jobs: Informer, pods: Informer) -> JobViews:
    return JobViews(client, jobs, pods)


def put_job(api: ApiServer, **status: Any) -> Object:
    owner = {"uid": SUBJECT.uid, "kind": "AgentSession", "name": SUBJECT.name, "controller": True}
    meta = {"labels": OURS, "ownerReferences": [owner], "creationTimestamp": NOW.isoformat()}
    return api.put(JOBS, "work-s1", metadata=meta, status=status)


def put_pod(
    api: ApiServer, job: Object, phase: str = "Running", name: str = "work-s1-x", age: float = 0
) -> Object:
    owner = {"uid": job["metadata"]["uid"], "kind": "Job", "name": "work-s1", "controller": True}
    own = OURS | {labels.JOB_NAME: "work-s1", labels.JOB_UID: job["metadata"]["uid"]}
    made = (NOW - timedelta(seconds=age)).isoformat()
    meta = {"labels": own, "ownerReferences": [owner], "creationTimestamp": made}
    began = {"running": {"startedAt": NOW.isoformat()}}
    status = {"phase": phase, "containerStatuses": [{"name": "agent", "state": began}]}
    return api.put(PODS, name, metadata=meta, spec={"nodeName": "n"}, status=status)


async def test_whether_there_is_anything_of_an_owner_is_known_before_views_are_made(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    found = [views.knows_any(SUBJECT.uid)]
    job = put_job(api)
    await shown(jobs, job)
    found.append(views.knows_any(SUBJECT.uid))
    pod = put_pod(api, job)
    api.remove(JOBS, "work-s1")
    await shown(jobs, job)
    await shown(pods, pod)
    found.append(views.knows_any(SUBJECT.uid))
    api.remove(PODS, "work-s1-x")
    await shown(pods, pod)
    found.append(views.knows_any(SUBJECT.uid))

    assert found == [False, True, True, True], "of a pod that is gone it is known how it ended"
    assert not views.knows_any("another")


async def shown(informer: Informer, obj: Object) -> None:
    """The informer's stream has come as far as this object."""
    await informer.refresh(key_of(obj))


async def ended_pod(api: ApiServer, jobs: Informer, pods: Informer) -> Object:
    """A pod that was seen at work and has ended, which its stream does not show yet."""
    job = put_job(api)
    await shown(jobs, job)
    await shown(pods, put_pod(api, job))
    return put_pod(api, job, "Failed")


async def state(views: JobViews, expected: str | None = None) -> State:
    found = await views.of(SUBJECT, NOW, expected)
    return runs.state(found.get("work-s1"), NOW)


async def test_a_pod_that_its_stream_does_not_show_yet_is_read_before_an_end_is_concluded(
    api: ApiServer, views: JobViews, jobs: Informer
) -> None:
    failed = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimit"}]}
    job = put_job(api, **failed)
    put_pod(api, job)
    await shown(jobs, job)

    assert await state(views) is State.RUNNING


async def test_an_ended_job_without_a_pod_is_gone_and_is_asked_for_once(
    api: ApiServer, views: JobViews, jobs: Informer
) -> None:
    await shown(jobs, put_job(api, conditions=[{"type": "Complete", "status": "True"}]))

    assert await state(views) is State.GONE
    lists = api.count("GET", "pods")
    assert await state(views) is State.GONE
    assert api.count("GET", "pods") == lists


@pytest.mark.parametrize("seen", ["nothing", "its job", "its pod at work"])
async def test_what_was_read_of_a_run_stays_known_while_the_streams_are_late(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer, seen: str
) -> None:
    """Else the Job of a pod that has ended would be deleted, as one that nobody waits for."""
    job = put_job(api)
    if seen != "nothing":
        await shown(jobs, job)
    pod = put_pod(api, job)
    if seen == "its pod at work":
        await shown(pods, pod)
    put_pod(api, job, phase="Succeeded")
    put_job(api, conditions=[{"type": "Complete", "status": "True"}])
    assert await state(views, "another") is State.ENDED

    found = (await views.of(SUBJECT, NOW))["work-s1"]
    assert (runs.state(found, NOW), found.goes_on) == (State.ENDED, False)


async def test_how_a_pod_ended_is_not_hidden_by_a_read_after_its_deletion(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    ended = await ended_pod(api, jobs, pods)
    deleted(api, ended)
    await views.of(SUBJECT, NOW, "another")

    pods._apply(None, WatchEvent("MODIFIED", ended))

    assert seen_as((await views.of(SUBJECT, NOW))["work-s1"]) == ("work-s1-x", False)


async def test_a_job_that_is_missing_is_read_before_it_is_taken_for_gone(
    api: ApiServer, views: JobViews
) -> None:
    assert await state(views) is State.WANTED
    assert api.count("GET", "jobs") == 0, "nobody expects it"
    put_pod(api, put_job(api))

    assert await state(views, "work-s1") is State.RUNNING


async def test_the_pod_of_a_job_that_is_gone_is_still_looked_at(
    api: ApiServer, views: JobViews, pods: Informer
) -> None:
    job = put_job(api)
    pod = put_pod(api, job)
    api.remove(JOBS, "work-s1")
    await shown(pods, pod)

    assert await state(views) is State.RUNNING


async def test_a_fence_hides_no_pod_of_the_job_whose_name_it_takes(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    await shown(pods, put_pod(api, put_job(api)))
    api.remove(JOBS, "work-s1")
    alone = (await views.of(SUBJECT, NOW))["work-s1"]
    assert (alone.orphan, alone.fenced) == (True, False)

    fence = put_job(api)["metadata"]
    own = fence["labels"] | {labels.JOB: FENCE}
    await shown(jobs, api.put(JOBS, "work-s1", metadata=fence | {"labels": own}))

    fenced = (await views.of(SUBJECT, NOW))["work-s1"]
    assert (fenced.orphan, fenced.fenced) == (True, True)
    assert runs.state(fenced, NOW) is State.RUNNING


@pytest.mark.parametrize(
    "said",
    [{}, {labels.JOB_NAME: "another"}, {labels.JOB_UID: "another"}],
    ids=["nothing", "name", "uid"],
)
async def test_a_pod_that_the_job_controller_did_not_make_for_the_job_tells_nothing_of_it(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer, said: dict[str, str]
) -> None:
    job = put_job(api)
    await shown(jobs, job)
    forged = put_pod(api, job, phase="Succeeded")
    made = forged["metadata"]["labels"]
    own = made | said if said else OURS
    await shown(pods, api.put(PODS, "work-s1-x", metadata=forged["metadata"] | {"labels": own}))

    found = (await views.of(SUBJECT, NOW))["work-s1"]
    assert found.pod is None


async def test_how_a_pod_ended_is_known_after_it_was_deleted(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    ended = await ended_pod(api, jobs, pods)
    await shown(pods, ended)
    api.remove(PODS, "work-s1-x")
    await shown(pods, ended)

    assert await state(views) is State.ENDED


@pytest.mark.parametrize(("node", "then"), [(None, State.GONE), ("n", State.LOST)])
@pytest.mark.parametrize("has_job", [True, False])
async def test_a_pod_that_is_removed_without_a_word_of_its_node_is_not_waited_for_for_ever(
    client: Client,
    api: ApiServer,
    jobs: Informer,
    pods: Informer,
    node: str | None,
    then: State,
    has_job: bool,
) -> None:
    seconds = 5.0
    views = JobViews(client, jobs, pods, Clock(monotonic=lambda: seconds))
    job = put_job(api)
    if has_job:
        await shown(jobs, job)
    pod = {**put_pod(api, job), "spec": {"nodeName": node} if node else {}}
    views._pod_changed(None, pod)
    views._pod_changed(pod, None)

    assert await state(views) is (State.ABANDONED if node else State.GONE)
    seconds += runs.LOST_SECONDS + 1
    assert await state(views) is then


@pytest.mark.parametrize(("phase", "then"), [("Succeeded", State.ENDED), ("Running", State.LOST)])
async def test_a_pod_that_seems_lost_is_read_before_it_is_given_up(
    client: Client, api: ApiServer, jobs: Informer, pods: Informer, phase: str, then: State
) -> None:
    seconds = 5.0
    views = JobViews(client, jobs, pods, Clock(monotonic=lambda: seconds))
    job = put_job(api)
    await shown(jobs, job)
    await shown(pods, deleted(api, put_pod(api, job)))
    deleted(api, put_pod(api, job, phase=phase))
    lists = api.count("GET", "pods")
    assert await state(views) is State.ABANDONED
    assert api.count("GET", "pods") == lists, "its node may still be waited for"

    seconds += runs.LOST_SECONDS + 1

    assert await state(views) is then
    assert api.count("GET", "pods") == lists + 1


async def test_a_pod_that_seemed_lost_and_is_gone_by_now_has_not_been_heard_of(
    client: Client, api: ApiServer, jobs: Informer, pods: Informer
) -> None:
    seconds = 5.0
    views = JobViews(client, jobs, pods, Clock(monotonic=lambda: seconds))
    job = put_job(api, conditions=[{"type": "Failed", "status": "True"}])
    await shown(jobs, job)
    await shown(pods, deleted(api, put_pod(api, job)))
    api.remove(PODS, "work-s1-x")
    seconds += runs.LOST_SECONDS + 1

    assert await state(views) is State.LOST
    lists = api.count("GET", "pods")
    assert await state(views) is State.LOST
    assert api.count("GET", "pods") == lists, "there is nothing more to ask for"


async def test_only_so_many_deleted_pods_are_remembered(
    api: ApiServer, views: JobViews, pods: Informer
) -> None:
    job = put_job(api)
    first = put_pod(api, job)
    await shown(pods, first)
    api.remove(PODS, "work-s1-x")
    await shown(pods, first)
    for number in range(DELETED_PODS):
        other = {**first, "metadata": {**first["metadata"], "uid": f"uid-{number}", "labels": {}}}
        views._pod_changed(other, None)

    assert await state(views) is State.WANTED


async def test_how_long_a_pod_runs_is_measured_whatever_the_time_of_day_is(
    client: Client, api: ApiServer, jobs: Informer, pods: Informer
) -> None:
    seconds = 5.0
    views = JobViews(client, jobs, pods, Clock(monotonic=lambda: seconds))
    job = put_job(api)
    await shown(jobs, job)
    for _ in range(2):
        await shown(pods, put_pod(api, job))
        seconds += 3

    jumped = NOW + timedelta(days=1)
    found = await views.of(SUBJECT, jumped)
    assert found["work-s1"].running_since == jumped - timedelta(seconds=6)


def seen_as(view: JobView) -> tuple[str, bool]:
    """The name of the view's pod, and whether it is being deleted."""
    assert view.pod is not None
    return view.pod["metadata"]["name"], is_deleting(dict(view.pod))


def deleted(api: ApiServer, pod: Object) -> Object:
    told = {"deletionTimestamp": NOW.isoformat(), "finalizers": ["bernstein.dev/result"]}
    meta = pod["metadata"] | told
    return api.put(PODS, meta["name"], **{**pod, "metadata": meta})


@pytest.mark.parametrize("has_job", [True, False])
@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
async def test_of_several_pods_of_a_job_the_first_one_that_was_made_says_how_it_ended(
    api: ApiServer,
    views: JobViews,
    jobs: Informer,
    pods: Informer,
    has_job: bool,
    order: tuple[str, str],
) -> None:
    """A Job whose pod is not counted any more makes a second one, and a check would be asked
    again until it passes."""
    job = put_job(api)
    if has_job:
        await shown(jobs, job)
    made = {
        "first": put_pod(api, job, "Failed", "work-s1-first", age=60),
        "second": put_pod(api, job, name="work-s1-second"),
    }
    for name in order:
        await shown(pods, made[name])

    beside = (await views.of(SUBJECT, NOW))["work-s1"]
    assert seen_as(beside) == ("work-s1-first", False)
    assert (runs.state(beside, NOW), beside.goes_on) == (State.ABANDONED, has_job)
    await shown(pods, put_pod(api, job, "Succeeded", "work-s1-second"))
    over = (await views.of(SUBJECT, NOW))["work-s1"]
    assert seen_as(over) == ("work-s1-first", False)
    assert (runs.state(over, NOW), over.goes_on) == (State.ENDED, False)


async def test_how_a_pod_ended_stands_when_somebody_deletes_it_afterwards(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    ended = await ended_pod(api, jobs, pods)
    await shown(pods, ended)
    await shown(pods, deleted(api, ended))

    assert seen_as((await views.of(SUBJECT, NOW))["work-s1"]) == ("work-s1-x", False)


async def test_a_pod_that_was_deleted_before_it_ended_shows_that(
    api: ApiServer, views: JobViews, jobs: Informer, pods: Informer
) -> None:
    ended = await ended_pod(api, jobs, pods)
    await shown(pods, deleted(api, ended))

    assert seen_as((await views.of(SUBJECT, NOW))["work-s1"]) == ("work-s1-x", True)


async def test_what_keeps_a_job_that_was_deleted_is_known(
    api: ApiServer, views: JobViews, jobs: Informer
) -> None:
    meta = put_job(api)["metadata"]
    told = {"deletionTimestamp": NOW.isoformat(), "finalizers": ["foregroundDeletion"]}
    await shown(jobs, api.put(JOBS, "work-s1", metadata=meta | told))

    found = (await views.of(SUBJECT, NOW))["work-s1"]
    assert (found.deletion, found.finalizers) == (NOW, ("foregroundDeletion",))


async def test_the_view_of_a_pod_at_work_is_made_anew_only_for_its_times(
    api: ApiServer,
    views: JobViews,
    jobs: Informer,
    pods: Informer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = put_job(api)
    await shown(jobs, job)
    await shown(pods, put_pod(api, job))
    anew: list[set[str]] = []

    def replace(view: JobView, **fields: Any) -> JobView:
        anew.append(set(fields))
        return dataclasses.replace(view, **fields)

    monkeypatch.setattr(job_views, "replace", replace)
    found = await views.of(SUBJECT, NOW)
    assert not found["work-s1"].removed
    assert anew == [{"pod", "removed", "bound_since", "running_since", "ending_since"}]
