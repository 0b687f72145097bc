"""Pods say for people what Plan, Task and session they are for; nothing is decided by that."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.controllers.caches.indexes import session_of_pod
from bernstein.controllers.jobs import agent
from bernstein.controllers.jobs import pod as pod_builder
from bernstein.controllers.plans.watches import of_own_pod
from bernstein.controllers.sessions.watches import of_agents_pod
from bernstein.controllers.tasks.controller import TaskController
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.actions import RunPrepare
from bernstein.kube.resource import JOBS, Key, Object
from tests.unit.controllers.jobs import built
from tests.unit.controllers.test_job_actions import context as context
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, PLAN_UID
from tests.unit.kube.apiserver import ApiServer

LONG = "a-plan-whose-name-is-as-long-as-the-name-of-a-plan-can-ever-be-1"
PREPARE = RunPrepare("work-s1-prepare-1", "refs/x", "1" * 40, "refs/y", "refs/z", "Do work")


def labels_of(job: Object) -> dict[str, Any]:
    """Those of the Job; its pod has the same."""
    own: dict[str, Any] = job["metadata"]["labels"]
    assert job["spec"]["template"]["metadata"]["labels"] == own
    return own


def test_the_pod_of_an_agent_names_plan_task_and_session() -> None:
    own = labels_of(built.agent_job(built.PLAIN, built.PLAIN_SETTINGS))

    assert (own[labels.PLAN], own[labels.TASK], own[labels.SESSION]) == ("web", "work", "work-s1")


def test_the_pod_of_an_agent_whose_task_has_no_plan_names_none() -> None:
    session = objects.session()
    alone = session.model_copy(update={"spec": session.spec.model_copy(update={"plan_ref": None})})
    (entry,) = built.PLAIN.spec.agents

    job = agent.agent_job(alone, built.PLAIN, entry, "Do work\n", built.PLAIN_SETTINGS)

    assert labels.PLAN not in labels_of(job)


@pytest.mark.parametrize("plan", ["web", LONG, "Not a Label!"])
async def test_the_pod_of_a_tasks_job_names_plan_task_and_session(
    api: ApiServer, context: Context, plan: str
) -> None:
    snapshot = objects.snapshot(
        objects.task(status=objects.done()),
        plan=objects.plan(plan),
        project=objects.project(network={"policy": "Unmanaged"}),
    )

    await TaskController(context)._execute(Key(NAMESPACE, "work"), snapshot, PREPARE)

    own = labels_of(api.get(JOBS, PREPARE.job, NAMESPACE))
    expected = (names.label_value(plan), "work", "work-s1")
    assert (own[labels.PLAN], own[labels.TASK], own[labels.SESSION]) == expected
    assert all(len(value) <= names.LABEL_LIMIT for value in own.values())


async def test_a_job_that_an_older_release_made_without_them_is_taken_over(
    api: ApiServer, context: Context
) -> None:
    snapshot = objects.snapshot(
        objects.task(status=objects.done()),
        project=objects.project(network={"policy": "Unmanaged"}),
    )
    older = built.follow_up(PREPARE, built.TASK, built.PLAIN, built.PLAIN_SETTINGS)
    meta = {**older["metadata"], "annotations": {labels.SPEC_HASH: "of then"}}
    api.put(JOBS, PREPARE.job, NAMESPACE, metadata=meta, spec=older["spec"])
    before = api.get(JOBS, PREPARE.job, NAMESPACE)

    await TaskController(context)._execute(Key(NAMESPACE, "work"), snapshot, PREPARE)

    assert api.get(JOBS, PREPARE.job, NAMESPACE) == before


def test_labels_that_a_job_had_before_stay_as_they_were() -> None:
    job = built.follow_up(PREPARE, built.TASK, built.PLAIN, built.PLAIN_SETTINGS)
    forged = {labels.PROJECT: "another", labels.JOB: "land"}

    assert pod_builder.also_for(job, forged) == job


def pod(**own: str) -> Object:
    return {"metadata": {"namespace": NAMESPACE, "name": "p", "labels": own}}


def test_the_pod_of_a_tasks_job_wakes_neither_its_plan_nor_its_session() -> None:
    check = pod(
        **{labels.JOB: "check", labels.TASK: "work", labels.PLAN: "web", labels.SESSION: "work-s1"}
    )
    begin = pod(**{labels.JOB: "begin", labels.PLAN: "web", labels.OWNER_UID: PLAN_UID})
    agents = pod(**{labels.JOB: "agent", labels.TASK: "work", labels.SESSION: "work-s1"})

    assert (list(of_own_pod(check)), list(of_agents_pod(check))) == ([], [])
    assert session_of_pod(check) == ()
    assert list(of_own_pod(begin)) == [Key(NAMESPACE, "web")]
    assert list(of_agents_pod(agents)) == [Key(NAMESPACE, "work-s1")]
    assert list(of_own_pod(agents)) == []
