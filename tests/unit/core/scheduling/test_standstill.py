"""What stands still says so, with its cause, wherever that sits; and no more once it moves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import Waiting
from bernstein.core import conditions
from tests.unit.core import objects
from tests.unit.core.objects import at, failed, job, over, plan, project, stalled_for, status
from tests.unit.core.plans.decisions import again, look
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule

MISSING = 'secret "model-key" not found'
REMEDY = "Create the Secret (or the key in it)"


def held(name: str = "first", until: float = 8, message: str = MISSING, owner: str = "one") -> Task:
    """It has met the missing Secret itself."""
    said = f"{message}. Remedy: {REMEDY}: spec.agents[0].apiKey.name."
    waiting = objects.held("SecretNotFound", at(until), said, needs_person=True)
    return objects.task(name, plan=owner, status=status(waiting=waiting), stage="build")


def behind() -> Task:
    return objects.task("second", plan="two", status=status(), stage="build")


def written(*tasks: Task, now: float = 0, generation: int = 1) -> dict[str, Task]:
    """The Tasks after one schedule of their Project; each of the Plan that its name says."""
    there = project()
    meta = there.metadata.model_copy(update={"generation": generation})
    found = schedule(
        ProjectSnapshot(
            project=there.model_copy(update={"metadata": meta}),
            members=tasks,
            plan_of={t.metadata.name: _plan_of(t) for t in tasks},
            tasks={t.metadata.name: t for t in tasks},
        ),
        at(now),
    )
    new = {t.metadata.name: s for t, s in (*found.moves, *found.waits)}
    return {
        t.metadata.name: t.model_copy(update={"status": new.get(t.metadata.name, t.status)})
        for t in tasks
    }


def _plan_of(task: Task) -> Plan:
    return plan(task.metadata.owner_references[0].name)


def waiting(subject: Task | Plan) -> Waiting:
    assert subject.status.waiting is not None
    return subject.status.waiting


def test_a_task_behind_another_plans_missing_secret_is_stalled_with_that_cause() -> None:
    second = written(held(), behind())["second"]

    assert stalled_for(second.status.conditions) == "SecretNotFound"
    assert waiting(second).message == (
        f"'first' tries first whether it is mended: {MISSING}. "
        f"Remedy: {REMEDY}: spec.agents[0].apiKey.name."
    )


def test_a_plan_behind_another_plans_missing_secret_is_stalled_with_that_cause() -> None:
    second = written(held(), behind())["second"]

    found = look(plan("two"), second).status

    assert (found.phase, stalled_for(found.conditions)) == ("Stalled", "SecretNotFound")
    assert conditions.find(found.conditions, "Reconciling") is None
    assert MISSING in found.waiting.message if found.waiting else False
    assert REMEDY in found.waiting.message if found.waiting else False


def test_who_waits_behind_it_stays_stalled_while_it_is_tried_and_moves_once_it_runs() -> None:
    tasks = written(held(), behind())
    tried = written(*tasks.values(), now=8)
    assert tried["first"].status.state is TaskState.CLAIMED
    assert stalled_for(tried["first"].status.conditions) == "SecretNotFound"
    assert written(*tried.values(), now=9) == tried
    assert look(plan("two"), tried["second"]).status.phase == "Stalled"

    runs = tried["first"].model_copy(update={"status": status(TaskState.IN_PROGRESS)})
    moves = written(runs, tried["second"], now=10)["second"]

    assert moves.status.state is TaskState.CLAIMED
    assert stalled_for(moves.status.conditions) is None
    assert look(plan("two"), moves).status.phase == "Running"


def test_a_changed_project_is_reason_to_believe_that_it_moves() -> None:
    tried = written(held(), behind(), generation=2)

    assert tried["first"].status.state is TaskState.CLAIMED
    assert stalled_for(tried["first"].status.conditions) is None
    assert stalled_for(tried["second"].status.conditions) is None


def test_another_wording_of_the_same_cause_is_not_told_to_all_behind_it() -> None:
    tasks = written(held(), behind())

    again_ = written(held(message=f"{MISSING} (pod x-2)"), tasks["second"])

    assert again_["second"] == tasks["second"]


def test_who_waits_behind_what_passes_by_itself_is_not_stalled() -> None:
    limited = objects.held("RateLimited", at(30), "slow down")
    first = objects.task("first", plan="one", status=status(waiting=limited))
    other = objects.task("other", plan="one", status=status(waiting=limited))

    second = written(first, other, behind())["second"]

    assert waiting(second).reason == "RateLimited"
    assert stalled_for(second.status.conditions) is None
    assert look(plan("two"), second).status.phase == "Running"


def test_a_plan_that_is_stuck_at_its_beginning_is_stalled_until_it_has_begun() -> None:
    new = plan(begun=False)
    first = again(new, look(new))
    bad = job("web-begin-0", over(failed("begin", "RepositoryAuthFailed", "wrong password")))

    stuck = again(new, look(first, jobs=(bad,)))
    tries = again(new, look(stuck, jobs=(bad,), now=301))

    for each in (stuck, tries):
        assert each.status.phase == "Stalled"
        assert stalled_for(each.status.conditions) == "RepositoryAuthFailed"
        assert "wrong password" in waiting(each).message
    assert tries.status.jobs == 1
    assert waiting(stuck).until is not None
    assert waiting(tries).until is None
    assert again(new, look(tries, jobs=(bad,), now=302)).status.jobs == 1, "one Job for each try"


def test_a_plan_tells_when_its_task_is_tried_again() -> None:
    found = look(plan("one"), held(until=77)).status

    assert found.waiting is not None
    assert found.waiting.until == at(77)


NO_NODE = objects.waits("Unschedulable", "no node has room for its pod: 0/3 nodes")


def test_a_plan_of_which_no_pod_finds_a_node_says_so_with_the_schedulers_words() -> None:
    first = objects.task("first", status=status(TaskState.CLAIMED, waiting=NO_NODE))
    full = objects.waits("MaxAgents", "the one agent of the Project is at work")
    behind_it = objects.task("a-second", status=status(waiting=full))

    found = look(plan(), behind_it, first).status

    assert (found.phase, waiting(look_of(found)).reason) == ("Running", "Unschedulable")
    assert waiting(look_of(found)).message.startswith("Task 'first': no node has room for its pod")
    doing = conditions.find(found.conditions, "Reconciling")
    assert doing is not None
    assert doing.reason == "Unschedulable"


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.DONE])
def test_a_plan_of_which_another_task_is_at_work_runs_whoever_finds_no_node(
    state: TaskState,
) -> None:
    first = objects.task("first", status=status(TaskState.CLAIMED, waiting=NO_NODE))
    other = objects.task("other", status=objects.with_session(state))

    assert look(plan(), first, other).status.waiting is None


def look_of(found: PlanStatus) -> Plan:
    return plan().model_copy(update={"status": found})


def upstream(waits_for: Waiting | None, owner: str | None = None) -> Task:
    return objects.task("up", plan=owner, status=status(TaskState.DONE, waiting=waits_for))


def downstream(*names: str, after: str = "up", found: TaskStatus | None = None) -> Task:
    name = names[0] if names else "down"
    return objects.task(name, plan=None, status=found or status(), depends_on=[after])


def scheduled(*tasks: Task) -> dict[str, Task]:
    """After one schedule of Tasks of which some belong to the Plan `one`."""
    found = schedule(
        ProjectSnapshot(
            project=project(),
            members=tasks,
            plan_of={t.metadata.name: plan("one") for t in tasks if t.metadata.owner_references},
            tasks={t.metadata.name: t for t in tasks},
        ),
        at(0),
    )
    new = {t.metadata.name: s for t, s in (*found.moves, *found.waits)}
    return {
        t.metadata.name: t.model_copy(update={"status": new.get(t.metadata.name, t.status)})
        for t in tasks
    }


CONFLICT = objects.waits(
    "MergeConflict", "it conflicts in a.py. Remedy: Cancel it.", needs_person=True
)


@pytest.mark.parametrize("owner", ["one", None])
def test_what_stands_behind_a_stalled_task_says_so_and_names_it(owner: str | None) -> None:
    down = scheduled(upstream(CONFLICT, owner), downstream())["down"]

    assert stalled_for(down.status.conditions) == "MergeConflict"
    assert waiting(down).message == (
        "Task 'up', which this one depends on, stands still: it conflicts in a.py. "
        "Remedy: Cancel it."
    )


def test_what_stands_behind_that_stands_still_for_the_same_cause() -> None:
    tasks = scheduled(upstream(CONFLICT), downstream(), downstream("last", after="down"))

    last = scheduled(*tasks.values())["last"]

    assert stalled_for(last.status.conditions) == "MergeConflict"
    assert "Task 'down', which this one depends on, stands still" in waiting(last).message
    assert "it conflicts in a.py" in waiting(last).message


def test_it_waits_as_before_once_the_other_one_moves() -> None:
    tasks = scheduled(upstream(CONFLICT), downstream())

    down = scheduled(upstream(None), tasks["down"])["down"]

    assert waiting(down).reason == "DependencyPending"
    assert stalled_for(down.status.conditions) is None


def test_other_words_of_the_same_cause_are_not_told_to_what_depends_on_it() -> None:
    tasks = scheduled(upstream(CONFLICT), downstream())
    other = CONFLICT.model_copy(update={"message": "it conflicts in b.py. Remedy: Cancel it."})

    assert scheduled(upstream(other), tasks["down"])["down"] == tasks["down"]


def test_a_task_of_a_plan_that_depends_on_a_stalled_one_leaves_it_to_the_plan_to_say() -> None:
    down = objects.task("down", plan="one", status=status(), depends_on=["up"])

    found = scheduled(upstream(CONFLICT, "one"), down)["down"]

    assert waiting(found).reason == "DependencyPending"
    stalled = look(plan("one"), upstream(CONFLICT, "one"), found).status
    assert "Task 'up': it conflicts in a.py" in waiting(look_of(stalled)).message


@pytest.mark.parametrize("reason", ["MergeConflict", "GateErrored", "BranchProtected"])
def test_a_task_that_is_done_and_stalled_stalls_its_plan(reason: str) -> None:
    said = objects.waits(reason, "because of this", needs_person=True)
    done = objects.task("work", status=status(TaskState.DONE, waiting=said), stage="build")

    found = look(plan(), done).status

    assert (found.phase, stalled_for(found.conditions)) == ("Stalled", reason)
    assert found.waiting is not None
    assert "Task 'work': because of this" in found.waiting.message


ENDED: Sequence[tuple[TaskState, int]] = ((TaskState.FAILED, 4), (TaskState.CANCELLED, 0))


@pytest.mark.parametrize(("state", "attempts"), ENDED)
@pytest.mark.parametrize("owner", ["one", None])
def test_what_depends_on_a_task_that_ended_without_result_says_so_and_what_helps(
    owner: str | None, state: TaskState, attempts: int
) -> None:
    ended = objects.task("a", plan=owner, status=status(state, attempt=attempts))
    after = objects.task("b", plan=owner, status=status(), depends_on=["a"])
    members = (ended, after)
    found = schedule(
        ProjectSnapshot(
            project=project(),
            members=members,
            plan_of={t.metadata.name: plan("one") for t in members if owner},
            tasks={t.metadata.name: t for t in members},
        ),
        at(0),
    )

    ((_, told),) = found.waits

    assert stalled_for(told.conditions) == "DependencyFailed"
    assert told.waiting is not None
    assert f"Task 'a' ended as {state}" in told.waiting.message
    assert "Remedy: " in told.waiting.message


def test_one_that_failed_is_one_task() -> None:
    lost = objects.task("work", status=status(TaskState.FAILED, attempt=4), stage="build")

    found = look(plan(), lost).status

    assert found.waiting is not None
    assert found.waiting.message.startswith("1 Task ended without result: 'work'")
