"""One step of verified work on its way to a ref: every outcome, of a Task and of a Plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import CHECK, INSPECT, JUDGE, Changed
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.verification import Origin, Verification
from bernstein.core import names
from bernstein.core.actions import DeleteJobs, RunFence, RunLand, RunPrepare
from bernstein.core.delivery import landing
from bernstein.core.delivery.way import (
    Conflicted,
    JudgedCommit,
    Landed,
    Landing,
    OnItsWay,
    Prepared,
    Source,
)
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, NO_LATE_REQUESTS, JobView
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    TIP,
    TREE,
    at,
    ended,
    failed,
    job,
    over,
    project,
    result_job,
    running,
    sha,
)

ONTO = "refs/heads/main"
WORK = "refs/bernstein/1111222233334444/work/s1"
CANDIDATE = "refs/bernstein/1111222233334444/candidate"


@dataclass(frozen=True)
class Kind:
    status: Callable[..., Any]
    job: Callable[[str, int], str]


TASK = Kind(objects.done, partial(names.session_job, "work-s1"))
PLAN = Kind(partial(PlanStatus, observed_generation=1), partial(names.plan_job, "web"))
BOTH = pytest.mark.parametrize("kind", [TASK, PLAN], ids=["Task", "Plan"])


def at_step(kind: Kind, step: str | None) -> Any:
    """The status of verified work that is in this step, with the Jobs of number 1."""
    judged: Verification = objects.verification(
        passed=True, candidate=True, ref=CANDIDATE, origin={"ref": WORK, "sha": sha(7)}
    )
    fields = {"state": "Pending", "step": step, "onto": ONTO, "round": 1 if step else 0}
    delivery = Delivery.model_validate(fields)
    return kind.status(verification=judged, delivery=delivery)


def forward(
    kind: Kind,
    status: Any,
    *jobs: JobView,
    tip: str | None = None,
    ours: bool = False,
    forbidden: bool = False,
    resting: int = 0,
) -> Any:
    way = Landing(
        job=kind.job,
        number=1 if status.delivery.step is None else status.delivery.round + 1,
        commit=JudgedCommit(CANDIDATE, HEAD, TREE, BASE),
        source=Source(Origin(ref=WORK, sha=sha(7)), CANDIDATE, "Do it\n"),
        onto=ONTO,
        tip=tip,
        ours=ours,
        conflict="it conflicts in",
        attests=lambda: "{}",
        project=project(),
        jobs={each.name: each for each in jobs},
        late=NO_LATE_REQUESTS,
        resting=resting,
    )
    return landing.forward(status, way, lambda before: before if forbidden else None, NOW)


def prepared(kind: Kind, **more: Any) -> JobView:
    fields: dict[str, Any] = {"base": TIP, "sha": sha(8), "tree": sha(9), "changed": Changed(2)}
    return result_job(kind.job("prepare", 1), "prepare", PrepareResult(**(fields | more)))


def land(kind: Kind, state: str, tip: str) -> JobView:
    return result_job(kind.job("land", 1), "land", LandResult(state, tip))


@BOTH
def test_work_on_the_tip_begins_to_land_before_there_is_a_job_that_can_push(kind: Kind) -> None:
    begun = forward(kind, at_step(kind, None))

    assert isinstance(begun, OnItsWay)
    assert (begun.status.delivery.step, begun.actions) == ("Landing", ())
    asked = forward(kind, begun.status)
    assert asked.actions == (RunLand(kind.job("land", 1), CANDIDATE, HEAD, TREE, ONTO, BASE),)


@BOTH
def test_what_the_remote_has_has_landed(kind: Kind) -> None:
    landed = forward(kind, at_step(kind, "Landing"), land(kind, "Landed", HEAD))

    assert isinstance(landed, Landed)
    assert (landed.delivery.state, landed.delivery.sha) == ("Merged", HEAD)


@BOTH
@pytest.mark.parametrize("step", [None, "Preparing", "Landing"])
@pytest.mark.parametrize("check", [CHECK, INSPECT, JUDGE])
def test_nothing_lands_beside_a_check_that_a_late_request_has_begun(
    check: str, step: str | None, kind: Kind
) -> None:
    late = job(kind.job("inspect", 0), objects.pod(running("checkout"), running(check)))
    status, said = at_step(kind, step), land(kind, "Landed", HEAD)

    found = forward(kind, status, late, said)

    assert found == OnItsWay(status, (DeleteJobs((late,)),), LOOK_AGAIN_SECONDS)
    gone = job(late.name, over(ended("checkout"), ended(check)))
    assert forward(kind, status, gone, said) == forward(kind, status, said)


@BOTH
def test_work_whose_tip_moved_gets_a_candidate_that_is_made_of_its_origin(kind: Kind) -> None:
    asked = forward(kind, at_step(kind, None), tip=TIP)

    assert isinstance(asked, OnItsWay)
    assert asked.status.delivery.step == "Preparing"
    (prepare,) = asked.actions
    assert isinstance(prepare, RunPrepare)
    assert (prepare.job, prepare.ref, prepare.sha) == (kind.job("prepare", 1), WORK, sha(7))


@BOTH
def test_a_candidate_is_made_to_its_end_although_the_tip_seems_to_be_back(kind: Kind) -> None:
    """Its second one: its first was made on the base of now."""
    seen = at_step(kind, None)
    seen = seen.model_copy(update={"delivery": seen.delivery.model_copy(update={"tip": BASE})})
    asked = forward(kind, seen, tip=TIP)

    still = forward(kind, asked.status, tip=BASE)

    assert still.actions == asked.actions


@BOTH
def test_a_candidate_that_is_made_is_to_be_verified(kind: Kind) -> None:
    made = forward(kind, at_step(kind, "Preparing"), prepared(kind), tip=TIP)

    assert isinstance(made, Prepared)
    assert (made.candidate.base, made.candidate.sha) == (TIP, sha(8))
    assert (made.candidate.ref, made.candidate.passed) == (CANDIDATE, None)


@BOTH
def test_a_conflict_names_the_files_and_shows_both_sides(kind: Kind) -> None:
    met = forward(
        kind, at_step(kind, "Preparing"), prepared(kind, conflicts=("a.py",), sides="both"), tip=TIP
    )

    assert isinstance(met, Conflicted)
    assert (met.status.delivery.state, met.status.delivery.step) == ("Conflict", None)
    assert (met.message, met.sides) == ("it conflicts in: a.py", "both")


@BOTH
def test_a_tip_that_moved_under_a_landing_is_noted_and_nothing_has_landed(kind: Kind) -> None:
    moved = forward(kind, at_step(kind, "Landing"), land(kind, "Moved", TIP))

    assert isinstance(moved, OnItsWay)
    assert (moved.status.delivery.step, moved.status.delivery.tip) == (None, TIP)
    assert moved.status.waiting is None


@BOTH
def test_a_ref_of_ours_that_somebody_else_moved_is_not_gone_on_from(kind: Kind) -> None:
    moved = forward(kind, at_step(kind, "Landing"), land(kind, "Moved", TIP), tip=BASE, ours=True)

    assert moved.status.waiting.reason == "IntegrationMoved"


@BOTH
def test_a_push_that_is_refused_is_held_and_has_not_landed(kind: Kind) -> None:
    refused = job(kind.job("land", 1), over(failed("land", "CredentialRefused")))

    held = forward(kind, at_step(kind, "Landing"), refused)

    assert (held.status.delivery.state, held.status.delivery.step) == ("CredentialRefused", None)
    assert held.status.waiting.reason == "CredentialRefused"


@BOTH
def test_after_a_land_job_that_may_have_pushed_another_one_only_reads(kind: Kind) -> None:
    drained = job(kind.job("land", 1), over(ended("land", 143), disrupted=True))

    unsure = forward(kind, at_step(kind, "Landing"), drained).status

    assert (unsure.delivery.step, unsure.delivery.may_have_landed) == ("Landing", True)
    (reads,) = forward(kind, unsure, drained).actions
    assert isinstance(reads, RunLand)
    assert (reads.job, reads.expect) == (kind.job("land", 2), None)


@BOTH
def test_a_candidate_that_is_gone_when_it_is_to_land_is_lost(kind: Kind) -> None:
    gone = job(kind.job("land", 1), over(failed("land", "RefMoved")))

    lost = forward(kind, at_step(kind, "Landing"), gone)

    assert isinstance(lost, OnItsWay)
    assert landing.is_lost(lost.status)
    assert lost.status.delivery.step is None


@BOTH
def test_what_may_not_be_merged_any_more_takes_the_name_of_its_land_job(kind: Kind) -> None:
    assert forward(kind, at_step(kind, None), forbidden=True).actions == ()

    fenced = forward(kind, at_step(kind, "Landing"), forbidden=True)

    assert fenced.actions == (RunFence(kind.job("land", 1)),)


@BOTH
@pytest.mark.parametrize(("resting", "seconds"), [(0, 8), (32, 8), (200, 50), (5000, 300)])
def test_what_many_try_to_land_they_try_a_few_times_a_second_together(
    kind: Kind, resting: int, seconds: int
) -> None:
    refused = replace(job(kind.job("land", 1)), refused="exceeded quota")

    held = forward(kind, at_step(kind, "Landing"), refused, resting=resting)

    assert held.status.waiting.reason == "PodRejected"
    assert held.status.waiting.until == at(seconds)
    assert held.status.waiting.until_alone == at(8)
