"""The schedule of a Project: nobody starves, nobody is passed, nothing is handed out twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import conditions, owners
from bernstein.core.conditions import busy
from bernstein.core.fsm import ACTIVE
from bernstein.core.scheduling import chain, opening
from bernstein.core.scheduling import schedule as schedule_module
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.schedule import Schedule
from bernstein.core.snapshot import TaskSnapshot
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, project, status
from tests.unit.core.scheduling.overlap import overlap
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import reasons, schedule, starts

MOVED = busy(status(TaskState.DONE), "Verifying", "", NOW)


def snapshot(*tasks: Task, plans: tuple[Plan, ...] = (), of: Project | None = None) -> Any:
    by_uid = {plan.metadata.uid: plan for plan in plans}
    owned = ((t.metadata.name, owners.plan_uid(t) or "") for t in tasks)
    return ProjectSnapshot(
        project=of or project(),
        members=tasks,
        plan_of={name: by_uid[plan] for name, plan in owned if plan in by_uid},
        tasks={t.metadata.name: t for t in tasks},
    )


def task(name: str, state: TaskState = TaskState.OPEN, **more: Any) -> Task:
    found = more.pop("status", None) or status(state)
    return objects.task(name, status=found, **({"plan": None} | more))


def limited(agents: int, **more: Any) -> Project:
    return project(limits={"maxAgents": agents, **more})


def deleting(found: Task) -> Task:
    meta = found.metadata.model_copy(update={"deletion_timestamp": NOW})
    return found.model_copy(update={"metadata": meta})


# --- who comes first ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (["CHANGELOG.md"], None),
        (["CHANGELOG.md", "src/b.py"], None),
        (["CHANGELOG.md", "src/a.py"], "FileOverlap: its files overlap with those of 'work'"),
        (["**"], "FileOverlap: its files overlap with those of 'work'"),
    ],
)
def test_files_that_are_only_added_to_keep_nobody_waiting(
    files: list[str], reason: str | None
) -> None:
    at_work = task("work", TaskState.IN_PROGRESS, files=["src/a.py", "CHANGELOG.md"])
    tasks = snapshot(at_work, task("me", files=files), of=project(appendOnly=["CHANGELOG.md"]))

    assert reasons(schedule(tasks, NOW)).get("me") == reason


def test_a_waiting_task_that_is_ahead_reserves_its_files() -> None:
    at_work = task("work", TaskState.IN_PROGRESS, files=["a.py"])
    everything = task("everything", priority=1, files=["**"])
    small = task("small", files=["b.py"])

    found = schedule(snapshot(at_work, small, everything), NOW)

    assert starts(found) == []
    assert reasons(found) == {
        "everything": "FileOverlap: its files overlap with those of 'work'",
        "small": "FileOverlap: its files overlap with those of 'everything'",
    }


def test_who_waits_for_something_else_reserves_nothing() -> None:
    hold = objects.held("InfrastructureError", at(30))
    at_work = task("work", TaskState.IN_PROGRESS, files=["a.py"])
    held = task("held", priority=1, files=["**"], status=status(waiting=hold))
    depends = task("depends", priority=1, files=["**"], dependsOn=["work"])
    suspended = task("suspended", priority=1, files=["**"], plan="web")
    small = task("small", files=["b.py"])

    tasks = (at_work, held, depends, suspended, small)
    found = schedule(snapshot(*tasks, plans=(objects.plan(suspend=True),)), NOW)

    assert starts(found) == ["small"]
    assert found.again == 30


def test_whom_its_own_plan_keeps_waiting_reserves_nothing_of_other_plans() -> None:
    full = objects.plan("full", maxAgents=1)
    at_work = task("work", TaskState.IN_PROGRESS, plan="full", files=["a.py"])
    ahead = task("ahead", plan="full", priority=1, files=["**"])
    small = task("small", files=["b.py"])

    assert starts(schedule(snapshot(at_work, ahead, small, plans=(full,)), NOW)) == ["small"]


def test_who_waits_for_files_keeps_a_place_among_the_agents_of_its_plan() -> None:
    """Else those behind it in its Plan take that place again and again, and others its files."""
    plan = objects.plan("web", maxAgents=1)
    verified = task("verified", TaskState.DONE, plan="web", files=["a.py"])
    ahead = task("ahead", plan="web", priority=1, files=["a.py"])
    behind = task("behind", plan="web", files=["b.py"])
    other = task("other", files=["c.py"])

    found = schedule(snapshot(verified, ahead, behind, other, plans=(plan,)), NOW)

    assert starts(found) == ["other"]
    assert "kept for a Task before it" in reasons(found)["behind"]


def test_words_stay_when_the_first_one_goes_on() -> None:
    line = [task(f"t{number}", files=["a.py"]) for number in range(4)]
    first = {t.metadata.name: s for t, s in _all(schedule(snapshot(*line), NOW))}
    landed = task("t0", TaskState.CLOSED, files=["a.py"])
    waiting = [task(f"t{n}", files=["a.py"], status=first[f"t{n}"]) for n in range(1, 4)]

    found = schedule(snapshot(landed, *waiting), NOW)

    assert starts(found) == ["t1"]
    assert reasons(found) == {}, "one write, however many wait"


def test_what_is_told_already_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [task(f"t{n}", dependsOn=[f"t{(n + 1) % 3}"]) for n in range(3)]
    missing = task("missing", dependsOn=["nobody"])
    first = {t.metadata.name: s for t, s in schedule(snapshot(*ring, missing), NOW).waits}
    assert len(first) == 4

    monkeypatch.setattr(opening, "waits", worked_out_for_nothing)
    told = [each.model_copy(update={"status": first[each.metadata.name]}) for each in ring]
    told.append(missing.model_copy(update={"status": first["missing"]}))

    assert schedule(snapshot(*told), NOW).waits == ()


def worked_out_for_nothing(*_: object) -> None:
    raise AssertionError("it says so already")


def test_no_more_is_worked_out_than_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_module, "WAITS_AT_ONCE", 5)
    worked_out: list[str] = []

    def counted(subject: TaskSnapshot, *more: Any) -> TaskStatus:
        worked_out.append(subject.task.metadata.name)
        return waits(subject, *more)

    waits = opening.waits
    monkeypatch.setattr(opening, "waits", counted)
    line = [task(f"t{number}") for number in range(40)]

    found = schedule(snapshot(*line, of=limited(1)), NOW)

    assert len(found.moves) == 1
    assert [t.metadata.name for t, _ in found.waits] == worked_out[:5]
    assert found.more
    assert len(worked_out) == 6, "one more, to know that there is one"
    assert not schedule(snapshot(*line[:6], of=limited(1)), NOW).more


def _all(found: Schedule) -> list[Any]:
    return [*found.moves, *found.waits]


def test_a_lower_priority_takes_no_place_that_a_higher_one_could_have() -> None:
    low, high = task("a", priority=3), task("z", priority=1)

    assert starts(schedule(snapshot(low, high, of=limited(1)), NOW)) == ["z"]


@pytest.mark.parametrize(("mode", "started"), [("batch", ["z"]), (None, ["a"])])
def test_batch_takes_no_place_while_another_task_is_ready(
    mode: str | None, started: list[str]
) -> None:
    first, other = task("a", priority=1, mode=mode), task("z", priority=5)

    assert starts(schedule(snapshot(first, other, of=limited(1)), NOW)) == started


def test_batch_runs_when_those_that_wait_are_held_by_something_broken() -> None:
    hold = objects.held("SecretNotFound", at(30))
    held = task("held", status=status(waiting=hold))
    behind, batch = task("behind"), task("batch", cli="other", mode="batch")
    agents = [{"name": n, "adapter": "demo", "image": "a"} for n in ("demo", "other")]

    found = schedule(snapshot(held, behind, batch, of=project(agents=agents)), NOW)

    assert starts(found) == ["batch"]


# --- what is taken --------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS])
def test_a_task_that_is_being_deleted_keeps_its_agent_and_files(state: TaskState) -> None:
    going = deleting(task("going", state, files=["a.py"]))

    assert starts(schedule(snapshot(going, task("next"), of=limited(1)), NOW)) == []
    assert starts(schedule(snapshot(going, task("next", files=["a.py"])), NOW)) == []


def test_who_is_being_deleted_or_cancelled_neither_starts_nor_holds_others() -> None:
    hold = objects.held("SecretNotFound", at(30))
    held = status(waiting=hold)
    going = deleting(task("going", status=held))
    cancelled = task("cancelled", status=held, cancel={"reason": "no"})

    found = schedule(snapshot(going, cancelled, task("next")), NOW)

    assert [t.metadata.name for t, _ in _all(found)] == ["next"]
    assert starts(found) == ["next"]


# --- whatever there is ----------------------------------------------------------------------------

PATHS = st.sampled_from(["a", "a/b", "a/*", "**", "c", "[cd]"])
SPECS = st.fixed_dictionaries(
    {
        "plan": st.sampled_from(["web", "app", None]),
        "priority": st.integers(1, 5),
        "mode": st.sampled_from([None, None, None, "batch"]),
        "files": st.lists(PATHS, max_size=2),
    }
)
PLANS = tuple(objects.plan(name, maxAgents=most) for name, most in (("web", 1), ("app", 2)))
MOST = {plan.metadata.uid: plan.spec.max_agents or 0 for plan in PLANS}


@dataclass
class Run:
    """A Project whose agents end one after the other, and whose work then lands."""

    tasks: dict[str, Task]
    project: Project

    def look(self) -> list[str]:
        found = schedule(snapshot(*self.tasks.values(), plans=PLANS, of=self.project), NOW)
        self._in_order(found)
        for each, new in _all(found):
            self.put(each.metadata.name, new)
        self._within_limits()
        return starts(found)

    def put(self, name: str, new: Any) -> None:
        self.tasks[name] = self.tasks[name].model_copy(update={"status": new})

    def at_work(self) -> list[Task]:
        return [t for t in self.tasks.values() if t.status.state in ACTIVE]

    def move(self, number: int) -> bool:
        """What was begun goes one step on; whether there was anything."""
        moving = [t for t in self.tasks.values() if t.status.state in ACTIVE | {TaskState.DONE}]
        if not moving:
            return False
        name = moving[number % len(moving)].metadata.name
        state = self.tasks[name].status.state
        self.put(name, status(TaskState.CLOSED) if state is TaskState.DONE else MOVED)
        return True

    def _within_limits(self) -> None:
        active = self.at_work()
        assert len(active) <= self.project.spec.limits.max_agents
        for plan, most in MOST.items():
            assert sum(owners.plan_uid(t) == plan for t in active) <= most
        holding = [t for t in self.tasks.values() if t.status.state in ACTIVE | {TaskState.DONE}]
        for number, one in enumerate(holding):
            for other in holding[number + 1 :]:
                assert not overlap(one.spec.files, other.spec.files)

    def _in_order(self, found: Schedule) -> None:
        begun = [self.tasks[name] for name in starts(found)]
        waiting = [t for t in self.tasks.values() if t.status.state is TaskState.OPEN]
        left = [t for t in waiting if t not in begun]
        if any(t.spec.mode == "batch" for t in begun):
            assert all(t.spec.mode == "batch" for t in waiting)
        for one in begun:
            for other in left:
                alike = _alike(one) == _alike(other)
                assert not (alike and other.spec.priority < one.spec.priority)


def _alike(found: Task) -> tuple[object, ...]:
    """Tasks for which the same is free or taken."""
    return owners.plan_uid(found), found.spec.files, found.spec.mode


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.lists(SPECS, min_size=1, max_size=8),
    st.integers(1, 3),
    st.booleans(),
    st.lists(st.integers(0, 9), min_size=40, max_size=40),
    st.lists(SPECS, max_size=10),
)
def test_limits_order_and_files_are_kept_and_everybody_comes_to_work(
    made: list[dict[str, Any]],
    agents: int,
    exclusive: bool,
    steps: list[int],
    late: list[dict[str, Any]],
) -> None:
    """Others come while it goes on; then as many steps as it takes."""
    run = Run(
        {f"t{n}": task(f"t{n}", **one) for n, one in enumerate(made)},
        limited(agents, undeclaredFilesExclusive=exclusive),
    )
    for number, step in enumerate(steps):
        run.look()
        run.move(step)
        if number < len(late):
            run.tasks[f"late{number}"] = task(f"late{number}", created=at(number), **late[number])
    for number in range(200):
        run.look()
        if not run.move(number):
            break
    assert {t.status.state for t in run.tasks.values()} == {TaskState.CLOSED}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 9), min_size=60, max_size=60), st.data())
def test_a_wide_task_of_the_highest_priority_is_not_starved(
    steps: list[int], data: st.DataObject
) -> None:
    """However many small ones keep coming, whose files are free at the moment."""
    first = [task(f"s{n}", TaskState.IN_PROGRESS, files=[f"{n}.py"]) for n in range(2)]
    wide = task("wide", priority=1, files=["**"])
    run = Run({t.metadata.name: t for t in (*first, wide)}, limited(3))
    for number, step in enumerate(steps):
        if "wide" in run.look():
            return
        name = f"late{number}"
        file = data.draw(st.integers(0, 20))
        run.tasks[name] = task(name, files=[f"x{file}.py"], created=at(number))
        run.move(step)
    raise AssertionError("it never started")


# --- links of the chain ---------------------------------------------------------------------------


def test_a_link_that_is_to_be_asked_again_after_a_while_is_told_and_is_no_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last = Wait("MaxAgents", "one at a time", seconds=7)
    monkeypatch.setattr(chain, "CHAIN", (*chain.CHAIN, lambda *_: last))
    upstream, work = task("first", TaskState.CLOSED), task("work", dependsOn=["first"])

    found = schedule(snapshot(upstream, work), NOW)

    assert reasons(found) == {"work": "MaxAgents: one at a time"}
    assert found.again == 7
    ((_, told),) = found.waits
    assert conditions.is_true(told.conditions, "DependenciesMet")
