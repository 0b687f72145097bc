"""What decisions look at, made of what the API server serves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.projects.watches import is_limited_otherwise
from bernstein.controllers.snapshots import (
    agents_at_work,
    limited,
    plan_snapshot,
    proposed,
    task_snapshot,
)
from bernstein.core import projects
from bernstein.core.owners import owner_reference
from bernstein.core.projects import Membership
from bernstein.core.scheduling import occupancy
from bernstein.core.snapshot import TaskSnapshot
from bernstein.kube.client import Client
from bernstein.kube.resource import Key
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.background import Background
from tests.unit.controllers.scheduler.caches_as_they_are import project_snapshot
from tests.unit.core import objects
from tests.unit.core.objects import HEAD, NAMESPACE, NOW, PLAN_UID
from tests.unit.kube.apiserver import ApiServer

PLAN = owner_reference("Plan", "web", PLAN_UID)
LABELS = {"bernstein.dev/plan": "web"}
INTEGRATION = "refs/bernstein/1111222233334444/integration"


@pytest.fixture
def api(api: ApiServer) -> ApiServer:
    api.put(PROJECTS, "default", NAMESPACE, spec=objects.project().spec.dump())
    plan = objects.plan()
    api.put(
        PLANS,
        "web",
        NAMESPACE,
        metadata={"uid": PLAN_UID},
        spec=plan.spec.dump(),
        status=plan.status.dump(),
    )
    return api


def apply(api: ApiServer, name: str = "work", **metadata: Any) -> None:
    task = objects.task(name, plan=None)
    api.put(TASKS, name, NAMESPACE, metadata=metadata, spec=task.spec.dump(), status={})


async def synced(client: Client, background: Background) -> Caches:
    caches = Caches(client)
    for informer in caches.informers:
        background.start(informer.run())
        await informer.synced()
    return caches


async def of_task(caches: Caches) -> TaskSnapshot:
    snapshot = await task_snapshot(caches, Key(NAMESPACE, "work"), NOW)
    assert snapshot is not None
    return snapshot


async def test_a_plans_task_stays_its_own_without_its_label(
    api: ApiServer, client: Client, background: Background
) -> None:
    apply(api, ownerReferences=[PLAN])
    snapshot = await of_task(await synced(client, background))

    assert snapshot.plan is not None
    assert snapshot.target_ref == INTEGRATION


async def test_a_label_makes_no_task_a_plans(
    api: ApiServer, client: Client, background: Background
) -> None:
    apply(api, labels=LABELS)
    snapshot = await of_task(await synced(client, background))

    assert (snapshot.plan, snapshot.plan_missing) == (None, False)
    assert snapshot.target_ref == "refs/heads/main"


async def test_a_task_whose_plan_was_made_anew_has_none(
    api: ApiServer, client: Client, background: Background
) -> None:
    apply(api, ownerReferences=[PLAN | {"uid": "an-older-one"}])
    snapshot = await of_task(await synced(client, background))

    assert (snapshot.plan, snapshot.plan_missing) == (None, True)


async def test_a_plan_counts_the_tasks_that_it_controls_and_no_others(
    api: ApiServer, client: Client, background: Background
) -> None:
    apply(api, "own", ownerReferences=[PLAN])
    apply(api, "labelled", labels=LABELS)
    apply(api, "claimed", ownerReferences=[PLAN | {"controller": False}])
    caches = await synced(client, background)
    plan = caches.plans.get(Key(NAMESPACE, "web"))
    assert plan is not None

    assert list((await plan_snapshot(caches, plan, NOW)).tasks) == ["own"]


def wrote(api: ApiServer, name: str, **status: Any) -> None:
    spec = objects.task(name, plan=None).spec.dump()
    spec |= {"changes": "none", "produces": {"plan": {"name": "web"}}}
    api.put(TASKS, name, NAMESPACE, spec=spec, status=status)


@pytest.mark.parametrize(
    ("label", "status", "written_by"),
    [
        ("goal", {"state": "Closed", "produced": {"plan": "web"}}, "goal"),
        ("other", {"state": "Closed", "produced": {"plan": "web"}}, "goal"),
        (None, {"state": "Closed", "produced": {"plan": "web"}}, "goal"),
        # The Plan is made a moment before the status says so.
        ("goal", {"state": "Done"}, "goal"),
        ("goal", {"state": "Closed", "produced": {"plan": "limits"}}, None),
        ("goal", {"state": "InProgress"}, None),
    ],
)
async def test_a_plan_is_an_agents_where_the_status_of_a_task_says_so_whatever_its_label(
    api: ApiServer,
    client: Client,
    background: Background,
    label: str | None,
    status: dict[str, Any],
    written_by: str | None,
) -> None:
    own = {"uid": PLAN_UID} | ({"labels": {"bernstein.dev/task": label}} if label else {})
    spec = objects.plan(begun=False).spec.dump()
    api.put(PLANS, "web", NAMESPACE, metadata=own, spec=spec, status={})
    wrote(api, "goal", **status)
    apply(api, "other")
    caches = await synced(client, background)
    plan = caches.plans.get(Key(NAMESPACE, "web"))
    assert plan is not None

    assert (await plan_snapshot(caches, plan, NOW)).written_by == written_by


async def test_a_project_that_was_made_again_is_not_the_one_that_a_plan_began_under(
    api: ApiServer, client: Client, background: Background
) -> None:
    begun = objects.plan().status.dump() | {"project": "default", "projectUid": "an-older-one"}
    plan = objects.plan().spec.dump()
    api.put(PLANS, "web", NAMESPACE, metadata={"uid": PLAN_UID}, spec=plan, status=begun)
    apply(api, ownerReferences=[PLAN])
    caches = await synced(client, background)
    of_plan = caches.plans.get(Key(NAMESPACE, "web"))
    assert of_plan is not None

    for snapshot in (await of_task(caches), await plan_snapshot(caches, of_plan, NOW)):
        assert snapshot.project is None
        assert snapshot.project_problem is not None
        assert snapshot.project_problem.reason == "ProjectGone"


@pytest.mark.parametrize(("uid", "running"), [("own", 1), ("deleted", 0)])
async def test_a_task_that_began_under_a_deleted_project_of_the_same_name_does_not_count(
    api: ApiServer, client: Client, background: Background, uid: str, running: int
) -> None:
    project = api.get(PROJECTS, "default", NAMESPACE)["metadata"]["uid"]
    status = objects.with_session(
        TaskState.IN_PROGRESS, project="default", project_uid=project if uid == "own" else uid
    )
    task = objects.task("work", plan=None)
    api.put(TASKS, "work", NAMESPACE, spec=task.spec.dump(), status=status.dump())

    assert counted(await synced(client, background)) == running


def counted(caches: Caches) -> int:
    """The Project's agents at work, which are those of its members."""
    snapshot = project_snapshot(caches, Key(NAMESPACE, "default"))
    assert snapshot is not None
    found = agents_at_work(caches, snapshot.project)
    assert found == sum(occupancy.is_active(task) for task in snapshot.members)
    return found


