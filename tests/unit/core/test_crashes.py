"""The operator dies before each of its writes in turn, something happens, the next one goes on.

No write may stand where a crash before or after it tells the next operator a wrong story.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import count

import pytest

from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from bernstein.core.conditions import is_true
from tests.unit.core import objects
from tests.unit.core.simulation.apiserver import Crash
from tests.unit.core.simulation.state import COST, EXAMPLES, TARGET, TOKENS
from tests.unit.core.simulation.world import World, doomed

NO_SCAN = {"name": "pii_scan", "enabled": False}
GATE = {"name": "extra", "command": "true", "image": "extra:1"}


def world(*files: str) -> World:
    """A Plan that has begun, whose target has moved since then."""
    steps = [{"title": f"Do {f}", "files": [f]} for f in files]
    plan = objects.plan(stages=[{"name": "build", "steps": steps}])
    made = World(objects.project(gates={"pipeline": [NO_SCAN]}), plan)
    assert plan.status.integration is not None
    integration = plan.status.integration.model_copy(
        update={"target_sha": made.remote.refs[TARGET]}
    )
    made.remote.refs[integration.ref] = integration.target_sha
    begun = plan.status.model_copy(update={"integration": integration, "expanded": False})
    made.plan = plan.model_copy(update={"status": begun})
    made.remote.human_pushes(TARGET, "human.py", "first")
    return made


def cancel_tasks(world: World) -> None:
    for name in list(world.tasks):
        world.cancel(name)


def cancel_plan(world: World) -> None:
    world.change_plan(cancel=Cancel())


def pods_end(world: World, fate: str = "good") -> None:
    for _ in range(3):
        for name in list(world.jobs):
            world.play(name, fate)


def pods_end_and_tasks_are_cancelled(world: World) -> None:
    pods_end(world)
    cancel_tasks(world)


def pods_end_and_the_plan_is_cancelled(world: World) -> None:
    pods_end(world)
    cancel_plan(world)


def pods_end_unheard(world: World) -> None:
    pods_end(world, "lost")


def pods_end_unheard_and_tasks_are_cancelled(world: World) -> None:
    pods_end(world, "lost")
    cancel_tasks(world)


def pods_end_unheard_and_the_plan_is_cancelled(world: World) -> None:
    pods_end(world, "lost")
    cancel_plan(world)


def jobs_are_deleted(world: World) -> None:
    for name in list(world.jobs):
        world.play(name, "deleted")


def sessions_are_deleted(world: World) -> None:
    for name in list(world.sessions):
        world.delete_session(name)


def sessions_are_deleted_as_their_pods_end(world: World) -> None:
    pods_end(world)
    sessions_are_deleted(world)


def the_project_gains_a_gate(world: World) -> None:
    world.change_project(objects.project(gates={"pipeline": [NO_SCAN, GATE]}))


def pods_end_and_the_project_gains_a_gate(world: World) -> None:
    pods_end(world)
    the_project_gains_a_gate(world)


def the_project_changes_a_gate(world: World) -> None:
    lint = {"name": "lint", "command": "ruff check --select ALL ."}
    world.change_project(objects.project(gates={"pipeline": [NO_SCAN, lint]}))


def pods_end_and_the_project_changes_a_gate(world: World) -> None:
    pods_end(world)
    the_project_changes_a_gate(world)


def somebody_pushes(world: World) -> None:
    world.remote.human_pushes(TARGET, "human.py", "second")


EVENTS: list[Callable[[World], None]] = [
    cancel_tasks,
    cancel_plan,
    pods_end_and_tasks_are_cancelled,
    pods_end_and_the_plan_is_cancelled,
    pods_end_unheard,
    pods_end_unheard_and_tasks_are_cancelled,
    pods_end_unheard_and_the_plan_is_cancelled,
    jobs_are_deleted,
    sessions_are_deleted,
    sessions_are_deleted_as_their_pods_end,
    the_project_gains_a_gate,
    pods_end_and_the_project_gains_a_gate,
    the_project_changes_a_gate,
    pods_end_and_the_project_changes_a_gate,
]


@cache
def crashed(*files: str) -> list[World]:
    """The world at every moment: before each write, and before pods move."""
    found = [moment.copy() for moment in world(*files).moments()]
    for writes in count():
        subject = world(*files)
        subject.budget = writes
        try:
            subject.run_on()
        except Crash:
            subject.budget = None
            found.append(subject)
        else:
            break
    return found


def ends_well(subject: World) -> None:
    plan = subject.plan
    assert plan is not None
    cancelled = plan.spec.cancel is not None
    for task in subject.tasks.values():
        assert Decimal(task.status.spend_usd) == COST * subject.seen.spent[task.metadata.uid]
        if task.spec.cancel is None:
            assert task.status.state is TaskState.CLOSED, task.status
        else:
            assert task.status.state is TaskState.CLOSED or doomed(task), task.status
    if not any(map(doomed, subject.tasks.values())):
        assert plan.status.phase == ("Cancelled" if cancelled else "Succeeded") or (
            plan.status.phase == "Succeeded"
        )
    elif cancelled:
        assert plan.status.phase == "Cancelled"
    else:
        assert is_true(plan.status.conditions, "Stalled")
    runs = sum(subject.seen.spent.values())
    assert runs <= 2 * len(subject.tasks), "an agent ran once more than it was disturbed"


@pytest.mark.parametrize("event", EVENTS)
def test_a_crash_anywhere_in_a_plan_with_one_task(event: Callable[[World], None]) -> None:
    found = crashed("a.py")
    assert len(found) > 30
    every = 1 if event is pods_end_and_the_plan_is_cancelled else 3
    for subject in chosen(found, EVENTS.index(event), every):
        goes_on(subject.copy(), event)


@pytest.mark.parametrize("event", [pods_end, pods_end_unheard, somebody_pushes])
def test_a_crash_anywhere_while_one_task_lands_after_another(
    event: Callable[[World], None],
) -> None:
    found = crashed("a.py", "b.py")
    assert len(found) > 50
    for subject in chosen(found, 0, 10):
        goes_on(subject.copy(), event)


def chosen(found: list[World], offset: int, every: int) -> list[World]:
    """The usual run takes some, each event others; a search takes all."""
    return found if EXAMPLES else found[offset % every :: every]


def goes_on(subject: World, event: Callable[[World], None]) -> None:
    event(subject)
    subject.check()
    subject.run_on()
    ends_well(subject)


# --- Tasks are deleted ---------------------------------------------------------------------------


def while_agents_work(*files: str) -> World:
    """Two agents are at work."""
    made = world(*files)
    for moment in made.moments():
        if all(t.status.state is TaskState.IN_PROGRESS for t in moment.tasks.values()):
            return moment
    raise AssertionError("no agent ever works")


def tasks_are_deleted(world: World, propagation: str = "Background") -> None:
    for name in list(world.tasks):
        world.delete_task(name, propagation)


def tasks_are_deleted_in_the_foreground(world: World) -> None:
    tasks_are_deleted(world, "Foreground")


def pods_end_and_tasks_are_deleted(world: World) -> None:
    pods_end(world)
    tasks_are_deleted(world)


def tasks_are_deleted_and_applied_again(world: World) -> None:
    tasks_are_deleted(world)
    for name in list(world.deleted):
        world.apply_again(name)


def tasks_are_deleted_and_sessions_are_looked_at_before_the_plan(world: World) -> None:
    tasks_are_deleted(world)
    for _ in range(6):
        world.collect()
        for name in list(world.sessions):
            world.reconcile_session(name)
        pods_end(world)


DELETIONS: list[Callable[[World], None]] = [
    tasks_are_deleted,
    tasks_are_deleted_and_sessions_are_looked_at_before_the_plan,
    tasks_are_deleted_in_the_foreground,
    pods_end_and_tasks_are_deleted,
    tasks_are_deleted_and_applied_again,
]


def no_spend_is_lost(subject: World, deleted: set[str]) -> None:
    """And nothing is left of what was deleted."""
    subject.run_on()
    plan = subject.plan
    assert plan is not None
    spent = sum(subject.seen.spent.values())
    assert Decimal(plan.status.spend_usd) == COST * spent
    assert plan.status.usage.input == TOKENS.input * spent
    assert plan.status.settled is None or plan.status.settled.sessions == ()
    assert not deleted & {s.spec.task_ref.uid for s in subject.sessions.values()}
    assert not deleted & {t.metadata.uid for t in subject.tasks.values()}
    before = subject.seen.writes
    subject.settle()
    assert subject.seen.writes == before


@pytest.mark.parametrize("event", DELETIONS)
def test_a_task_that_is_deleted_at_any_time_loses_no_spend(event: Callable[[World], None]) -> None:
    for subject in chosen(crashed("a.py"), DELETIONS.index(event), 3):
        landed = any(subject.seen.landed_by[t.metadata.uid] for t in subject.tasks.values())
        if landed and event is tasks_are_deleted_and_applied_again:
            continue  # the same work once more, beside what has landed already
        subject = subject.copy()
        deleted = {t.metadata.uid for t in subject.tasks.values()}
        event(subject)
        subject.check()
        no_spend_is_lost(subject, deleted)


@pytest.mark.parametrize("event", DELETIONS)
def test_a_crash_anywhere_after_tasks_were_deleted_counts_their_agents_once(
    event: Callable[[World], None],
) -> None:
    begun = while_agents_work("a.py", "b.py")
    deleted = {t.metadata.uid for t in begun.tasks.values()}
    for writes in count():
        subject = begun.copy()
        event(subject)
        subject.budget = writes
        try:
            subject.run_on()
        except Crash:
            subject.budget = None
            subject.check()
            no_spend_is_lost(subject, deleted)
        else:
            break
    assert writes > 3
