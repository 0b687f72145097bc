"""What a Plan says of its Tasks."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.meta import UsageCounts
from bernstein.api.states import TaskState
from bernstein.core.plans.tally import tally
from tests.unit.core import objects
from tests.unit.core.objects import BASE, closed, plan_snapshot, sha, status
from tests.unit.core.plans.decisions import again, look, task

TWO = [
    {"name": "one", "steps": [{"title": "Do a"}, {"title": "Do b"}]},
    {"name": "two", "steps": [{"title": "Do c"}]},
]


def followed(*onto: str) -> Integration:
    """The integration after Tasks that landed one after the other, each in one of these refs."""
    tasks = []
    for number, ref in enumerate(onto, 1):
        ended = closed(number)
        assert ended.verification is not None
        assert ended.delivery is not None
        base = BASE if number == 1 else sha(number - 1)
        judged = ended.verification.model_copy(update={"base": base})
        delivery: Delivery = ended.delivery.model_copy(update={"onto": ref})
        update = {"verification": judged, "delivery": delivery}
        tasks.append(objects.task(f"t{number}", status=ended.model_copy(update=update)))
    integration = tally(plan_snapshot(objects.plan(), *tasks)).integration
    assert integration is not None
    return integration


@pytest.mark.parametrize(
    ("sources", "before", "found"),
    [
        (("Reported", "Reported"), None, None),
        (("Reported", None), None, None),
        (("Unpriced", "Reported"), None, "Unpriced"),
        (("Unpriced", "Unreported"), None, "Unreported"),
        (("Reported",), "Unreported", "Unreported"),
    ],
)
def test_a_plan_says_why_its_spend_is_not_all_of_it(
    sources: tuple[str | None, ...], before: str | None, found: str | None
) -> None:
    tasks = (
        objects.task(f"t{n}", status=objects.status(spend_source=source))
        for n, source in enumerate(sources)
    )
    plan = objects.plan()
    earlier = plan.status.model_copy(update={"spend_source": before})

    tallied = tally(plan_snapshot(plan.model_copy(update={"status": earlier}), *tasks))

    assert tallied.spend_source == found


OURS = objects.plan().status.integration


def test_the_tip_is_the_last_commit_that_a_task_landed() -> None:
    assert OURS is not None
    assert followed(OURS.ref, OURS.ref).sha == sha(2)


def test_what_landed_elsewhere_is_no_tip() -> None:
    assert OURS is not None
    assert followed("refs/heads/main").sha is None
    assert followed(OURS.ref, "refs/heads/main").sha == sha(1)


# --- counts and money ---------------------------------------------------------------------------


def test_a_plan_counts_its_tasks_by_what_they_are_doing() -> None:
    tasks = [
        task("a"),
        task("b", TaskState.FAILED, attempt=1),
        task("c", TaskState.FAILED, attempt=4),
        task("d", TaskState.CLAIMED),
        task("e", TaskState.IN_PROGRESS),
        task("f", TaskState.DONE),
        task("g", TaskState.CLOSED),
        task("h", TaskState.CANCELLED),
    ]

    counts = look(objects.plan(), *tasks).status.counts

    assert counts.model_dump() == {
        "total": 8,
        "open": 2,
        "running": 2,
        "verifying": 1,
        "closed": 1,
        "failed": 1,
        "cancelled": 1,
    }


@pytest.mark.parametrize(
    ("state", "count"),
    [
        (TaskState.IN_PROGRESS, "cancelled"),
        (TaskState.DONE, "cancelled"),
        (TaskState.OPEN, "cancelled"),
        (TaskState.CANCELLED, "cancelled"),
        (TaskState.CLOSED, "closed"),
    ],
)
def test_a_task_that_is_deleted_counts_as_cancelled_unless_it_was_closed(
    state: TaskState, count: str
) -> None:
    plan = objects.plan()
    with_task = again(plan, look(plan, task("gone", state), task("stays", TaskState.IN_PROGRESS)))

    counts = look(with_task, task("stays", TaskState.IN_PROGRESS)).status.counts.model_dump()

    nothing = dict.fromkeys(counts, 0)
    assert counts == nothing | {"total": 2, "running": 1} | {count: 1}


def test_a_task_that_was_not_seen_yet_is_open() -> None:
    new = objects.plan(begun=False, stages=TWO)

    counts = look(again(new, look(new))).status.counts

    assert (counts.total, counts.open, counts.cancelled) == (3, 3, 0)


def test_spend_is_the_sum_and_remembers_tasks_that_were_deleted() -> None:
    both = look(objects.plan(), task("a", spend_usd="1.5"), task("b", spend_usd="0.25"))
    assert both.status.spend_usd == "1.75"

    one = look(again(objects.plan(), both), task("b", spend_usd="0.5"))
    assert one.status.spend_usd == "2"
    assert [t.name for t in one.status.tasks] == ["a", "b"]


def test_a_task_of_the_plan_that_names_no_stage_is_counted_like_the_others() -> None:
    stranger = objects.task("stranger", status=status(), stage=None)

    assert look(objects.plan(), stranger).status.counts.total == 1


def test_tokens_are_summed() -> None:
    found = look(objects.plan(), task("a", usage=UsageCounts(input=1)), task("b")).status

    assert found.usage == UsageCounts(input=1)


def test_deleting_a_task_takes_no_tokens_back() -> None:
    both = look(objects.plan(), task("a", usage=UsageCounts(input=1)), task("b"))

    one = look(again(objects.plan(), both), task("b", usage=UsageCounts(output=2)))

    assert one.status.usage == UsageCounts(input=1, output=2)


def test_the_current_stage_is_the_first_with_something_left() -> None:
    begun = objects.plan(stages=TWO)
    first = [objects.task(n, status=closed(i), stage="one") for i, n in enumerate("ab")]
    last = objects.task("c", status=status(), stage="two")

    assert look(begun, *first, last).status.current_stage == "two"
    assert look(begun, objects.task("a", stage="one"), last).status.current_stage == "one"
