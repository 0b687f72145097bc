"""Somebody with rights on pods and Secrets of the namespace, who wants another end of a check, or a
session that never ends.

What admission policies keep him from, tests of the API server show; here it is what is left. Each
is first seen to work where the protection is taken off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bernstein.api.meta import Metadata
from bernstein.api.states import SessionState
from bernstein.checks.spec import Subject
from bernstein.controllers import job_views
from bernstein.controllers.job_views import OWNER, POD_INDEXES, JobViews
from bernstein.core import conditions, diagnosis, labels, names
from bernstein.core.jobs import JobView
from bernstein.core.sessions import decide as sessions
from bernstein.core.verification import verdicts
from bernstein.core.verification.expected import required
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, PODS, Object, key_of
from tests.unit.core.objects import NAMESPACE, NOW, at, check_pod, job, session
from tests.unit.core.verification.test_base import OWN, ruled
from tests.unit.kube.apiserver import ApiServer

TASK = Metadata(name="work", namespace=NAMESPACE, uid="uid-task")


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as server:
        yield server


@pytest.fixture
async def client(api: ApiServer) -> AsyncIterator[Client]:
    async with api.client(timeout=5.0) as client:
        yield client


class Cluster:
    """The Job of a Task's check, and its pods; what the operator sees of them."""

    def __init__(self, api: ApiServer, client: Client, round_: int = 0) -> None:
        self._api = api
        self._name = names.session_job("work-s1", "own", round_)
        self._jobs = Informer(client, JOBS, indexes={OWNER: by_controller_uid})
        self._pods = Informer(client, PODS, indexes=POD_INDEXES)
        self._views = JobViews(client, self._jobs, self._pods)
        self._made = {"creationTimestamp": NOW.isoformat(), "namespace": NAMESPACE}
        self._own = {labels.MANAGED_BY: labels.MANAGER, labels.OWNER_UID: TASK.uid}
        self._own |= {labels.JOB: "check", labels.CHECK: "own"}
        self._job: Object = {}

    async def begin(self) -> Cluster:
        owner = {"uid": TASK.uid, "kind": "Task", "name": TASK.name, "controller": True}
        meta = self._made | {"labels": self._own, "ownerReferences": [owner]}
        self._job = self._api.put(JOBS, self._name, NAMESPACE, metadata=meta, status={})
        await self._jobs.refresh(key_of(self._job))
        return self

    async def put(self, end: str, code: int, *, made: bool = True, **meta: Any) -> None:
        """A pod whose check has ended with this code; `made`: the Job controller has made it."""
        uid = self._job["metadata"]["uid"]
        owner = {"uid": uid, "kind": "Job", "name": self._name, "controller": True}
        by_it = {labels.JOB_NAME: self._name if made else "mine", labels.JOB_UID: uid}
        told = self._made | {"labels": self._own | by_it, "ownerReferences": [owner]} | meta
        status = check_pod(code)["status"]
        pod = self._api.put(
            PODS,
            f"{self._name}-{end}",
            NAMESPACE,
            metadata=told,
            spec={"nodeName": "n"},
            status=status,
        )
        await self._pods.refresh(key_of(pod))

    async def view(self) -> JobView:
        return (await self._views.of(TASK, NOW))[self._name]


def verdict(view: JobView) -> tuple[str, str] | None:
    """(verdict, reason) of the check on the work, by its Job; None: it has none yet."""
    project = ruled(OWN, {"name": "lint", "enabled": False})
    changed = Subject(
        any_changed=True, python_changed=True, tests_changed=False, deps_changed=False
    )
    (own,) = required.required_checks((), project.spec, changed)
    found = verdicts.of_work(own, view, None, NOW)
    return (found.verdict, found.reason) if found is not None else None


DELETED: dict[str, Any] = {"deletionTimestamp": NOW.isoformat(), "finalizers": [labels.FINALIZER]}


async def after_its_pod_was_deleted(cluster: Cluster) -> tuple[str, str] | None:
    await cluster.begin()
    await cluster.put("x", 1)
    await cluster.put("x", 1, **DELETED)
    return verdict(await cluster.view())


async def test_deleting_the_pod_of_a_check_that_has_failed_asks_it_no_second_time(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(job_views._Seen, "note", lambda *_: None)
        found = await after_its_pod_was_deleted(Cluster(api, client))
        assert found == ("Errored", "Disrupted"), "where no end is kept it is run again"

    found = await after_its_pod_was_deleted(Cluster(api, client, 1))
    assert found == ("Failed", "ExitCode")


async def test_a_pod_of_ones_own_with_our_job_as_its_owner_says_nothing_of_a_check(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = await Cluster(api, client).begin()
    await cluster.put("forged", 0, made=False)

    with monkeypatch.context() as taken:
        taken.setattr(job_views, "_made_by", lambda _pod, _job: True)
        assert verdict(await cluster.view()) == ("Passed", ""), "where an owner is believed"

    assert verdict(await cluster.view()) is None


def held_for(seconds: float) -> JobView:
    """A Job that was deleted so long ago, and that a Secret with a finalizer holds."""
    return job("work-s1", deleting=True, deletion=at(-seconds), finalizers=("foregroundDeletion",))


def stalled(view: JobView) -> str | None:
    """What the session of that Job, which keeps its agent's place, needs a person for."""
    subject = session(job="work-s1", state=SessionState.STARTING, started_at=at(-3600))
    found = sessions.decide(sessions.SessionSnapshot(subject, view, True), NOW).status
    assert found.outcome is None, "while the Job is there it may make a pod"
    stall = conditions.find(found.conditions, "Stalled")
    return stall.reason if stall is not None else None


def test_no_finalizer_of_others_holds_a_session_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as taken:
        taken.setattr(diagnosis, "held", lambda _job, _now: None)
        assert stalled(held_for(3600)) is None, "it would be at work for ever"

    assert stalled(held_for(3600)) == "DeletionHeld"
