"""What a Plan says of its Tasks."""

from __future__ import annotations

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


OURS = objects.plan().status.integration


def test_the_tip_is_the_last_commit_that_a_task_landed() -> None:
    assert OURS is not None
    assert followed(OURS.ref, OURS.ref).sha == sha(2)


def test_what_landed_elsewhere_is_no_tip() -> None:
    assert OURS is not None
    assert followed("refs/heads/main").sha is None
    assert followed(OURS.ref, "refs/heads/main").sha == sha(1)
