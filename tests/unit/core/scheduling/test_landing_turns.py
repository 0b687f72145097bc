"""Whose turn it is to land: one in each ref, by order, and nobody is overtaken."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.scheduling import landing_turns
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, done

INTEGRATION = "refs/bernstein/11112222/integration"
HOLD = objects.held("InfrastructureError", at(30))


QUEUED = objects.waits("MergeQueue")


def delivery(step: str | None = None, **more: Any) -> Delivery:
    fields = {"state": "Pending", "step": step, "onto": INTEGRATION}
    return Delivery.model_validate(fields | more)


def task(name: str, step: str | None = None, *, of: TaskStatus | None = None, **spec: Any) -> Task:
    """It has taken this step; without one it asks for its turn."""
    waiting = QUEUED if step is None else None
    found = of or done(delivery=delivery(step), waiting=waiting)
    return objects.task(name, status=found, **spec)


def stalled(name: str, step: str | None) -> Task:
    waiting = objects.waits("GateErrored", needs_person=True)
    return task(name, of=done(delivery=delivery(step), waiting=waiting))


def deleting(found: Task) -> Task:
    meta = found.metadata.model_copy(update={"deletion_timestamp": NOW})
    return found.model_copy(update={"metadata": meta})


def _one(_: Task) -> str:
    """All work in the same repository."""
    return "app"


def turns(*tasks: Task) -> dict[str, str]:
    """`Next` for who gets the turn, `None` for who loses it, else whom they wait for."""
    told = {}
    for each, status in landing_turns.turns(tasks, NOW, _one):
        assert status.delivery is not None
        queued = status.waiting is not None and status.waiting.reason == "MergeQueue"
        waits = status.waiting.message.split("'")[1] if status.waiting and queued else None
        told[each.metadata.name] = waits or str(status.delivery.step)
    return told


@pytest.mark.parametrize("step", ["Next", "Preparing", "Landing"])
def test_nobody_overtakes_a_task_whose_turn_it_is(step: str) -> None:
    assert turns(task("z", step, priority=5), task("a", priority=1)) == {"a": "z"}


def test_the_turn_goes_by_priority_then_age_then_name() -> None:
    low, high = task("a", priority=2), task("z", priority=1)
    old, young = task("y", created=at(-9)), task("x", created=at(-8))

    assert turns(low, high) == {"z": "Next", "a": "z"}
    assert turns(young, old) == {"y": "Next", "x": "y"}
    assert turns(task("d"), task("c")) == {"c": "Next", "d": "c"}


def test_each_waits_for_the_one_right_before_it_so_that_its_words_stay() -> None:
    first, *rest = (task(name) for name in "abcd")
    with_first = turns(first, *rest)

    assert with_first == {"a": "Next", "b": "a", "c": "b", "d": "c"}
    assert turns(*rest) == {"b": "Next", "c": "b", "d": "c"}


def test_a_waiting_task_forgets_the_tip_that_others_move() -> None:
    seen = done(delivery=delivery(tip=objects.TIP, round=4), waiting=QUEUED)
    (_, status), *_ = (
        e for e in landing_turns.turns([task("a", "Landing"), task("b", of=seen)], NOW, _one)
    )

    assert status.delivery == delivery(round=4)
    assert status.waiting is not None
    assert status.waiting.reason == "MergeQueue"


@pytest.mark.parametrize("step", ["Preparing", None])
def test_a_task_that_needs_a_person_blocks_nobody(step: str | None) -> None:
    assert turns(stalled("a", step), task("b")) == {"b": "Next"}


def test_a_turn_that_cannot_be_used_is_taken_back_before_another_one_gets_it() -> None:
    kept_back = task("c", of=done(delivery=delivery("Next"), waiting=HOLD))

    assert turns(stalled("a", "Next"), task("b")) == {"a": "None"}
    assert turns(kept_back, task("b")) == {"c": "None"}
    assert turns(stalled("a", None), task("b")) == {"b": "Next"}


def test_a_task_that_is_held_asks_for_its_turn_when_that_is_over() -> None:
    held = task("a", of=done(delivery=delivery(), waiting=HOLD))

    assert turns(held, task("b")) == {"b": "Next"}


def test_a_task_that_is_tried_again_goes_on_to_say_what_failed_with_its_turn_and_without() -> None:
    again = objects.held("PodRejected", None, needs_person=True)
    first, second = (task(n, of=done(delivery=delivery(), waiting=again)) for n in "ab")

    told = {t.metadata.name: s for t, s in landing_turns.turns([first, second], NOW, _one)}

    assert (told["a"].delivery, told["a"].waiting) == (delivery("Next"), again)
    assert (told["b"].delivery, told["b"].waiting) == (delivery(), again)
    with_turn = task("a", of=told["a"])
    assert turns(with_turn) == {}, "it keeps the turn"


def test_who_is_told_to_wait_behind_another_is_not_taken_for_one_that_never_failed() -> None:
    failed = done(delivery=delivery(failures=7), waiting=QUEUED)

    ((_, told),) = landing_turns.turns([task("a", "Landing"), task("b", of=failed)], NOW, _one)

    assert told.delivery == delivery(failures=7)


def test_each_ref_has_its_own_turn() -> None:
    other = task("a", of=done(delivery=delivery("Landing", onto="refs/heads/main")), plan=None)

    assert turns(other, task("b")) == {"b": "Next"}


def test_a_task_that_is_being_deleted_keeps_its_turn_until_it_is_gone() -> None:
    assert turns(deleting(task("a", "Landing")), task("b")) == {"b": "a"}
    assert turns(deleting(task("a", "Next")), task("b")) == {"b": "a"}


def test_who_is_going_gets_no_turn() -> None:
    assert turns(deleting(task("a")), task("b")) == {"b": "Next"}
    assert turns(task("a", cancel={"reason": "no"}), task("b")) == {"b": "Next"}


def test_only_work_that_is_done_gets_the_turn() -> None:
    failed = done(delivery=delivery("Landing")).model_copy(update={"state": TaskState.FAILED})

    assert turns(task("a", of=failed), task("b")) == {"b": "Next"}


def test_who_says_already_whom_it_lands_after_is_left_as_it_is() -> None:
    line = [task("a", "Landing"), *(task(name) for name in "bcd")]
    told = {each.metadata.name: new for each, new in landing_turns.turns(line, NOW, _one)}
    assert QUEUED not in [new.waiting for new in told.values()]
    line[1:] = [each.model_copy(update={"status": told[each.metadata.name]}) for each in line[1:]]

    again = landing_turns.turns(line, at(9), _one)
    assert [each.status is new for each, new in again] == [True] * 3

    known = line[2].status.model_copy(update={"delivery": delivery(sha="a" * 40, round=2)})
    line[2] = line[2].model_copy(update={"status": known})
    outdated = {each.metadata.name: new for each, new in landing_turns.turns(line, at(9), _one)}
    assert outdated["c"].delivery == delivery(round=2)
    without = turns(line[0], *line[2:])
    assert without == {"c": "a", "d": "c"}
