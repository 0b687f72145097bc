"""A Plan that is delivered as one commit, or as a signed one: verified as that, wherever the target
is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PartialDelivery, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.programs.merge import LandResult
from bernstein.api.states import TaskState
from bernstein.attestation.statement import EXTENSION
from bernstein.core.actions import PlanDecision, RunLand, RunPrepare
from bernstein.core.delivery import messages
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.delivery import tasks
from tests.unit.core.delivery.plans import (
    CANDIDATE,
    INTEGRATION,
    ONTO,
    look,
    prepared,
    step,
)
from tests.unit.core.delivery.test_pull_request import PARTS, ROWS, SPLIT, STEPS, row
from tests.unit.core.objects import BASE, at, checked, plan_snapshot, result_job, sha
from tests.unit.core.objects import status as status_of

SQUASH = objects.project(merge={"strategy": "direct", "method": "Squash"})


SIGNED = objects.project(
    merge={"strategy": "direct", "signing": {"key": {"name": "signs", "key": "id"}}}
)


def signing(status: PlanStatus | None = None, *jobs: JobView, **more: Any) -> PlanDecision:
    return look(status, *jobs, project=SIGNED, **more)


def squashing(status: PlanStatus | None = None, *jobs: JobView, **more: Any) -> PlanDecision:
    return look(status, *jobs, project=SQUASH, **more)


def test_one_commit_is_made_though_the_target_has_not_moved() -> None:
    begun = squashing()
    assert (begun.status.delivery and begun.status.delivery.step) == "Preparing"

    (prepare,) = squashing(begun.status).actions

    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.onto) == (INTEGRATION, sha(2), ONTO)
    assert (prepare.candidate, prepare.merge) == (CANDIDATE, False)


def test_it_is_judged_and_lands_as_that_commit() -> None:
    begun = squashing(squashing().status).status
    made = squashing(begun, prepared(base=BASE)).status
    assert made.verification is not None
    assert (made.verification.sha, made.verification.base) == (sha(8), BASE)
    assert made.verification.passed is None

    passed = squashing(made, checked("web-lint-0")).status
    begun = squashing(passed).status
    (land,) = squashing(begun).actions
    assert land == RunLand("web-land-2", CANDIDATE, sha(8), sha(9), ONTO, BASE)

    there = result_job("web-land-2", "land", LandResult("Landed", sha(8)))
    landed = squashing(begun, there).status
    assert landed.phase == "Succeeded"
    assert landed.delivery is not None
    assert (landed.delivery.state, landed.delivery.sha) == ("Merged", sha(8))


def test_what_is_signed_is_a_merge_commit_of_its_own_that_was_verified() -> None:
    begun = signing().status
    (prepare,) = signing(begun).actions
    assert isinstance(prepare, RunPrepare)
    assert prepare.merge

    made = signing(signing(begun).status, prepared(base=BASE, tree=sha(1002))).status
    landing = signing(signing(made, checked("web-lint-0")).status).status
    (land,) = signing(landing).actions
    expected = RunLand("web-land-2", CANDIDATE, sha(8), sha(1002), ONTO, BASE)
    assert land == replace(expected, signs=True)
    told = json.loads(land.attests)[EXTENSION]
    assert (told["kind"], told["signedFrom"]) == ("Plan", sha(8))

    there = result_job("web-land-2", "land", LandResult("Landed", sha(9), sha=sha(9)))
    found = signing(landing, there).status.delivery
    assert found is not None
    assert (found.state, found.sha, found.verified_sha) == ("Merged", sha(9), sha(8))
    assert found.tree == sha(1002)


def test_who_only_looks_signs_nothing() -> None:
    landing = step("Landing")
    assert landing.delivery is not None
    in_doubt = landing.delivery.model_copy(update={"may_have_landed": True})

    (look_again,) = signing(landing.model_copy(update={"delivery": in_doubt})).actions

    assert isinstance(look_again, RunLand)
    assert (look_again.expect, look_again.signs) == (None, False)


@pytest.mark.parametrize("plan", [False, True])
def test_the_work_of_a_task_is_signed_where_it_goes_to_the_branch_alone(plan: bool) -> None:
    onto = INTEGRATION if plan else ONTO
    status = tasks.verified(tasks.step("Landing", onto=onto))
    task = objects.task(status=status, plan="web" if plan else None)
    gates = {"pipeline": [{"name": "pii_scan", "enabled": False}]}
    project = objects.project(merge=SIGNED.spec.merge.dump(), gates=gates)

    decision = decide(objects.snapshot(task, project=project), at(0))

    (land,) = (each for each in decision.actions if isinstance(each, RunLand))
    assert land.signs != plan
    assert ("signedFrom" in json.loads(land.attests)[EXTENSION]) != plan


def test_a_target_that_holds_all_of_it_takes_no_commit_and_none_is_made_again() -> None:
    begun = squashing(squashing().status).status
    held = prepared(base=sha(2), sha=sha(2), tree=sha(1002))
    made = squashing(begun, held).status
    passed = squashing(made, checked("web-lint-0")).status

    after = squashing(passed)

    assert (after.status.delivery and after.status.delivery.step) == "Landing"


def test_a_plan_that_changed_nothing_makes_no_commit() -> None:
    nothing = status_of(TaskState.CLOSED, delivery=Delivery(state="NoChange"))

    found = squashing(tasks=(objects.task(status=nothing),))

    assert found.actions == ()
    assert found.status.phase == "Succeeded"
    assert (found.status.delivery and found.status.delivery.state) == "NoChange"


def test_what_lands_already_when_the_method_changes_goes_on_as_it_is() -> None:
    (land,) = squashing(step("Landing")).actions

    assert isinstance(land, RunLand)
    assert land.sha == sha(2)


def test_without_the_method_nothing_is_made_where_the_target_has_not_moved() -> None:
    assert (look().status.delivery or Delivery()).step == "Landing"


def _message(
    rows: tuple[PlanTask, ...] = ROWS,
    steps: list[dict[str, Any]] = STEPS,
    description: str | None = None,
    **status: Any,
) -> str:
    found = PlanStatus(tasks=rows, **status)
    stages = [{"name": "build", "steps": steps}]
    plan = objects.plan(status=found, description=description, stages=stages)
    return messages.squash(plan_snapshot(plan), found)


def test_its_message_says_what_was_asked_and_which_steps_are_in_it() -> None:
    assert _message(description="So that people\ncan buy.") == (
        "Better web\n\nSo that people\ncan buy.\n\n* Add a shop\n* Sell\n\n"
        "Bernstein-Plan: team/web\n"
    )


def test_a_step_that_was_split_is_in_it_once() -> None:
    told = _message(PARTS, SPLIT)

    assert "\n\n* Add a shop\n* Sell\n\n" in told


def test_a_forge_finds_nobody_and_no_issue_in_it() -> None:
    steps = [{"title": "Closes #7"}, {"title": "Ask @ada"}, {"title": "x"}]

    told = _message(steps=steps, description="Fixes GH-12\nsee https://example.com/issues/1")

    assert not any(each in told for each in ("#7", "@ada", "GH-12", "https://"))


def test_no_words_of_others_are_read_as_a_trailer_of_it() -> None:
    told = _message(description="Do it\n\nSigned-off-by: Ada <ada@example.com>")

    assert told.rpartition("\n\n")[2] == "Bernstein-Plan: team/web\n"


def test_of_many_steps_some_are_listed_and_the_others_counted() -> None:
    rows = tuple(row(f"t{n}", n) for n in range(60))

    told = _message(rows)

    assert told.count("\n* ") == messages.MOST_STEPS + 1
    assert "* and 10 more\n" in told


def test_a_part_of_a_plan_says_that_it_is_one() -> None:
    part = PartialDelivery(request="d-1", after="Failed")

    assert _message(partial=part).startswith("Part of Better web\n\n* Add a shop\n")
