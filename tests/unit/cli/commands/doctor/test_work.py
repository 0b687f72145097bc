"""What `bernstein doctor` says of work that stands still."""

from __future__ import annotations

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor import work
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.kube.client import Client
from bernstein.resources import APPROVALS, TASKS
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, held, status
from tests.unit.kube.apiserver import ApiServer

PULL = objects.waits(
    "ImagePullFailed",
    "image 'demoo' cannot be pulled. Remedy: Correct spec.agents[0].image.",
    needs_person=True,
)


def stalled(name: str, **more: object) -> Task:
    found = status(TaskState.CLAIMED, waiting=PULL, **more)
    return objects.task(name, status=found)


def told(*subjects: Plan | Task) -> list[tuple[str, str, str]]:
    found = work.by_cause(subjects)
    return [(each.outcome.value, each.message, each.remedy) for each in found]


def test_what_stands_still_is_told_with_its_remedy() -> None:
    assert told(stalled("work"), objects.task("fine", status=status(TaskState.OPEN))) == [
        (
            "bad",
            "Task 'work' needs a person (ImagePullFailed): image 'demoo' cannot be pulled.",
            "Correct spec.agents[0].image.",
        )
    ]


def test_what_says_no_remedy_is_shown_by_a_command() -> None:
    waiting = objects.waits("AgentFailed", "it gave up", needs_person=True)
    plan = objects.plan("web", status=PlanStatus(waiting=waiting))
    task = objects.task("work", status=status(TaskState.FAILED, waiting=waiting))

    assert [r for *_, r in told(task)] == ["`bernstein logs work` says why"]
    assert [r for *_, r in told(plan)] == ["`bernstein status web` says why"]


def test_what_is_tried_again_although_somebody_can_help_is_told_too() -> None:
    pause = objects.waits("GateErrored", "'no_foo' could not run. Remedy: Put it there.")
    limited = objects.waits("UsageLimited", "used up").model_copy(update={"until": objects.at(9)})
    pause = pause.model_copy(update={"until": objects.at(9)})
    tasks = [
        objects.task(name, status=status(TaskState.DONE, waiting=waiting))
        for name, waiting in (("a", pause), ("b", pause), ("c", limited))
    ]

    (found,) = work.paused([*tasks, stalled("work")])

    assert (found.outcome.value, found.message, found.remedy) == (
        "warning",
        "Task 'a', Task 'b' are tried again by themselves: GateErrored: 'no_foo' could not run.",
        "Put it there.",
    )


def test_many_that_stand_still_for_one_reason_are_one_finding() -> None:
    ((_, text, _),) = told(*(stalled(f"t{number}") for number in range(5)))

    assert text.startswith("Task 't0', Task 't1', Task 't2' and 2 more need a person")


def test_a_remedy_names_the_plan_that_it_is_about() -> None:
    remedy = "Raise it: `kubectl edit bplan NAME`."
    waiting = objects.waits("BudgetExceeded", f"spent. Remedy: {remedy}", needs_person=True)
    plan = objects.plan("web", status=PlanStatus(waiting=waiting))
    of_web = objects.task("a", plan="web", status=status(TaskState.OPEN, waiting=waiting))
    other = objects.plan("api", status=PlanStatus(waiting=waiting))

    assert [r for *_, r in told(plan)] == ["Raise it: `kubectl edit bplan web`."]
    assert [r for *_, r in told(of_web)] == ["Raise it: `kubectl edit bplan web`."]
    assert [r for *_, r in told(plan, other)] == [remedy]


def invalid(name: str, cause: str) -> Plan:
    waiting = objects.waits("PlanInvalid", f"{cause}. Remedy: Correct it.", needs_person=True)
    return objects.plan(name, status=PlanStatus(waiting=waiting))


def test_what_stands_still_for_one_reason_but_another_cause_is_told_by_itself() -> None:
    causes = {"cyc": "Cycle detected", "mm": "no model 'opsu'", "c2": "Cycle detected"}

    found = work.by_cause(invalid(name, cause) for name, cause in causes.items())

    assert [(each.subject, each.message) for each in found] == [
        ("cyc", "Plan 'cyc', Plan 'c2' need a person (PlanInvalid): Cycle detected."),
        ("mm", "Plan 'mm' needs a person (PlanInvalid): no model 'opsu'."),
    ]


