"""How work lands, or does not, and what judges a Plan as a whole."""

from __future__ import annotations

from typing import Any

from bernstein.api.waiting import Cancel
from tests.unit.core.simulation.state import TARGET
from tests.unit.upgrade.cluster import Cluster, alone
from tests.unit.upgrade.stories import (
    checking,
    done,
    plan_at,
    plan_checks,
    project,
    stalled,
    story,
    task_lands,
    with_plan,
    with_task,
    working,
)


@story
def tasks_land_one_after_another() -> None:
    for backwards in (False, True):
        world = with_plan("a.py", "b.py", "c.py")
        world.backwards = backwards
        world.run_on()
    Cluster(project(), None, [alone("one"), alone("two", priority=1)]).run_on()


@story
def the_target_moves_before_a_task_lands() -> None:
    for moment in (working, checking, task_lands):
        world = with_task().until(moment)
        world.remote.human_pushes(TARGET, "human.py", "first")
        world.run_on()


@story
def a_task_conflicts_with_what_landed() -> None:
    world = with_task().until(working)
    world.remote.human_pushes(TARGET, "alone.py", "first")
    world.until(stalled)
    world.rounds(3, 301)
    world.change_project()
    world.rounds(3)
    world.cancel("alone")
    world.run_on()


@story
def what_a_task_changes_has_landed_already() -> None:
    world = with_task().until(done)
    verified = world.only_task().status.verification
    assert verified is not None
    ((path, text),) = set(world.remote.files(verified.sha).items()) - set(
        world.remote.files(verified.base).items()
    )
    world.remote.human_pushes(TARGET, path, text)
    world.run_on()


LANDINGS = (
    "bad",
    "disrupted",
    "lost",
    "deleted",
    "oom",
    "fails CredentialRefused",
    "fails PushRejected",
    "fails RefMoved",
    "fails TreeMismatch",
    "fails NotOnBase",
    "fails RepositoryUnreachable",
    "fails InternalError",
)


@story
def a_task_cannot_land() -> None:
    for fate in LANDINGS:
        world = with_task().until(task_lands)
        world.rounds(4, land=fate)
        world.rounds(24, 61, land=fate)
        world.run_on()


@story
def a_candidate_cannot_be_made() -> None:
    for fate in LANDINGS:
        world = with_task().until(working)
        world.remote.human_pushes(TARGET, "human.py", "first")
        world.rounds(20, 31, prepare=fate)
        world.run_on()


@story
def the_candidate_does_not_pass() -> None:
    for fate in ("bad", "disrupted", "empty", "out of memory"):
        world = with_task(maxRetries=1).until(task_lands)
        world.remote.human_pushes(TARGET, "human.py", "first")
        world.rounds(16, 31, lint=fate)
        world.run_on()


# --- a Plan as a whole ----------------------------------------------------------------------------


def moved(*files: str, **spec: Any) -> Cluster:
    """The target has moved since the Plan began."""
    world = with_plan(*files, **spec).until(working)
    world.remote.human_pushes(TARGET, "human.py", "first")
    return world


@story
def a_plan_is_verified_again_because_its_target_moved() -> None:
    moved("a.py").run_on()
    moved("a.py", "b.py").run_on()
    world = moved("a.py").until(plan_checks)
    world.remote.human_pushes(TARGET, "human.py", "second")
    world.run_on()


@story
def a_plan_as_a_whole_does_not_pass() -> None:
    for fate in ("bad", "prints", "late", "out of memory", "evicted"):
        world = moved("a.py").until(plan_checks)
        world.rounds(6, lint=fate)
        world.rounds(3, 301, lint=fate)
        world.change_project()
        world.run_on()


@story
def a_check_of_a_plan_cannot_run() -> None:
    for fate in ("empty", "moved", "unreachable", "deleted"):
        world = moved("a.py").until(plan_checks)
        world.rounds(3, lint=fate)
        world.rounds(6, 301, lint=fate)
        world.run_on()


@story
def a_check_of_a_plan_is_drained() -> None:
    world = moved("a.py").until(plan_checks)
    world.rounds(3, lint="disrupted")
    world.rounds(6, 301, lint="disrupted")
    world.run_on()


@story
def a_check_of_a_plan_does_not_start() -> None:
    for fate in ("stuck", "unschedulable"):
        world = moved("a.py").until(plan_at("Preparing")).rounds(4)
        world.rounds(4, 301, lint=fate)
        world.run_on()


@story
def a_plan_cannot_begin() -> None:
    for fate in (*LANDINGS, "stuck"):
        world = with_plan("a.py")
        world.rounds(6, 301, begin=fate)
        world.run_on()


@story
def a_plan_cannot_land() -> None:
    for fate in LANDINGS:
        world = with_plan("a.py").until(plan_at("Landing"))
        world.rounds(3, land=fate)
        world.rounds(8, 301, land=fate)
        world.run_on()


@story
def a_plan_cannot_make_its_candidate() -> None:
    for fate in LANDINGS:
        world = moved("a.py").until(plan_at("Preparing"))
        world.rounds(3, prepare=fate)
        world.rounds(8, 301, prepare=fate)
        world.run_on()


@story
def a_plan_conflicts_with_its_target() -> None:
    world = with_plan("a.py").until(working)
    world.remote.human_pushes(TARGET, "a.py", "first")
    world.until(stalled)
    world.rounds(4, 301)
    world.change_plan(cancel=Cancel())
    world.run_on()
