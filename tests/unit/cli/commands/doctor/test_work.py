"""What `bernstein doctor` says of work that stands still."""

from __future__ import annotations

import pytest

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor import work
from bernstein.kube.client import Client
from bernstein.resources import TASKS
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
    found = work.by_cause(subjects, NAMESPACE)
    return [(each.outcome.value, each.message, each.remedy) for each in found]


def test_what_stands_still_is_told_with_its_remedy() -> None:
    assert told(stalled("work"), objects.task("fine", status=status(TaskState.OPEN))) == [
        (
            "bad",
            "Task 'work' needs a person (ImagePullFailed): image 'demoo' cannot be pulled.",
            "Correct spec.agents[0].image.",
        )
    ]


def test_many_that_stand_still_for_one_reason_are_one_finding() -> None:
    ((_, text, _),) = told(*(stalled(f"t{number}") for number in range(5)))

    assert text.startswith("Task 't0', Task 't1', Task 't2' and 2 more need a person")


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
    assert told(fine) == [("good", f"nothing in namespace '{NAMESPACE}' needs a person", "")]


async def test_plans_and_tasks_of_the_namespace_are_looked_at(
    api: ApiServer, client: Client
) -> None:
    for namespace in (NAMESPACE, "another"):
        obj = stalled(f"in-{namespace}").dump()
        obj["metadata"]["namespace"] = namespace
        api.put(TASKS, f"in-{namespace}", namespace, **obj)

    (found,) = await work.look(Cluster(client, NAMESPACE))

    assert found.subject == f"in-{NAMESPACE}"