async def test_agents_at_work_are_counted_without_a_look_at_all_other_tasks(
    api: ApiServer, client: Client, background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the Plan's Tasks one is at work, one without a Plan, and one of another Project."""
    for number in range(30):
        apply(api, f"waits-{number}", ownerReferences=[PLAN])
    at_work = objects.with_session(TaskState.IN_PROGRESS).dump()
    for name, owners, ref in (
        ("of-plan", [PLAN], None),
        ("alone", [], "default"),
        ("elsewhere", [], "other"),
    ):
        spec = objects.task(name, plan=None, projectRef=ref).spec.dump()
        meta = {"ownerReferences": owners}
        api.put(TASKS, name, NAMESPACE, metadata=meta, spec=spec, status=at_work)
    api.put(PROJECTS, "other", NAMESPACE, spec=objects.project("other").spec.dump())
    caches = await synced(client, background)
    assert counted(caches) == 2

    asked: list[str] = []
    of_task = projects.of_task

    def noted(task: Task, *more: Any) -> Membership:
        asked.append(task.metadata.name)
        return of_task(task, *more)

    monkeypatch.setattr(projects, "of_task", noted)
    project = caches.projects.get(Key(NAMESPACE, "default"))
    assert project is not None
    assert agents_at_work(caches, project) == 2
    assert sorted(asked) == ["alone", "elsewhere", "of-plan"]


@pytest.mark.parametrize(
    ("namespace", "owner"),
    [
        ("elsewhere", PLAN),
        (NAMESPACE, PLAN | {"apiVersion": "example.com/v1"}),
        (NAMESPACE, PLAN | {"apiVersion": "Bernstein.dev/v1alpha1"}),
        (NAMESPACE, PLAN | {"kind": "Project"}),
        (NAMESPACE, PLAN | {"controller": False}),
    ],
)
async def test_a_plans_uid_alone_makes_no_task_its_own(
    api: ApiServer, client: Client, background: Background, namespace: str, owner: dict[str, Any]
) -> None:
    apply(api, "mine", ownerReferences=[PLAN])
    spec = objects.task("mine", plan=None).spec.dump()
    name = "mine" if namespace != NAMESPACE else "forged"
    api.put(TASKS, name, namespace, metadata={"ownerReferences": [owner]}, spec=spec, status={})
    caches = await synced(client, background)
    plan = caches.plans.get(Key(NAMESPACE, "web"))
    assert plan is not None

    found = caches.tasks.of_plan(plan.metadata)

    assert [(t.metadata.namespace, t.metadata.name) for t in found.values()] == [
        (NAMESPACE, "mine")
    ]


async def test_pull_requests_are_watched_of_plans_and_of_tasks(
    api: ApiServer, client: Client, background: Background
) -> None:
    def opened(number: int) -> dict[str, Any]:
        pull = {"number": number, "url": "https://git.example", "state": "Open", "sha": HEAD}
        delivery = {"state": "PullRequestOpen", "onto": "refs/heads/main", "pullRequest": pull}
        return {"delivery": delivery, "project": "default"}

    task = objects.task(plan=None).spec.dump()
    api.put(TASKS, "work", NAMESPACE, metadata={}, spec=task, status=opened(1) | {"state": "Done"})
    closed = opened(2) | {"state": "Closed", "endedAt": NOW.isoformat()}
    api.put(TASKS, "over", NAMESPACE, metadata={}, spec=task, status=closed)
    anew = opened(4) | {"state": "Done"}
    anew["delivery"] = anew["delivery"] | {"state": "Pending"}
    api.put(TASKS, "anew", NAMESPACE, metadata={}, spec=task, status=anew)
    plan, meta = objects.plan(), {"uid": PLAN_UID}
    status = plan.status.dump() | opened(3)
    api.put(PLANS, "web", NAMESPACE, metadata=meta, spec=plan.spec.dump(), status=status)
    caches = await synced(client, background)
    project = caches.projects.get(Key(NAMESPACE, "default"))
    assert project is not None

    known = [SeenPullRequest(number, "Open", HEAD, "main") for number in (1, 3, 4)]
    found = proposed(caches, project)
    assert {name: sorted(each, key=lambda e: e.number) for name, each in found.items()} == {
        "app": known
    }


async def test_a_limit_of_the_forge_is_known_as_the_last_of_plans_and_tasks_was_told(
    api: ApiServer, client: Client, background: Background
) -> None:
    def told(hours: int, reason: str = "ForgeRateLimited") -> dict[str, Any]:
        until = NOW + timedelta(hours=hours)
        waiting = {"reason": reason, "message": "m", "since": NOW.isoformat()}
        waiting |= {"until": until.isoformat(), "scope": "Repository"}
        return {"project": "default", "waiting": waiting}

    task = objects.task(plan=None).spec.dump()
    api.put(TASKS, "work", NAMESPACE, metadata={}, spec=task, status=told(1) | {"state": "Done"})
    other = told(9, "ForgeTimeout") | {"state": "Done"}
    api.put(TASKS, "other", NAMESPACE, metadata={}, spec=task, status=other)
    plan, meta = objects.plan(), {"uid": PLAN_UID}
    status = plan.status.dump() | told(2)
    api.put(PLANS, "web", NAMESPACE, metadata=meta, spec=plan.spec.dump(), status=status)
    caches = await synced(client, background)
    project = caches.projects.get(Key(NAMESPACE, "default"))
    assert project is not None

    assert limited(caches, project) == {"app": NOW + timedelta(hours=2)}


@pytest.mark.parametrize("row", [True, False])
@pytest.mark.parametrize("by", ["delivery", "feedback"])
async def test_a_limit_is_known_that_was_met_where_it_was_read_or_closed_alone(
    api: ApiServer, client: Client, background: Background, by: str, row: bool
) -> None:
    until = NOW + timedelta(hours=3)
    told: dict[str, Any] = {"reason": "ForgeRateLimited", "until": until.isoformat()}
    met = told if by == "delivery" else {"feedback": told | {"failures": 1}}
    delivery: dict[str, Any] = {
        "delivery": {"state": "PullRequestOpen", "onto": "refs/heads/main"} | met
    }
    if row:
        delivery = {"repositories": [{"name": "app"} | delivery]}
    status = objects.plan().status.dump() | {"project": "default"} | delivery
    spec = objects.plan().spec.dump()
    api.put(PLANS, "web", NAMESPACE, metadata={"uid": PLAN_UID}, spec=spec, status=status)
    caches = await synced(client, background)
    project = caches.projects.get(Key(NAMESPACE, "default"))
    assert project is not None

    assert limited(caches, project) == {"app": until}
    other, after = {"status": objects.plan().status.dump()}, {"status": status}
    assert [is_limited_otherwise(old, after) for old in (None, {}, other)] == [True] * 3
    assert not is_limited_otherwise(after, after)
    assert not is_limited_otherwise(after, other)
    assert not is_limited_otherwise(after, None)
