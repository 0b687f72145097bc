"""How to have the work of what was cancelled."""

from __future__ import annotations

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import kept_work
from bernstein.cli.cluster import Cluster
from bernstein.core import labels
from bernstein.kube.client import Client
from bernstein.resources import PROJECTS, SESSIONS
from tests.unit.cli.scenes import SHA, plan
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer

REF = "refs/bernstein/x/integration"
LEFT = "refs/bernstein/1111222233334444/work/s1"
URL = objects.project().spec.repository.url


def cancelled() -> Plan:
    begun = {"ref": REF, "target": "refs/heads/main", "targetSha": SHA, "sha": SHA, "tree": SHA}
    found = plan(integration=begun, project="default", phase="Cancelled")
    spec = found.spec.dump() | {"cancel": {"reason": "enough"}}
    return Plan.model_validate(found.dump() | {"spec": spec})


def task(state: TaskState = TaskState.CANCELLED) -> Task:
    found = objects.status(state, project="default")
    return objects.task(status=found, cancel={"reason": "enough"})


def there(api: ApiServer) -> None:
    """The Project, and a session that has saved its work."""
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    saved = objects.dead("Cancelled", work=objects.work()).dump()
    saved["metadata"]["labels"] = {labels.TASK: "work"}
    api.put(SESSIONS, "work-s1", "team", **saved)


async def test_what_landed_and_what_each_cancelled_task_left_can_be_fetched(
    api: ApiServer, client: Client
) -> None:
    there(api)

    left = await kept_work.of_plan(Cluster(client, "team"), cancelled(), [task()])

    assert left == [
        f"What has landed is kept: `git fetch {URL} {REF}`.",
        f"What 'work' left is kept: `git fetch {URL} {LEFT}`.",
    ]


async def test_a_task_that_was_cancelled_alone_names_its_ref(
    api: ApiServer, client: Client
) -> None:
    there(api)

    left = await kept_work.of_task(Cluster(client, "team"), task())

    assert left == [f"What 'work' left is kept: `git fetch {URL} {LEFT}`."]


async def test_what_was_not_cancelled_or_has_landed_left_nothing(
    api: ApiServer, client: Client
) -> None:
    there(api)
    cluster = Cluster(client, "team")

    assert await kept_work.of_plan(cluster, plan(), [objects.task()]) == []
    assert await kept_work.of_task(cluster, task(TaskState.CLOSED)) == []


async def test_who_may_read_no_projects_and_sessions_is_told_what_the_plan_says(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda call: 403 if call.plural in ("projects", "agentsessions") else None

    left = await kept_work.of_plan(Cluster(client, "team"), cancelled(), [task()])

    assert left == [f"What has landed is kept: `git fetch origin {REF}`."]
