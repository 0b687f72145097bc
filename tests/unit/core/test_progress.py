"""Conditions of progress say what state, phase and waiting say, and never anything else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bernstein.api.delivery import Delivery, PullRequest, Pushed
from bernstein.api.meta import Condition
from bernstein.api.plan import Counts, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Split, TaskStatus
from bernstein.api.waiting import Waiting
from bernstein.core import conditions, progress
from bernstein.core.fsm import is_final
from bernstein.core.plans.standstill import is_at_rest
from bernstein.core.waiting import RESTS, is_stalled, stands_still, wait
from bernstein.observe.population import Census
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, plan, status, told
from tests.unit.core.simulation.invariants import consistent

waitings = st.none() | st.builds(
    wait,
    st.sampled_from(["SecretNotFound", "MaxAgents", "MergeQueue", "PlanSuspended", "NameConflict"]),
    st.text(max_size=40),
    st.sampled_from([NOW, at(-500)]),
    needs_person=st.booleans(),
    seconds=st.none() | st.just(30),
)
steps = st.none() | st.sampled_from(["Next", "Preparing", "Landing"])
deliveries = st.none() | st.builds(lambda step: {"state": "Pending", "step": step}, steps)
judged = st.none() | st.builds(
    lambda passed: objects.verification(passed=passed), st.none() | st.booleans()
)
PHASES = ("Pending", "Starting", "Running", "Suspended", "Delivering", "Stalled", "Cancelling")


@given(
    before=waitings,
    after=waitings,
    state=st.sampled_from([s for s in TaskState if s is not TaskState.PLANNED]),
    attempt=st.sampled_from([0, 9]),
    delivery=deliveries,
    verification=judged,
    cancel=st.booleans(),
)
def test_a_task_stalls_exactly_when_it_waits_for_a_person(
    before: Any, after: Any, cancel: bool, **more: Any
) -> None:
    spec: dict[str, Any] = {"cancel": {"reason": "no"}} if cancel else {}
    read = objects.task(status=status(waiting=before), **spec)
    given = status(waiting=after, **more)
    if is_final(given, read.spec.max_retries):
        assume(given.state is not TaskState.FAILED or after is not None)  # it says why
        given = given.model_copy(update={"ended_at": NOW})

    found = progress.of_task(read, given, NOW)

    _says_one_thing(found)
    again = objects.task(status=found, **spec)
    assert progress.of_task(again, found, at(9)) == found


@given(
    before=waitings,
    after=waitings,
    phase=st.sampled_from([*PHASES, "Succeeded", "Cancelled"]),
    delivery=deliveries,
    verification=judged,
)
def test_a_plan_stalls_exactly_when_it_waits_for_a_person(
    before: Any, after: Any, phase: str, **more: Any
) -> None:
    ended = NOW if phase not in PHASES else None
    read = plan(status=PlanStatus(waiting=before))
    given = PlanStatus(waiting=after, phase=phase, ended_at=ended, observed_generation=1, **more)

    found = progress.of_plan(read, given, NOW)

    _says_one_thing(found)
    assert progress.of_plan(plan(status=found), found, at(9)) == found


def _says_one_thing(found: TaskStatus | PlanStatus) -> None:
    consistent(found)
    kinds = told(found.conditions)
    assert ("Stalled" in kinds) == is_stalled(found)
    suspended = found.waiting is not None and found.waiting.reason == "PlanSuspended"
    assert kinds or suspended
    if found.waiting is not None and "Reconciling" in kinds:
        assert kinds["Reconciling"] == ("True", found.waiting.reason)


WAITS, NEEDS = objects.waits("MaxAgents"), objects.waits("SecretNotFound", needs_person=True)
SUSPENDED = objects.waits("Suspended", RESTS)
PASSES_BY: dict[str, str] = {"Reconciling": "True"}
STANDS: dict[str, str] = {"Stalled": "True"}


@pytest.mark.parametrize(
    ("phase", "waiting", "ended", "kinds", "needs_a_person", "rests"),
    [
        ("Pending", WAITS, False, PASSES_BY, False, False),
        ("Pending", NEEDS, False, STANDS, True, True),
        ("Invalid", NEEDS, False, STANDS, True, True),
        ("Starting", None, False, PASSES_BY, False, False),
        ("Running", None, False, PASSES_BY, False, False),
        ("Running", WAITS, False, PASSES_BY, False, False),
        ("Running", NEEDS, False, STANDS, True, True),
        ("Suspended", SUSPENDED, False, {}, False, False),
        ("Delivering", None, False, PASSES_BY, False, False),
        ("Stalled", NEEDS, False, STANDS, True, True),
        ("Cancelling", None, False, PASSES_BY, False, False),
        ("Cancelling", NEEDS, False, STANDS, True, True),
        ("Succeeded", None, True, {"Succeeded": "True"}, False, True),
        ("DeliveredPartially", None, True, {"Succeeded": "False"}, False, True),
        ("Cancelled", None, True, {"Succeeded": "False"}, False, True),
        ("Failed", NEEDS, True, STANDS | {"Succeeded": "False"}, False, True),
    ],
)
def test_phase_conditions_metrics_and_cli_have_one_notion_of_standing_still(
    phase: str,
    waiting: Waiting | None,
    ended: bool,
    kinds: dict[str, str],
    needs_a_person: bool,
    rests: bool,
) -> None:
    given = PlanStatus(
        phase=phase, waiting=waiting, ended_at=NOW if ended else None, observed_generation=1
    )
    found = progress.of_plan(plan(), given, NOW)
    at_work = found.model_copy(update={"counts": Counts(total=1, running=1)})
    census = Census("phase")
    census.changed(None, plan(status=found).dump())

    assert {kind: truth for kind, (truth, _) in told(found.conditions).items()} == kinds
    assert (found.phase == "Stalled") == (phase in ("Running", "Stalled") and needs_a_person)
    assert stands_still(found) is needs_a_person
    assert is_at_rest(plan(status=found)) is rests
    assert is_at_rest(plan(status=found, generation=2)) is ended
    assert is_at_rest(plan(status=at_work)) is ended
    assert bool(census.stalled) == ("Stalled" in kinds)


def verified(truth: bool) -> tuple[Condition, ...]:
    noted = conditions.note(status(), "Verified", truth, "ChecksPassed", "5 checks passed", NOW)
    return noted.conditions


@pytest.mark.parametrize(
    ("state", "verification", "truth", "kept"),
    [
        (TaskState.CLAIMED, None, True, False),
        (TaskState.IN_PROGRESS, None, True, False),
        (TaskState.IN_PROGRESS, None, False, False),
        (TaskState.DONE, {"passed": None}, True, False),
        (TaskState.DONE, {"passed": None}, False, True),
        (TaskState.DONE, {"passed": True}, True, True),
        (TaskState.FAILED, {"passed": False}, False, True),
    ],
)
def test_verified_is_said_of_the_work_that_there_is_now(
    state: TaskState, verification: dict[str, Any] | None, truth: bool, kept: bool
) -> None:
    """Not of an attempt before, nor of the tree before another tip."""
    judged = objects.verification(**verification) if verification is not None else None
    task = status(state, verification=judged, conditions=verified(truth))
    phased = PlanStatus(phase="Delivering", verification=judged, conditions=verified(truth))

    found = progress.of_task(objects.task(), task, NOW), progress.of_plan(plan(), phased, NOW)

    assert ["Verified" in told(each.conditions) for each in found] == [kept, kept]


def test_what_was_split_and_is_open_is_tried_again_though_it_has_no_sessions() -> None:
    split = Split(number=1, since=at(0), over=True)

    found = [
        progress.of_task(objects.task(), status(split=each), NOW).conditions
        for each in (None, split)
    ]

    assert [told(each)["Reconciling"][1] for each in found] == ["Open", "Retrying"]


def test_since_is_when_it_began_to_wait_for_this_reason() -> None:
    first = objects.waits("MaxAgents", "all 2 agents are at work", since=at(-500))
    read = objects.task(status=status(waiting=first))
    same = objects.waits("MaxAgents", "all 3 agents are at work", since=NOW)
    other = objects.waits("FileOverlap", since=NOW)

    of_same, of_other = (
        progress.of_task(read, status(waiting=now), NOW).waiting for now in (same, other)
    )

    assert of_same == same.model_copy(update={"since": at(-500)})
    assert of_other == other


@pytest.mark.parametrize("state", [TaskState.CLOSED, TaskState.CANCELLED])
def test_what_is_over_waits_for_nothing(state: TaskState) -> None:
    read = objects.task(status=status(waiting=objects.waits("MergeQueue")))

    found = progress.of_task(read, status(state, waiting=objects.waits("MergeQueue")), NOW)

    assert found.waiting is None
    assert list(told(found.conditions)) == ["Succeeded"]


def test_a_task_that_failed_for_good_says_that_it_ended_and_what_helps() -> None:
    waiting = objects.waits("GateFailed", "it is wrong. Remedy: Mend it.", needs_person=True)
    failed = status(TaskState.FAILED, attempt=9, waiting=waiting)

    found = progress.of_task(objects.task(), failed, NOW).conditions

    assert {c.type: (c.status, c.message) for c in found} == {
        "Succeeded": ("False", "it is wrong"),
        "Stalled": ("True", "it is wrong. Remedy: Mend it."),
    }


def test_what_concerns_a_plan_concerns_more_than_a_task() -> None:
    waiting = objects.waits("PlanInvalid", needs_person=True)

    found = progress.of_plan(plan(), PlanStatus(waiting=waiting, observed_generation=1), NOW)

    assert found.waiting is not None
    assert found.waiting.scope == "Plan"


@pytest.mark.parametrize(
    ("onto", "round_", "said"),
    [
        (
            "refs/heads/main",
            2,
            "'main' moved meanwhile; it is verified again on the new tip, for the 3rd time",
        ),
        (
            "refs/bernstein/1/integration",
            1,
            "other work has landed meanwhile; it is verified again on the new tip, "
            "for the 2nd time",
        ),
        (
            "refs/heads/release/1",
            11,
            "'release/1' moved meanwhile; it is verified again on the new tip, for the 12th time",
        ),
    ],
)
def test_work_whose_target_has_moved_says_so_and_how_often_it_was_verified(
    onto: str, round_: int, said: str
) -> None:
    judged = objects.verification(candidate=True, round=round_, passed=None)
    delivery = Delivery(state="Pending", onto=onto)
    found = objects.done(verification=judged, delivery=delivery)

    told = progress.of_task(objects.task(status=found), found, at(0))

    condition = conditions.find(told.conditions, "Reconciling")
    assert condition is not None
    assert (condition.reason, condition.message) == ("Verifying", said)


@pytest.mark.parametrize("step", ["Preparing", None])
def test_what_people_have_pushed_is_said_while_it_is_verified(step: Any) -> None:
    judged = objects.verification(
        candidate=step is None, round=1, passed=None if step is None else True
    )
    pull = PullRequest(
        number=7, url="https://git.example/pulls/7", state="Open", sha=objects.sha(2)
    )
    pushed = Pushed(times=1, taken="c0ffee" * 6 + "c0ff")
    delivery = Delivery(
        state="Pending", onto="refs/heads/main", step=step, pushed=pushed, pull_request=pull
    )
    found = objects.done(verification=judged, delivery=delivery)

    told = progress.of_task(objects.task(status=found), found, at(0))

    condition = conditions.find(told.conditions, "Reconciling")
    assert condition is not None
    assert condition.message.startswith("c0ffeec0ffee was pushed to pull request 7: ")