def test_of_many_causes_for_one_reason_the_first_are_told_and_how_many_more_there_are() -> None:
    found = work.by_cause(invalid(f"p{n}", f"cause {n}") for n in range(20))

    assert len(found) == 6
    assert found[-2].message == "Plan 'p4' needs a person (PlanInvalid): cause 4."
    assert found[-1].message == (
        "Plan 'p5', Plan 'p6', Plan 'p7' and 12 more need a person (PlanInvalid), for other causes"
    )
    assert found[-1].remedy == "`bernstein status p5` says why"
    assert found[-1].subject == "p5"


@pytest.mark.parametrize(
    "fine",
    [
        stalled("ended", ended_at=NOW),
        objects.task("later", status=status(TaskState.OPEN, waiting=held("RateLimited", NOW))),
        objects.task("new"),
    ],
    ids=["ended", "tried again", "new"],
)
def test_what_has_ended_or_goes_on_by_itself_is_good(fine: Task) -> None:
    assert told(fine) == []


async def test_where_nothing_stands_still_or_is_asked_nobody_is_needed(
    api: ApiServer, client: Client
) -> None:
    api.put(TASKS, "work", NAMESPACE, **objects.task("work").dump())

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert (found.outcome, found.message) == (
        Outcome.GOOD,
        f"nothing in namespace '{NAMESPACE}' needs a person",
    )


async def test_plans_and_tasks_of_the_namespace_are_looked_at(
    api: ApiServer, client: Client
) -> None:
    for namespace in (NAMESPACE, "another"):
        obj = stalled(f"in-{namespace}").dump()
        obj["metadata"]["namespace"] = namespace
        api.put(TASKS, f"in-{namespace}", namespace, **obj)

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert found.subject == f"in-{NAMESPACE}"


def ask(api: ApiServer, name: str, **more: object) -> None:
    """A question about the work of a Task."""
    spec = {
        "subject": {"kind": "Task", "name": name, "uid": f"uid-{name}"},
        "asks": {"attempt": 1, "digest": "d" * 64},
    }
    made = {"creationTimestamp": NOW.isoformat()}
    status = {"state": "Pending"}
    api.put(APPROVALS, f"{name}-1", NAMESPACE, metadata=made, spec=spec | more, status=status)


async def test_what_waits_for_a_decision_is_no_fault_but_told_with_the_command(
    api: ApiServer, client: Client
) -> None:
    ask(api, "work")
    ask(api, "decided", decision="Approve", decidedBy="ann")

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert (found.check, found.outcome, found.subject) == ("work", Outcome.WARNING, "work")
    assert found.message == "Task 'work' waits for a person's decision"
    assert found.remedy == "`bernstein pending` shows it; decide with `bernstein approve work`"


async def test_the_command_for_work_without_a_gate_has_room_for_why(
    api: ApiServer, client: Client
) -> None:
    ask(api, "work", asks={"attempt": 1, "digest": "d" * 64, "gate": "no_foo"})

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert (found.remedy or "").endswith('decide with `bernstein approve work --reason "…"`')


async def test_several_that_wait_for_a_decision_are_one_line(
    api: ApiServer, client: Client
) -> None:
    for number in range(5):
        ask(api, f"t{number}")

    (found,) = await work.look(Cluster(client, NAMESPACE))

    told = "Task 't0', Task 't1', Task 't2' and 2 more wait for a person's decision"
    assert found.message == told
    assert found.remedy == "`bernstein pending` shows them; decide with `bernstein approve NAME`"


async def test_who_may_not_read_approvals_is_not_told_that_nobody_is_needed(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda call: 403 if call.plural == "approvals" else None

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert found.outcome is Outcome.UNKNOWN
    assert found.message == f"you may not read Approvals in namespace '{NAMESPACE}'"


async def test_who_may_not_read_plans_hears_of_what_waits_for_a_decision_all_the_same(
    api: ApiServer, client: Client
) -> None:
    ask(api, "work")
    api.fault = lambda call: 403 if call.plural == "plans" else None

    found = await work.look(Cluster(client, NAMESPACE))

    assert [each.outcome for each in found] == [Outcome.UNKNOWN, Outcome.WARNING]
