"""What the caches show to have ended is offered once, by the process that leads."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.controllers.traces.tracer import Tracer
from bernstein.core import labels, owners
from bernstein.core.traces.span import Span, span_id, trace_id
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.resource import JOBS
from bernstein.resources import PLANS, SESSIONS, TASKS
from tests.background import Background, eventually
from tests.model.traces.collected import Collected
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, PLAN_UID, at, status
from tests.unit.core.traces.histories import ONCE, check, closed_task, ended_plan, moves, run
from tests.unit.kube.apiserver import ApiServer

HOUR = 3600.0


class Tracing(Rig):
    """A tracer that sends at once, at a time of day that a test sets."""

    controller: Any

    def __init__(self, api: ApiServer, client: Client, background: Background) -> None:
        super().__init__(api, client, background)
        self.collected = Collected()
        self.seconds = 60.0

    def put(self, resource: Any, obj: Any, **more: Any) -> None:
        dumped = obj.dump()
        meta = {**dumped["metadata"], "creationTimestamp": at(-60).isoformat(), **more}
        for field in ("name", "namespace", "resourceVersion"):
            meta.pop(field, None)
        content = {"spec": dumped["spec"], "status": dumped["status"]}
        self.api.put(resource, obj.metadata.name, NAMESPACE, metadata=meta, **content)

    async def lead(self) -> None:
        await self.start()
        clock = Clock(now=lambda: at(self.seconds), sleep=lambda _: _soon())
        tracer = Tracer(self.caches, self.collected, self.metrics, clock)
        self._background.start(tracer.run())

    async def until(self, name: str) -> Span:
        """The first span of that name, once it is sent."""
        await eventually(lambda: name in self.collected.names())
        return next(span for span in self.collected.spans if span.name == name)


async def _soon() -> None:
    await asyncio.sleep(0)


@pytest.fixture
def tracing(api: ApiServer, client: Client, background: Background) -> Tracing:
    return Tracing(api, client, background)


def going() -> Task:
    return objects.task(status=status(TaskState.DONE, history=moves(*ONCE[:3])))


async def test_what_ends_is_sent_and_only_that(tracing: Tracing) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, going())
    await tracing.lead()
    tracing.put(TASKS, closed_task())

    await tracing.until("task")
    sent = tracing.collected.names()
    assert sorted(sent) == sorted(
        ["state Open", "state Claimed", "state InProgress", "state Done", "verify", "land", "task"]
    )


async def test_a_change_that_ends_nothing_sends_nothing(tracing: Tracing) -> None:
    tracing.put(TASKS, closed_task(plan=None))
    await tracing.lead()
    await tracing.until("task")
    before = len(tracing.collected.spans)
    again = closed_task(plan=None)
    touched = again.status.model_copy(update={"reports": 3})
    tracing.put(TASKS, again.model_copy(update={"status": touched}))
    tracing.put(
        TASKS,
        closed_task(plan=None).model_copy(
            update={
                "metadata": again.metadata.model_copy(update={"name": "other", "uid": "uid-other"})
            }
        ),
    )

    await eventually(lambda: span_id("uid-other") in {s.span_id for s in tracing.collected.spans})
    assert [s.span_id for s in tracing.collected.spans].count(span_id("uid-work")) == 1
    assert len(tracing.collected.spans) == 2 * before


@pytest.mark.parametrize("anew", [{"round": 1}, {"ref": "refs/bernstein/x/work/s2"}])
async def test_a_verdict_that_follows_another_of_the_same_kind_is_sent(
    tracing: Tracing, anew: dict[str, Any]
) -> None:
    checks = [check("lint", "Failed", ended_at=at(24))]
    rejected = objects.verification(passed=False, checks=checks)
    history = moves(*ONCE[:3])
    tracing.put(TASKS, objects.task(status=objects.done(verification=rejected, history=history)))
    await tracing.lead()
    await tracing.until("verify")
    again = rejected.model_copy(update=anew)
    tracing.put(TASKS, objects.task(status=objects.done(verification=again, history=history)))

    await eventually(lambda: tracing.collected.names().count("verify") == 2)


async def test_what_ended_lately_is_sent_by_who_leads_next(tracing: Tracing) -> None:
    tracing.put(PLANS, ended_plan())
    tracing.put(TASKS, closed_task())
    tracing.put(SESSIONS, run())
    await tracing.lead()

    await tracing.until("plan")
    await tracing.until("task")
    assert (await tracing.until("invoke_agent demo")).trace_id == trace_id(PLAN_UID)


async def test_what_ended_long_ago_is_not_sent_again(tracing: Tracing) -> None:
    tracing.put(PLANS, ended_plan())
    tracing.put(TASKS, closed_task())
    tracing.put(SESSIONS, run())
    tracing.put(TASKS, objects.task("late", plan=None))
    tracing.seconds = HOUR
    await tracing.lead()
    cancelled = status(TaskState.CANCELLED, ended_at=at(HOUR))
    tracing.put(TASKS, objects.task("late", plan=None, status=cancelled))

    await tracing.until("task")
    assert {span.span_id for span in tracing.collected.spans} == {span_id("uid-late")}


async def test_a_plan_that_goes_on_after_its_end_is_sent_with_its_later_end(
    tracing: Tracing,
) -> None:
    tracing.put(PLANS, ended_plan("Failed"))
    await tracing.lead()
    await tracing.until("plan")
    tracing.put(PLANS, objects.plan())
    await eventually(lambda: _goes_on(tracing))
    tracing.put(PLANS, ended_plan(ended_at=at(90)))

    await eventually(lambda: len(tracing.collected.spans) == 2)
    first, second = tracing.collected.spans
    assert first.span_id == second.span_id
    assert (first.end, second.end) == (at(60), at(90))


def _goes_on(tracing: Tracing) -> bool:
    plan = tracing.caches.plans.by_name(NAMESPACE).get("web")
    return plan is not None and plan.status.ended_at is None


async def test_with_a_plan_its_tasks_are_over_that_never_ran(tracing: Tracing) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, objects.task(status=status(TaskState.OPEN)))
    await tracing.lead()
    tracing.put(PLANS, ended_plan("Failed"))

    whole = await tracing.until("task")
    assert (whole.end, whole.error) == (at(60), "PlanEnded")
    tracing.put(TASKS, objects.task(status=status(TaskState.CANCELLED, ended_at=at(70))))
    await eventually(lambda: [s.end for s in tracing.collected.spans][-1] == at(70))
    assert tracing.collected.names().count("task") == 2


async def test_who_leads_next_tells_the_same_of_tasks_that_never_ran(tracing: Tracing) -> None:
    tracing.put(PLANS, ended_plan("Failed"))
    tracing.put(TASKS, objects.task(status=status(TaskState.OPEN)))
    await tracing.lead()

    whole = await tracing.until("task")
    assert (whole.end, whole.error) == (at(60), "PlanEnded")


@pytest.mark.parametrize("plan_first", [True, False])
async def test_a_task_that_was_over_with_its_plan_is_not_sent_again_when_it_is_deleted(
    tracing: Tracing, plan_first: bool
) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, objects.task(status=status(TaskState.OPEN)))
    tracing.put(TASKS, objects.task("late", plan=None))
    await tracing.lead()
    tracing.put(PLANS, ended_plan("Failed"))
    await tracing.until("task")
    tracing.seconds = 90
    if plan_first:
        tracing.api.remove(PLANS, "web", NAMESPACE)
        await eventually(lambda: not tracing.caches.plans.by_name(NAMESPACE))
    tracing.api.remove(TASKS, "work", NAMESPACE)
    tracing.api.remove(TASKS, "late", NAMESPACE)

    await eventually(lambda: span_id("uid-late") in {s.span_id for s in tracing.collected.spans})
    wholes = [span for span in tracing.collected.spans if span.span_id == span_id("uid-work")]
    assert [(span.end, span.error) for span in wholes] == [(at(60), "PlanEnded")]


@pytest.mark.parametrize("plan_first", [True, False])
async def test_with_a_plan_that_is_deleted_at_work_its_tasks_end_once(
    tracing: Tracing, plan_first: bool
) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, going())
    tracing.put(TASKS, objects.task("late", plan=None))
    await tracing.lead()
    await tracing.until("state InProgress")
    first, second = (PLANS, "web"), (TASKS, "work")
    for resource, name in (first, second) if plan_first else (second, first):
        tracing.api.remove(resource, name, NAMESPACE)
        await tracing.until("plan" if resource is PLANS else "task")
    tracing.api.remove(TASKS, "late", NAMESPACE)

    await eventually(lambda: span_id("uid-late") in {s.span_id for s in tracing.collected.spans})
    wholes = [span for span in tracing.collected.spans if span.span_id == span_id("uid-work")]
    assert [(span.end, span.error) for span in wholes] == [(at(60), "Deleted")]


async def test_what_is_deleted_before_its_end_ends_then(tracing: Tracing) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, going())
    await tracing.lead()
    await tracing.until("state InProgress")
    tracing.api.remove(TASKS, "work", NAMESPACE)

    assert (await tracing.until("task")).end == at(60)


async def test_of_what_is_deleted_before_it_was_looked_at_its_parts_are_sent(
    tracing: Tracing, background: Background
) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, going())
    await tracing.start()
    clock = Clock(now=lambda: at(60), sleep=lambda _: _soon())
    tracer = Tracer(tracing.caches, tracing.collected, tracing.metrics, clock)
    tracing.api.remove(TASKS, "work", NAMESPACE)
    await eventually(lambda: not [*tracing.caches.tasks.informer.keys()])
    background.start(tracer.run())

    await tracing.until("task")
    assert "state InProgress" in tracing.collected.names()


async def test_what_is_deleted_after_its_end_is_not_sent_again(tracing: Tracing) -> None:
    tracing.put(TASKS, closed_task(plan=None))
    tracing.put(TASKS, objects.task("late", plan=None))
    await tracing.lead()
    await tracing.until("task")
    tracing.api.remove(TASKS, "work", NAMESPACE)
    tracing.api.remove(TASKS, "late", NAMESPACE)

    await eventually(lambda: tracing.collected.names().count("task") == 2)
    ids = [span.span_id for span in tracing.collected.spans if span.name == "task"]
    assert ids == [span_id("uid-work"), span_id("uid-late")]


def job(name: str, owner: dict[str, Any], *, ended: bool) -> dict[str, Any]:
    own = {labels.MANAGED_BY: labels.MANAGER, labels.JOB: "land"}
    over = {
        "type": "Complete",
        "status": "True",
        "lastTransitionTime": at(50).isoformat(),
    }
    return {
        "metadata": {"labels": own, "ownerReferences": [owner], "uid": f"uid-{name}"},
        "status": {"startTime": at(40).isoformat(), "conditions": [over] if ended else []},
    }


@pytest.mark.parametrize(
    ("kind", "name", "uid"),
    [
        ("Plan", "web", PLAN_UID),
        ("Task", "work", "uid-work"),
        ("AgentSession", "work-s1", "uid-work-s1"),
    ],
)
async def test_a_job_is_part_of_whom_it_was_made_for(
    tracing: Tracing, kind: str, name: str, uid: str
) -> None:
    tracing.put(PLANS, objects.plan())
    tracing.put(TASKS, going())
    tracing.put(SESSIONS, objects.session(state=SessionState.WORKING))
    owner = owners.owner_reference(kind, name, uid)
    tracing.api.put(JOBS, "j", NAMESPACE, **job("j", owner, ended=False))
    await tracing.lead()
    tracing.api.put(JOBS, "j", NAMESPACE, **job("j", owner, ended=True))

    sent = await tracing.until("job land")
    assert (sent.trace_id, sent.parent_id) == (trace_id(PLAN_UID), span_id(uid))
    assert (sent.start, sent.end) == (at(40), at(50))


async def test_a_job_of_another_of_that_name_or_of_a_project_is_none(tracing: Tracing) -> None:
    tracing.put(TASKS, going())
    strangers = [("Task", "work", "uid-before"), ("Project", "default", "uid-default")]
    for number, (kind, name, uid) in enumerate(strangers):
        owner = owners.owner_reference(kind, name, uid)
        tracing.api.put(JOBS, f"s{number}", NAMESPACE, **job(f"s{number}", owner, ended=True))
    own = owners.owner_reference("Task", "work", "uid-work")
    tracing.api.put(JOBS, "z", NAMESPACE, **job("z", own, ended=True))
    await tracing.lead()

    await tracing.until("job land")
    assert tracing.collected.names().count("job land") == 1
