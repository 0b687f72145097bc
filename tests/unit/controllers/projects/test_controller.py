"""What the controller of Projects does with a probe."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.controllers.projects.controller import ProjectController
from bernstein.core import labels
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.resource import JOBS, PODS, Key
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE
from tests.unit.core.waits import waits
from tests.unit.kube.apiserver import ApiServer

PROJECT, JOB = Key(NAMESPACE, "default"), "default--probe-0"


class Projects(Rig):
    """With one Project, and its controller at work when the test says so."""

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        api.put(PROJECTS, "default", NAMESPACE, spec=objects.project().spec.dump())
        self.controller = ProjectController(self.context)

    async def look(self) -> dict[str, Any]:
        """The Project's status after one reconcile."""
        await self.controller.reconcile(PROJECT)
        status: dict[str, Any] = self.api.get(PROJECTS, "default", NAMESPACE)["status"]
        return status


def ready(status: dict[str, Any]) -> tuple[str, str]:
    (found,) = (c for c in status["conditions"] if c["type"] == "Ready")
    return found["status"], found["reason"]


async def test_a_new_project_gets_a_job_that_is_its_own(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Projects(api, client, background)
    await rig.start()

    status = await rig.look()

    assert ready(status) == ("Unknown", "Probing")
    job = api.get(JOBS, JOB, NAMESPACE)
    (owner,) = job["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Project", "default")
    assert job["metadata"]["labels"][labels.JOB] == "probe"


@pytest.mark.parametrize("others", [1, 20])
async def test_names_that_somebody_has_taken_are_left_for_the_next(
    api: ApiServer, client: Client, background: Background, others: int
) -> None:
    rig = Projects(api, client, background)
    for number in range(others):
        api.put(JOBS, f"default--probe-{number}", NAMESPACE, metadata={"labels": {}})
    await rig.start()

    status = await rig.look()

    assert ready(status) == ("Unknown", "Probing")
    assert status["probe"]["number"] == others
    assert api.get(JOBS, f"default--probe-{others}", NAMESPACE)["metadata"]["ownerReferences"]


async def test_that_too_many_names_are_taken_is_told_with_what_helps_and_is_no_loop(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Projects(api, client, background)
    for number in range(40):
        api.put(JOBS, f"default--probe-{number}", NAMESPACE, metadata={"labels": {}})
    await rig.start()

    status = await rig.look()

    assert ready(status) == ("Unknown", "NameConflict")
    (told,) = (c["message"] for c in status["conditions"] if c["type"] == "Ready")
    assert "Job 'default--probe-0' exists already" in told
    assert "Delete or rename what has the name" in told
    assert (status["probe"]["number"], "until" in status["probe"]) == (0, True)


@pytest.mark.parametrize("who", ["task", "plan"])
async def test_a_project_that_was_sound_is_tried_again_once_something_misses_a_secret(
    api: ApiServer, client: Client, background: Background, who: str
) -> None:
    rig = Projects(api, client, background)
    spec = objects.project().spec.dump()
    sound = {"probe": {"generation": 1, "number": 0, "settled": True}}
    api.put(PROJECTS, "default", NAMESPACE, metadata={"generation": 1}, spec=spec, status=sound)
    await rig.start()
    rig.run()

    missed = waits("SecretNotFound", 'secret "git-read" not found', needs_person=True)
    if who == "task":
        status = objects.status(project="default", waiting=missed)
        task = objects.task(plan=None, status=status).dump()
        api.put(TASKS, "work", NAMESPACE, spec=task["spec"], status=task["status"])
    else:
        begins = PlanStatus(observed_generation=1, project="default", waiting=missed)
        plan = objects.plan(begun=False, status=begins).dump()
        api.put(PLANS, "web", NAMESPACE, spec=plan["spec"], status=plan["status"])

    await eventually(lambda: api.names(JOBS) == ["default--probe-1"])


@pytest.mark.parametrize("who", ["task", "plan"])
async def test_what_goes_well_has_a_project_that_is_not_ready_tried_again(
    api: ApiServer, client: Client, background: Background, who: str
) -> None:
    rig = Projects(api, client, background)
    now, spec = datetime.now(UTC), objects.project().spec.dump()
    lacks = {"subject": "read", "reason": "RefNotFound", "message": "there is no main"}
    found = {"generation": 1, "number": 0, "failures": 1, "findings": [lacks], "settled": True}
    found |= {"until": (now + timedelta(seconds=200)).isoformat()}
    status = {"probe": found}
    api.put(PROJECTS, "default", NAMESPACE, metadata={"generation": 1}, spec=spec, status=status)
    await rig.start()
    rig.run()
    await eventually(lambda: "conditions" in api.get(PROJECTS, "default", NAMESPACE)["status"])
    assert api.names(JOBS) == []

    if who == "task":
        move = {"toState": "InProgress", "reason": "Started", "attempt": 0, "time": now}
        at_work = objects.status(TaskState.IN_PROGRESS, history=[move])
        task = objects.task(plan=None, status=at_work).dump()
        api.put(TASKS, "work", NAMESPACE, spec=task["spec"], status=task["status"])
    else:
        plan = objects.plan(status=PlanStatus(observed_generation=1, project="default")).dump()
        plan["status"]["integration"]["since"] = now.isoformat()
        api.put(PLANS, "web", NAMESPACE, spec=plan["spec"], status=plan["status"])

    await eventually(lambda: api.names(JOBS) == ["default--probe-1"])


async def test_events_of_its_job_and_its_pod_wake_the_project_and_those_of_others_do_not(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Projects(api, client, background)
    watches = [w for w in rig.controller.watches() if w.informer.resource == PODS]
    pods, readers = watches

    def pod(job: str, *volumes: object) -> dict[str, Any]:
        said = {labels.JOB: job, labels.PROJECT: "default"}
        metadata = {"name": "p", "namespace": NAMESPACE, "labels": said}
        return {"metadata": metadata, "spec": {"volumes": [*volumes]}}

    assert list(pods.keys(pod("probe"))) == [PROJECT]
    assert list(pods.keys(pod("cache"))) == [PROJECT]
    assert list(pods.keys(pod("begin"))) == []
    claim = {"name": "cache", "persistentVolumeClaim": {"claimName": "caches"}}
    assert list(readers.keys(pod("agent", claim))) == [PROJECT]
    assert list(readers.keys(pod("agent"))) == []


async def test_a_job_that_may_not_be_deleted_keeps_no_status_back(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Projects(api, client, background)
    left = {
        "labels": {labels.MANAGED_BY: labels.MANAGER, labels.JOB: "probe", labels.ASKED: "7"},
        "creationTimestamp": objects.at(-60).isoformat(),
        "ownerReferences": [_owner(api)],
    }
    api.put(JOBS, JOB, NAMESPACE, metadata=left, spec={"template": {}}, status={})
    api.fault = lambda call: 403 if (call.verb, call.plural) == ("DELETE", "jobs") else None
    await rig.start()

    assert ready(await rig.look()) == ("Unknown", "Probing")
    assert api.count("DELETE", "jobs") == 1
    assert api.names(JOBS) == [JOB], "what may still be at work is waited for"


def _owner(api: ApiServer) -> dict[str, Any]:
    return owner_reference(
        "Project", "default", api.get(PROJECTS, "default", NAMESPACE)["metadata"]["uid"]
    )
