"""The ledger of a Plan: what landed, in order, and whose it is; and on what tip work lands."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import LedgerEntry, PlanTask
from bernstein.api.task import Task, TaskStatus
from bernstein.core.delivery import ledger, tip
from bernstein.core.delivery.ledger import RowsByName
from tests.unit.core import objects
from tests.unit.core.objects import BASE, at, closed, done, plan, sha, snapshot

REF = "refs/bernstein/1111222233334444/integration"
NAMES = st.lists(st.sampled_from("abcde"), max_size=8)


def merged(name: str, number: int, base: str, onto: str = REF) -> Task:
    """A Task whose commit `sha(number)` landed on this base."""
    status = closed(number, landed_at=at(number))
    assert status.verification is not None
    assert status.delivery is not None
    update = {
        "verification": status.verification.model_copy(update={"base": base}),
        "delivery": status.delivery.model_copy(update={"onto": onto}),
    }
    return objects.task(name, status=status.model_copy(update=update))


def status(*rows: PlanTask, end: str | None = None) -> PlanStatus:
    begun = Integration(ref=REF, target="refs/heads/main", target_sha=BASE, sha=end)
    return PlanStatus(integration=begun, tasks=rows, expanded=True)


def row(name: str, number: int | None = None, **more: object) -> PlanTask:
    landed = None if number is None else {"number": number, "sha": sha(number)}
    fields = {"name": name, "stage": "build", "step": 0, "uid": f"uid-{name}", "landed": landed}
    return PlanTask.model_validate(fields | more)


def read(found: PlanStatus, *tasks: Task) -> ledger.Ledger:
    return ledger.read(found, {task.metadata.name: task for task in tasks})


def numbers(found: ledger.Ledger) -> dict[str, int]:
    return {name: entry.number for name, entry in found.new.items()}


ROWS = (row("a"), row("b"), row("c"))


def test_each_landing_stands_on_the_one_before_whatever_the_clocks_say() -> None:
    found = read(status(*ROWS), merged("a", 7, sha(1)), merged("b", 1, BASE))

    assert numbers(found) == {"b": 1, "a": 2}
    assert found.new["a"] == LedgerEntry(number=2, sha=sha(7))
    assert (found.tip, found.tree, found.outside) == (sha(7), sha(1007), ())


def test_what_landed_is_kept_when_its_task_is_deleted() -> None:
    found = read(status(row("a", 1), row("b"), end=sha(1)), merged("b", 2, sha(1)))

    assert numbers(found) == {"b": 2}
    assert found.tip == sha(2)


def test_a_merged_task_that_stands_on_nothing_known_is_outside() -> None:
    found = read(status(*ROWS), merged("a", 1, BASE), merged("b", 2, sha(66)))

    assert (found.tip, found.outside) == (sha(1), ("b",))


def test_of_two_that_say_they_landed_on_the_same_one_is_outside() -> None:
    found = read(status(*ROWS), merged("a", 1, BASE), merged("b", 2, BASE))

    assert (found.tip, found.outside) == (sha(1), ("b",))


def test_what_landed_in_another_ref_is_no_matter_of_the_ledger() -> None:
    found = read(status(*ROWS), merged("a", 1, BASE, onto="refs/heads/main"))

    assert (found.new, found.tip, found.outside) == ({}, BASE, ())


def test_another_task_of_the_name_of_one_that_landed_is_none_of_the_plans() -> None:
    found = status(row("a", 1, uid="uid-first"), row("b"), end=sha(1))
    second, b, strange = merged("a", 2, sha(1)), objects.task("b"), objects.task("strange")

    assert [ledger.is_member(found, t) for t in (second, b, strange)] == [False, True, False]
    assert list(ledger.members(found, {"a": second, "b": b, "strange": strange})) == ["b"]
    assert read(found, second).outside == ("a",)
    assert read(found, second).tip == sha(1)


def test_before_its_rows_say_of_which_steps_they_are_all_tasks_are_the_plans() -> None:
    older = status(row("a", step=None))

    assert ledger.is_member(older, objects.task("strange"))


def test_what_an_older_release_followed_is_taken_over_by_time() -> None:
    one, two, three = merged("a", 1, BASE), merged("b", 2, sha(1)), merged("c", 3, sha(2))

    whole = read(status(*ROWS, end=sha(2)), one, two, three)
    gap = read(status(*ROWS, end=sha(2)), one, three)
    foreign = read(status(*ROWS, end=sha(1)), one, merged("b", 2, sha(66)))

    assert numbers(whole) == {"a": 1, "b": 2, "c": 3}
    assert (numbers(gap), gap.tip, gap.outside) == ({"a": 1, "c": 2}, sha(3), ())
    assert (foreign.tip, foreign.outside) == (sha(1), ("b",))


@given(lists=st.lists(NAMES, min_size=1, max_size=6), asked=st.lists(st.integers(0, 5)))
def test_the_first_row_of_a_name_is_found_in_the_rows_that_are_asked_about(
    lists: list[list[str]], asked: list[int]
) -> None:
    plans = [tuple(PlanTask(name=name, stage=str(at)) for at, name in enumerate(n)) for n in lists]
    known = RowsByName(most=2)

    for number in asked:
        rows = plans[number % len(plans)]
        found = known.of(rows)
        for name in "abcdef":
            first = next((row for row in rows if row.name == name), None)
            assert found.get(name) is first


def test_rows_that_are_gone_are_not_taken_for_those_that_have_their_place_in_memory() -> None:
    known = RowsByName(most=1)

    for number in range(200):
        (name,) = known.of((PlanTask(name=f"t{number}", stage="s"),))
        assert name == f"t{number}"


# --- on what tip work lands -----------------------------------------------------------------------


def queued(step: str | None = "Queued", **more: Any) -> Delivery:
    return Delivery.model_validate({"state": "Pending", "step": step} | more)


def on(base: str, status: TaskStatus) -> TaskStatus:
    """The status of one whose commit stands on this one."""
    assert status.verification is not None
    judged = status.verification.model_copy(update={"base": base})
    return status.model_copy(update={"verification": judged})


def task(name: str, delivery: Delivery | None = None, **spec: Any) -> Task:
    return objects.task(name, status=done(delivery=delivery), **spec)


def test_a_plans_tasks_land_in_its_integration_ref_others_in_the_branch() -> None:
    assert snapshot(task("a")).target_ref == "refs/bernstein/1111222233334444/integration"
    assert snapshot(task("a", plan=None)).target_ref == "refs/heads/main"


def test_the_refs_of_a_plans_tasks_are_beside_its_integration_ref() -> None:
    assert snapshot(task("a")).refs == "refs/bernstein/1111222233334444"
    assert snapshot(task("a", plan=None)).refs == "refs/bernstein/uida"


def test_a_plan_that_an_older_release_began_keeps_its_refs() -> None:
    ref = "refs/bernstein/11112222/integration"
    begun = Integration(ref=ref, target="refs/heads/main", target_sha=BASE)
    found = snapshot(task("a"), plan=plan(status=PlanStatus(integration=begun, expanded=True)))

    assert found.target_ref == ref
    assert found.refs == "refs/bernstein/11112222"


def test_the_tip_is_where_the_last_one_landed_on_the_one_before() -> None:
    one = objects.task("b", status=closed(1, landed_at=at(-10)))
    other = objects.task("c", status=on(sha(1), closed(2, landed_at=at(-20))))

    assert tip.known_tip(snapshot(task("a"), others=(one, other))) == sha(2)
    assert tip.known_tip(snapshot(task("a"), others=(other,))) == BASE, "on what nobody landed"
    assert tip.known_tip(snapshot(task("a"))) == BASE
    assert tip.known_tip(snapshot(task("a"), plan=plan(begun=False))) is None


def test_of_a_plans_ref_the_ledger_says_it_and_of_a_branch_a_job() -> None:
    seen = queued(tip=sha(5))

    assert tip.known_tip(snapshot(task("a", seen))) == BASE
    assert tip.known_tip(snapshot(task("a", seen, plan=None))) == sha(5)
    assert tip.known_tip(snapshot(task("a", plan=None))) is None
