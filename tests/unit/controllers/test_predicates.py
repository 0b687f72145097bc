"""Which changes wake somebody: all that a decision reads, and little else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from bernstein.api.project import Probe, Project
from bernstein.controllers.caches import Caches
from bernstein.controllers.predicates import (
    of_jobs,
    pod_matters,
    project_matters,
    secrets_turned_up,
    session_matters,
)
from bernstein.core import labels
from bernstein.kube.client import Client
from bernstein.kube.resource import Object, key_of
from tests.unit.core import objects
from tests.unit.core.objects import ended, failed, running, waiting
from tests.unit.kube.apiserver import ApiServer

Change = Callable[[Object], Any]


def pod(*containers: Object, phase: str = "Running", **status: Any) -> Object:
    made: Object = objects.pod(*containers, phase=phase)
    meta = made["metadata"] | {"resourceVersion": "1", "labels": {labels.JOB: "agent"}}
    return made | {"metadata": meta, "status": made["status"] | status}


def changed(obj: Object, change: Change) -> Object:
    new = copy.deepcopy(obj)
    change(new)
    return new


AT_WORK = pod(ended("checkout"), running("recorder"), running("agent"))
PENDING = pod(waiting("agent", "PodInitializing"), phase="Pending")
OVER = changed(
    pod(ended("checkout"), ended("agent"), startTime=objects.NOW.isoformat()),
    lambda p: p["spec"].update(
        initContainers=[{"name": "checkout"}], containers=[{"name": "agent"}]
    ),
)


def with_status(obj: Object, **status: Any) -> Object:
    return changed(obj, lambda p: p["status"].update(status))


UNPLACED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "none"}
EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}

UNREAD: dict[str, tuple[Object, Object]] = {
    "it gets a node": (PENDING, changed(PENDING, lambda p: p["spec"].update(nodeName="n"))),
    "a finalizer is taken off": (
        AT_WORK,
        changed(AT_WORK, lambda p: p["metadata"].update(finalizers=[])),
    ),
    "it gets an address": (
        AT_WORK,
        with_status(AT_WORK, podIP="10.0.0.1"),
    ),
    "it takes traffic": (
        AT_WORK,
        changed(
            AT_WORK, lambda p: p["status"].update(conditions=[{"type": "Ready", "status": "True"}])
        ),
    ),
    "its first container begins": (
        PENDING,
        pod(running("checkout"), waiting("agent", "PodInitializing"), phase="Pending"),
    ),
    "its first container ends well": (
        PENDING,
        pod(ended("checkout"), waiting("agent", "PodInitializing"), phase="Pending"),
    ),
    "it is called what its containers have said": (
        OVER,
        with_status(OVER, phase="Succeeded"),
    ),
}
READ: dict[str, tuple[Object | None, Object | None]] = {
    "it is new": (None, PENDING),
    "it is gone": (AT_WORK, None),
    "its agent begins": (PENDING, AT_WORK),
    "its agent ends": (AT_WORK, pod(ended("checkout"), running("recorder"), ended("agent"))),
    "all have ended": (pod(ended("checkout"), running("agent")), OVER),
    "its first container fails": (PENDING, pod(failed("checkout", "RefNotFound"), phase="Pending")),
    "its image is missing": (
        PENDING,
        pod(waiting("agent", "ErrImagePull", "not found"), phase="Pending"),
    ),
    "a Secret of another container is missing": (
        PENDING,
        pod(waiting("pusher", "CreateContainerConfigError", "no Secret"), phase="Pending"),
    ),
    "it finds no node": (
        PENDING,
        with_status(PENDING, conditions=[UNPLACED]),
    ),
    "it is evicted": (
        AT_WORK,
        with_status(AT_WORK, conditions=[EVICTED]),
    ),
    "it is told to end": (
        AT_WORK,
        changed(AT_WORK, lambda p: p["metadata"].update(deletionTimestamp="2030-01-01T00:00:00Z")),
    ),
    "its time is over": (
        AT_WORK,
        with_status(AT_WORK, phase="Failed", reason="DeadlineExceeded"),
    ),
}


@pytest.mark.parametrize("what", UNREAD)
def test_what_nobody_reads_of_a_pod_wakes_nobody(what: str) -> None:
    assert not pod_matters(*UNREAD[what])


@pytest.mark.parametrize("what", READ)
def test_what_a_decision_reads_of_a_pod_wakes(what: str) -> None:
    assert pod_matters(*READ[what])


def session(state: str = "Working", generation: int = 1, **status: Any) -> Object:
    return {"metadata": {"generation": generation}, "status": {"state": state, **status}}


STALE = {"type": "Stale", "status": "True"}


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        (None, session(), True),
        (session(), None, True),
        (session(), session(report={"seq": 1}), False),
        (session(conditions=[STALE]), session(conditions=[STALE], report={"seq": 1}), True),
        (session("Starting"), session(), True),
        (session(), session(generation=2), True),
        (session(), session("Dead"), True),
        (session("Dead"), session("Dead", judgement="Verified"), False),
        (session("Dead"), session("Dead", generation=2), True),
    ],
)
def test_a_report_or_a_judgement_of_a_session_wakes_nobody(
    old: Object | None, new: Object | None, matters: bool
) -> None:
    assert session_matters(old, new) is matters


def test_how_many_agents_of_a_project_work_wakes_nobody() -> None:
    before: Object = {
        "metadata": {"generation": 1},
        "status": {"running": 1, "probe": {"round": 1}},
    }

    assert not project_matters(before, with_status(before, running=2))
    assert project_matters(before, with_status(before, probe=None))
    assert project_matters(before, changed(before, lambda p: p["metadata"].update(generation=2)))
    assert project_matters(None, before)


def job(**status: Any) -> Object:
    owner = {"uid": "uid-owner", "kind": "Task", "name": "work", "controller": True}
    meta = {"uid": "uid-job", "name": "work-unit-0", "ownerReferences": [owner]}
    return {"metadata": meta, "status": status}


COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(("phase", "matters"), [("Running", True), ("Succeeded", False)])
async def test_that_a_job_is_complete_wakes_nobody_who_has_seen_its_pod_end(
    api: ApiServer, client: Client, phase: str, matters: bool
) -> None:
    caches = Caches(client)
    own = {labels.OWNER_UID: "uid-owner", labels.JOB_UID: "uid-job", labels.MANAGED_BY: "bernstein"}
    made = api.put(
        caches.pods.resource, "p", metadata={"labels": own}, status={"phase": phase}, spec={}
    )
    await caches.pods.refresh(key_of(made))
    of = of_jobs(caches)

    assert of(job(active=1), job(**COMPLETE)) is matters
    assert not of(job(active=1), job(active=1, ready=1))
    assert of(None, job())
    gone = changed(job(), lambda j: j["metadata"].update(deletionTimestamp="2030-01-01T00:00:00Z"))
    assert of(job(), gone)


def with_findings(*messages: str, reason: str = "SecretNotFound") -> Project:
    told = [{"subject": "read", "reason": reason, "message": message} for message in messages]
    probe = Probe.model_validate({"generation": 1, "number": 0, "findings": told})
    found = objects.project()
    return found.model_copy(update={"status": found.status.model_copy(update={"probe": probe})})


def test_secrets_that_turn_up_or_are_missed_by_the_probe_wake_who_waits_for_them() -> None:
    missing, sound = with_findings('secret "git" not found'), with_findings()

    assert secrets_turned_up(missing, sound)
    assert secrets_turned_up(sound, missing)
    assert not secrets_turned_up(sound, with_findings("403", reason="CredentialRefused"))
    assert not secrets_turned_up(None, objects.project())
