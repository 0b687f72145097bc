"""What a Plan says of its Tasks."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Integration
from bernstein.core.plans.tally import tally
from tests.unit.core import objects
from tests.unit.core.objects import BASE, closed, plan_snapshot, sha


def followed(*onto: str) -> Integration:
    """The integration after Tasks that landed one after the other, each in one of these refs."""
    tasks = []
    for number, ref in enumerate(onto, 1):
        status = closed(number)
        assert status.verification is not None
        assert status.delivery is not None
        base = BASE if number == 1 else sha(number - 1)
        judged = status.verification.model_copy(update={"base": base})
        delivery: Delivery = status.delivery.model_copy(update={"onto": ref})
        update = {"verification": judged, "delivery": delivery}
        tasks.append(objects.task(f"t{number}", status=status.model_copy(update=update)))
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
    status = plan.status.model_copy(update={"spend_source": before})

    tallied = tally(plan_snapshot(plan.model_copy(update={"status": status}), *tasks))

    assert tallied.spend_source == found


OURS = objects.plan().status.integration


def test_the_tip_is_the_last_commit_that_a_task_landed() -> None:
    assert OURS is not None
    assert followed(OURS.ref, OURS.ref).sha == sha(2)


def test_what_landed_elsewhere_is_no_tip() -> None:
    assert OURS is not None
    assert followed("refs/heads/main").sha is None
    assert followed(OURS.ref, "refs/heads/main").sha == sha(1)
