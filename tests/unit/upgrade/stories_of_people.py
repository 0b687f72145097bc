"""What people do to Plans, Tasks and Projects while the operator is at work."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from tests.unit.core import objects
from tests.unit.upgrade.cluster import Cluster, alone, plan, steps
from tests.unit.upgrade.stories import (
    checking,
    done,
    plan_at,
    plan_checks,
    plan_is,
    project,
    story,
    task_is,
    task_lands,
    with_plan,
    with_task,
    working,
)
from tests.unit.upgrade.stories_of_delivery import moved

MOMENTS = (
    plan_is("Starting"),
    task_is(TaskState.OPEN),
    task_is(TaskState.CLAIMED),
    working,
    done,
    checking,
    task_lands,
    plan_at("Landing"),
    plan_is("Succeeded"),
)


@story
def a_task_is_cancelled_at_any_time() -> None:
    for moment in MOMENTS[1:7]:
        world = with_task().until(moment)
        world.cancel("alone")
        world.run_on()
    world = with_task(maxRetries=0).until(task_is(TaskState.FAILED), agent="says AgentFailed")
    world.cancel("alone")
    world.run_on()


@story
def a_plan_is_cancelled_at_any_time() -> None:
    for moment in MOMENTS:
        world = with_plan("a.py", "b.py").until(moment)
        world.change_plan(cancel=Cancel(reason="not needed"))
        world.run_on()
    world = moved("a.py").until(plan_checks)
    world.change_plan(cancel=Cancel())
    world.run_on()


@story
def a_task_is_cancelled_while_its_node_dies() -> None:
    world = with_task().until(working)
    world.heartbeat()
    world.cancel("alone")
    world.settle()
    world.pass_time(61)
    world.settle()
    world.nodes_die()
    world.pass_time(130)
    world.run_on()


@story
def a_stop_comes_before_the_pod_has_started() -> None:
    for pods in (1, 2):
        world = with_task().until(task_is(TaskState.CLAIMED))
        for _ in range(pods):
            world.pods_move(agent="stuck")
        world.cancel("alone")
        world.run_on()


@story
def a_landing_that_failed_unheard_is_cancelled() -> None:
    world = with_task().until(task_lands)
    world.rounds(3, land="lost")
    world.cancel("alone")
    world.run_on()
    world = with_plan("a.py").until(plan_at("Landing"))
    world.rounds(3, land="lost")
    world.change_plan(cancel=Cancel())
    world.run_on()


@story
def a_plan_is_suspended_and_goes_on() -> None:
    for moment in MOMENTS[:-1]:
        world = with_plan("a.py", "b.py", maxAgents=1).until(moment)
        world.change_plan(suspend=True)
        world.rounds(12, 31)
        world.change_plan(suspend=False)
        world.run_on()


@story
def a_budget_is_spent_and_raised() -> None:
    world = with_plan("a.py", "b.py", "c.py", budget="1", maxAgents=1)
    world.rounds(20)
    world.change_plan(budget="100")
    world.run_on()


@story
def a_model_has_no_price() -> None:
    for asked in ("allow", "deny"):
        of = project(budget={"onUnpriced": asked})
        world = Cluster(of, plan(steps("a.py", model="unheard-of"), budget="10"))
        world.rounds(8)
        world.change_project(project(budget={"onUnpriced": "allow"}))
        world.run_on()


@story
def tasks_are_deleted_at_any_time() -> None:
    for moment in (task_is(TaskState.CLAIMED), working, done, plan_is("Running")):
        for propagation in ("Background", "Foreground"):
            world = with_plan("a.py", "b.py").until(moment)
            for name, task in list(world.tasks.items()):
                if task.status.delivery is None:
                    world.delete_task(name, propagation)
            world.run_on()


@story
def tasks_are_deleted_and_made_again() -> None:
    for moment in (working, done):
        world = with_plan("a.py").until(moment)
        for name, task in list(world.tasks.items()):
            if task.status.delivery is None:
                world.delete_task(name)
        for name in list(world.deleted):
            world.apply_again(name)
        world.run_on()


@story
def tasks_wait_for_each_other() -> None:
    tasks = [
        alone("one"),
        alone("two", dependsOn=["one"]),
        alone("three", dependsOn=["two"]),
        alone("lost", dependsOn=["nobody"]),
        alone("round", dependsOn=["about"]),
        alone("about", dependsOn=["round"]),
    ]
    Cluster(project(), None, tasks).rounds(30)
    tasks[0] = alone("one", maxRetries=0)
    Cluster(project(), None, tasks).rounds(30, agent="says AgentFailed")


@story
def tasks_wait_for_their_turn() -> None:
    tasks = [
        alone("one", files=["src/**"]),
        alone("two", files=["src/[ab].py", "docs/*.md"]),
        alone("three", priority=1),
        alone("batch", mode="batch"),
        alone("four"),
    ]
    Cluster(project(limits={"maxAgents": 2}), None, tasks).run_on()
    with_plan("a.py", "b.py", "c.py", maxAgents=1).run_on()


@story
def tasks_wait_for_what_one_of_them_has_found_out() -> None:
    for fate in ("says UsageLimited", "no secret", "checkout"):
        tasks = [alone("one"), alone("two"), alone("three")]
        world = Cluster(project(limits={"maxAgents": 1}), None, tasks)
        world.rounds(8, 31, agent=fate, others=fate)
        world.rounds(8, 301, agent=fate)
        world.change_project(project())
        world.run_on()


@story
def a_plan_is_invalid() -> None:
    for bad in (
        {"cli": "nobody"},
        {"role": "gardener"},
        {"dependsOn": ["nobody"]},
    ):
        world = Cluster(project(), plan(steps("a.py", **bad)))
        world.rounds(3)
        world.change_plan(suspend=True)
        world.rounds(2)
        world.change_plan(cancel=Cancel())
        world.rounds(2)


@story
def the_project_is_not_ready() -> None:
    said = {"type": "Ready", "status": "False", "reason": "NetworkPolicyRefused"}
    condition = said | {"message": "it is refused", "lastTransitionTime": objects.NOW.isoformat()}
    fine = project()
    broken = type(fine).model_validate(fine.dump() | {"status": {"conditions": [condition]}})
    for moment in (None, plan_is("Starting"), working, done):
        world = Cluster(broken if moment is None else fine, plan(steps("a.py")), [alone()])
        if moment is not None:
            world.until(moment)
        world.change_project(broken)
        world.rounds(6)
        world.change_project(fine)
        world.run_on()


@story
def an_agent_is_taken_out_of_the_project() -> None:
    other = [{"name": "other", "adapter": "demo", "image": "agent:1"}]
    for moment in (task_is(TaskState.OPEN), task_is(TaskState.CLAIMED), working):
        world = with_task(cli="demo").until(moment)
        world.change_project(project(agents=other))
        world.rounds(8)
        world.change_project(project())
        world.run_on()


@story
def a_plan_is_deleted_before_its_tasks_are_done() -> None:
    for moment in (task_is(TaskState.OPEN), task_is(TaskState.CLAIMED), working, done, task_lands):
        world = with_plan("a.py").until(moment)
        world.plan = None
        world.rounds(8)
        for name in list(world.tasks):
            world.cancel(name)
        world.rounds(4)
