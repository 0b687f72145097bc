"""Spans of a Plan, in one repository and in several."""

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.integration import RepositoryStatus
from bernstein.core.traces.plan import of_plan
from bernstein.core.traces.span import span_id, trace_id
from tests.unit.core.objects import PLAN_UID, at, plan, sha, verification
from tests.unit.core.traces.histories import check, ended_plan, named, one, told


def landed(number: int) -> Delivery:
    return Delivery(state="Merged", sha=sha(number), landed_at=at(50))


def test_a_plan_is_the_root_of_its_trace() -> None:
    whole = one(of_plan(ended_plan()), "plan")

    assert (whole.trace_id, whole.span_id) == (trace_id(PLAN_UID), span_id(PLAN_UID))
    assert (whole.parent_id, whole.start, whole.end) == (None, at(-60), at(60))
    assert whole.error is None
    assert told(whole)["bernstein.spend.usd"] == 1.5


@pytest.mark.parametrize("phase", ["Failed", "Cancelled"])
def test_a_plan_that_did_not_succeed_ends_with_its_phase(phase: str) -> None:
    assert one(of_plan(ended_plan(phase)), "plan").error == phase


def test_a_plan_that_goes_on_is_no_span() -> None:
    assert of_plan(plan()) == []


@pytest.mark.parametrize("phase", [None, "Running", "Suspended", "Stalled"])
def test_a_plan_that_is_deleted_before_its_end_ends_then(phase: str | None) -> None:
    whole = one(of_plan(ended_plan(phase, ended_at=None), at(40)), "plan")

    assert (whole.end, whole.error) == (at(40), "Deleted")


def test_what_it_lands_as_a_whole_is_verified_and_lands_once() -> None:
    judged = verification(passed=True, verified_at=at(45))

    spans = of_plan(ended_plan(verification=judged, delivery=landed(1)))
    assert named(spans) == ["verify", "land", "plan"]
    assert (one(spans, "land").start, one(spans, "land").end) == (at(45), at(50))


def test_verdicts_that_were_known_take_none_of_its_time() -> None:
    known = check("lint", cached=True, seconds=900, ended_at=at(-800))
    judged = verification(passed=True, verified_at=at(45), checks=[known])

    verify = one(of_plan(ended_plan(verification=judged)), "verify")
    assert (verify.start, verify.end) == (at(45), at(45))


def test_in_several_repositories_it_is_verified_and_lands_in_each() -> None:
    rows = [
        RepositoryStatus(
            name=name,
            verification=verification(passed=True, verified_at=at(40)),
            delivery=landed(1),
        )
        for name in ("app", "api")
    ]

    # The status has those of the one that keeps it back a second time.
    spans = of_plan(ended_plan(repositories=rows, verification=rows[0].verification))
    assert named(spans) == ["verify", "land", "verify", "land", "plan"]
    assert len({span.span_id for span in spans}) == 5
    where = [told(span).get("bernstein.repository") for span in spans]
    assert where == ["app", "app", "api", "api", None]
