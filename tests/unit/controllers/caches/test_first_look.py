"""Of what has ended a new leader looks at those as a whole of which something may be left to be
done, and at no others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bernstein.controllers.sessions.controller import SessionController
from bernstein.controllers.tasks.controller import TaskController
from bernstein.core import labels, owners
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.reconcile import Due
from bernstein.kube.resource import JOBS, PODS, Key, Object, Resource
from bernstein.resources import PROJECTS, SESSIONS, TASKS
from tests.background import Background
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW
from tests.unit.core.sessions.test_dead import served as dead_session
from tests.unit.core.tasks.closed.test_closed import WEEK
from tests.unit.core.tasks.closed.test_closed import served as closed_task
from tests.unit.kube.apiserver import ApiServer

TASK, SESSION = Key(NAMESPACE, "work"), Key(NAMESPACE, "work-s1")
VERIFIED = "Verified"


class Leader(Rig):
    """A replica that is about to lead, beside a Closed Task and its session."""

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.context = replace(self.context, clock=Clock(now=lambda: NOW))
        self.put(PROJECTS, "default", spec=objects.project().spec.dump())

    def put(self, kind: Resource, name: str, metadata: Object | None = None, **parts: Any) -> None:
        meta = {"uid": f"uid-{name}", "generation": 1, **(metadata or {})}
        self.api.put(kind, name, NAMESPACE, metadata=meta, **parts)

    def task(self, **told: Any) -> None:
        """Closed, with more in its status."""
        made = closed_task()
        self.put(TASKS, "work", spec=made["spec"], status={**made["status"], **told})

    def session(self, judged: str | None = VERIFIED) -> None:
        made = dead_session(judged=judged)
        spec = {name: said for name, said in made["spec"].items() if name != "planRef"}
        owner = {"ownerReferences": [owners.owner_reference("Task", "work", "uid-work")]}
        self.put(SESSIONS, "work-s1", owner, spec=spec, status=made["status"])

    def pod(self, owner: str, **more: str) -> None:
        own = {labels.MANAGED_BY: labels.MANAGER, labels.OWNER_UID: owner, **more}
        self.put(PODS, "pod", {"labels": own}, status={"phase": "Running"})

    def job(self, kind: str, owner: str) -> None:
        of = owners.owner_reference(kind, owner, f"uid-{owner}")
        self.put(
            JOBS,
            "job",
            {"labels": {labels.MANAGED_BY: labels.MANAGER}, "ownerReferences": [of]},
            status={},
        )

    async def due(self) -> tuple[float, float]:
        """In how many seconds Task and session are looked at."""
        await self.start()
        return self.of_tasks()(TASK), self.of_sessions()(SESSION)

    def of_tasks(self) -> Due:
        return TaskController(self.context).first_look()

    def of_sessions(self) -> Due:
        return SessionController(self.context).first_look()


@pytest.fixture
def leader(api: ApiServer, client: Client, background: Background) -> Leader:
    found = Leader(api, client, background)
    found.task()
    found.session()
    return found


async def test_of_what_has_ended_and_was_written_down_nothing_is_looked_at_as_a_whole(
    leader: Leader,
) -> None:
    assert await leader.due() == (WEEK - 100, math.inf)


Change = Callable[[Leader], None]


@pytest.mark.parametrize(
    ("change", "concerns"),
    [
        (lambda leader: leader.task(conditions=[]), (True, True)),
        (lambda leader: leader.task(state="Cancelled"), (True, True)),
        (lambda leader: leader.task(attempts=[]), (False, True)),
        (lambda leader: leader.session(judged=None), (False, True)),
        (lambda leader: leader.api.remove(TASKS, "work", NAMESPACE), (True, False)),
        (lambda leader: leader.pod("uid-work"), (True, False)),
        (lambda leader: leader.pod("uid-work-s1"), (False, True)),
        (
            lambda leader: leader.pod(
                "another", **{labels.JOB: "agent", labels.SESSION: "work-s1"}
            ),
            (False, True),
        ),
        (lambda leader: leader.job("Task", "work"), (True, False)),
        (lambda leader: leader.job("AgentSession", "work-s1"), (False, True)),
    ],
    ids=[
        "a Task that was not told that it is over",
        "a Task that was cancelled",
        "a Task that does not say how it judged the session",
        "a session that does not say how it was judged",
        "a session whose Task is gone",
        "a pod of the Task",
        "a pod of the session",
        "a pod of its agent that somebody else owns",
        "a Job of the Task",
        "a Job of the session",
    ],
)
async def test_that_is_looked_at_of_which_something_may_be_left_to_be_done(
    leader: Leader, change: Change, concerns: tuple[bool, bool]
) -> None:
    change(leader)

    assert tuple(seconds == 0 for seconds in await leader.due()) == concerns


async def test_a_session_whose_task_is_another_one_of_that_name_is_not_judged_by_it(
    leader: Leader,
) -> None:
    made = closed_task()
    leader.put(TASKS, "work", {"uid": "uid-another"}, spec=made["spec"], status=made["status"])
    leader.session(judged=None)

    _, of_session = await leader.due()
    assert math.isinf(of_session)


async def test_how_a_task_that_is_gone_has_judged_is_not_that_of_another_one_of_its_name(
    leader: Leader,
) -> None:
    """A replica may hear of Tasks that come and go for weeks before it leads."""
    await leader.start()
    leader.api.remove(TASKS, "work", NAMESPACE)
    await leader.caches.tasks.informer.refresh(TASK)
    made, dead = closed_task(), dead_session(judged=None)
    failed = {**made["status"], "state": "Failed"}
    leader.put(TASKS, "work", {"uid": "uid-another"}, spec=made["spec"], status=failed)
    spec = {**dead["spec"], "taskRef": {"name": "work", "uid": "uid-another"}}
    leader.put(SESSIONS, "work-s1", spec=spec, status=dead["status"])
    await leader.caches.tasks.informer.refresh(TASK)
    await leader.caches.sessions.informer.refresh(SESSION)

    assert leader.of_sessions()(SESSION) == 0, "how that one has judged is not known here"


async def test_of_tasks_that_are_gone_nothing_is_kept(leader: Leader) -> None:
    await leader.start()
    leader.api.remove(TASKS, "work", NAMESPACE)
    leader.api.remove(SESSIONS, "work-s1", NAMESPACE)
    await leader.caches.tasks.informer.refresh(TASK)
    await leader.caches.sessions.informer.refresh(SESSION)

    assert leader.caches.first_look.take_tasks() == {}
    assert leader.caches.first_look.take_sessions() == ({}, {})


async def test_what_has_changed_since_it_was_listed_is_known_as_it_is_now(leader: Leader) -> None:
    leader.task(conditions=[])
    await leader.start()
    leader.task(conditions=closed_task()["status"]["conditions"])
    await leader.caches.tasks.informer.refresh(TASK)

    assert leader.of_tasks()(TASK) == WEEK - 100


async def test_what_has_changed_since_it_was_taken_is_looked_at_as_a_whole(leader: Leader) -> None:
    await leader.start()
    of_tasks, of_sessions = leader.of_tasks(), leader.of_sessions()
    leader.task(endedAt="2029-12-01T00:00:00Z")
    leader.session(judged=None)
    await leader.caches.tasks.informer.refresh(TASK)
    await leader.caches.sessions.informer.refresh(SESSION)

    assert (of_tasks(TASK), of_sessions(SESSION)) == (0, 0)


async def test_it_is_taken_once(leader: Leader) -> None:
    await leader.start()
    for again in (False, True):
        assert (leader.of_tasks()(TASK) == 0) is again
        assert (leader.of_sessions()(SESSION) == 0) is again

    leader.task(endedAt="2029-12-01T00:00:00Z")
    await leader.caches.tasks.informer.refresh(TASK)
    assert leader.caches.first_look.take_tasks() == {}
