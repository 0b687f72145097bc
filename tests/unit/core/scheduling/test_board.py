"""A Board that is kept looks at what has changed, and at whom that concerns."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.meta import Condition
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import TaskState
from bernstein.api.task import Attempt, Move, Task, TaskStatus
from bernstein.core.money import budget
from bernstein.core.scheduling import chain, opening
from bernstein.core.scheduling.schedule import Board, Schedule
from bernstein.core.scheduling.starts import _Taken
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, project, status
from tests.unit.core.scheduling.schedules import reasons, starts

PLAN = objects.plan()


class Kept:
    """A Board and the Tasks that it knows; what it decides is written."""

    def __init__(self, *tasks: Task, agents: int = 6, plan: Plan = PLAN) -> None:
        self.plan = plan
        self.project = project(limits={"maxAgents": agents})
        self.board = Board()
        self.tasks: dict[str, Task] = {}
        for task in tasks:
            self.put(task)

    def put(self, task: Task) -> None:
        name = task.metadata.name
        self.tasks[name] = task
        owned = bool(task.metadata.owner_references)
        self.board.put_task(name, task, self.plan if owned else None, member=True)

    def remove(self, name: str) -> None:
        del self.tasks[name]
        self.board.put_task(name, None)

    def change(self, name: str, status: TaskStatus) -> None:
        self.put(self.tasks[name].model_copy(update={"status": status}))

    def look(self) -> Schedule:
        found = self.board.look(self.project, (), NOW)
        for task, new in (*found.moves, *found.waits):
            self.change(task.metadata.name, new)
        return found


def alone(name: str, *upstream: str, **more: Any) -> Task:
    fields: dict[str, Any] = {"status": status(), "dependsOn": upstream}
    return objects.task(name, plan=None, **(fields | more))


def at_work(**more: Any) -> TaskStatus:
    claimed = Move(to_state=TaskState.CLAIMED, actor="o", reason="r", attempt=1, time=at(-9))
    return status(TaskState.IN_PROGRESS, history=[claimed], **more)


def test_only_who_has_changed_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    first = chain.first

    def noted(links: Any, snapshot: Any, now: Any) -> Any:
        looked.append(snapshot.task.metadata.name)
        return first(links, snapshot, now)

    kept = Kept(alone("work", status=at_work()), agents=1)
    for number in range(50):
        kept.put(alone(f"t{number}"))
    assert len(kept.look().waits) == 50
    assert not kept.look().waits
    monkeypatch.setattr(chain, "first", noted)

    spec = kept.tasks["t7"].spec.model_copy(update={"priority": 1})
    kept.put(kept.tasks["t7"].model_copy(update={"spec": spec}))
    assert not kept.look().waits
    assert looked == ["t7"]

    looked.clear()
    kept.change("work", status(TaskState.CLOSED))
    assert starts(kept.look()) == ["t7"]
    assert looked == []


def staged(*names: str) -> Plan:
    """A Plan with these Tasks in one stage, and one in another."""
    rows = [PlanTask(name=name, stage="build", step=n) for n, name in enumerate(names)]
    rows.append(PlanTask(name="after", stage="test", step=0))
    plan: Plan = objects.plan(status=PlanStatus(tasks=tuple(rows), expanded=True), begun=True)
    return plan


def test_who_depends_on_a_stage_is_looked_at_again_when_all_of_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    first = chain.first

    def noted(links: Any, snapshot: Any, now: Any) -> Any:
        looked.append(snapshot.task.metadata.name)
        return first(links, snapshot, now)

    kept = Kept(plan=staged("a", "b"))
    for name in ("a", "b"):
        kept.put(objects.task(name, status=at_work(), stage="build"))
    kept.put(objects.task("after", status=status(), stage="test", dependsOnStages=["build"]))
    assert reasons(kept.look())["after"] == "DependencyPending: waits for the stage 'build'"
    assert not kept.look().waits
    monkeypatch.setattr(chain, "first", noted)

    kept.change("a", status(TaskState.CLOSED))
    assert not kept.look().waits
    assert looked == []

    kept.change("b", status(TaskState.CLOSED))
    assert starts(kept.look()) == ["after"]


def test_a_plan_is_forgotten_with_its_last_task() -> None:
    """Thousands may have ended, each with thousands of rows."""
    names = [f"task-{number}" for number in range(200)]
    kept, never = Kept(alone("beside"), plan=staged(*names)), Kept(alone("beside"))
    for name in (*names, "after"):
        kept.put(objects.task(name, status=status(), stage="build"))
    kept.look()
    never.look()
    assert len(pickle.dumps(kept.board)) > 20_000

    for name in (*names, "after"):
        kept.remove(name)
    kept.board.put_plan(PLAN.metadata.uid, staged(*names))
    kept.look()

    assert len(pickle.dumps(kept.board)) <= len(pickle.dumps(never.board)) + 1_000


def test_a_task_that_closes_a_circle_concerns_all_in_it() -> None:
    kept = Kept(alone("a", "b"), alone("b", "c"))
    assert reasons(kept.look())["a"] == "DependencyPending: waits for b"

    kept.put(alone("c", "a"))

    told = reasons(kept.look())
    assert {name: words.partition(":")[0] for name, words in told.items()} == dict.fromkeys(
        "abc", "DependencyFailed"
    )
    assert "a → b → c → a" in told["a"]


def test_who_was_rejected_is_looked_at_again_when_a_sibling_ends() -> None:
    failed = Move(to_state=TaskState.FAILED, actor="o", reason="r", attempt=1, time=at(-5))
    conflict = Attempt(attempt=1, session="s", counted=True, reason="MergeConflict")
    rejected = status(attempt=1, attempts=[conflict], history=[failed])
    kept = Kept(objects.task("beside", status=at_work()), objects.task("again", status=rejected))
    assert "when beside landed or ended" in reasons(kept.look())["again"]

    kept.change("beside", status(TaskState.CLOSED))

    assert starts(kept.look()) == ["again"]


def test_who_waits_behind_a_probe_goes_on_when_that_has_begun_to_work() -> None:
    tried = objects.held("ImagePullFailed", None)
    kept = Kept(
        alone("first", status=status(TaskState.CLAIMED, waiting=tried), files=["a.py"]),
        alone("second", files=["b.py"]),
    )
    assert "'first' tries first" in reasons(kept.look())["second"]

    kept.change("first", at_work())

    assert starts(kept.look()) == ["second"]


def test_a_project_that_may_not_be_used_keeps_all_back_until_it_may() -> None:
    kept, usable = Kept(alone("a"), alone("b")), project()
    ready = Condition(
        type="Ready", status="False", reason="NoSecret", message="no", last_transition_time=NOW
    )
    kept.project = usable.model_copy(
        update={"status": usable.status.model_copy(update={"conditions": (ready,)})}
    )
    assert {words.partition(":")[0] for words in reasons(kept.look()).values()} == {
        "ProjectNotReady"
    }

    kept.project = usable

    assert starts(kept.look()) == ["a", "b"]


def test_words_that_are_cut_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[str] = []
    waits = chain.Wait("DependencyPending", "x" * 5000)
    monkeypatch.setattr(chain, "CHAIN", (*chain.CHAIN, lambda *_: waits))
    kept = Kept(alone("a"))
    assert len(kept.look().waits) == 1
    assert not kept.look().waits

    def noted(*_: Any) -> TaskStatus:
        worked_out.append("again")
        raise AssertionError

    monkeypatch.setattr(opening, "waits", noted)
    assert not kept.look().waits
    assert not worked_out


def ahead(kept: Kept, most: int) -> int:
    """Looks ahead until nothing is left; in how many pieces."""
    pieces = 0
    while kept.board.look_ahead(kept.project, NOW, most):
        pieces += 1
    return pieces


class Counted:
    """How often each of these was asked since it was looked last."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.links = self.places = 0
        first, obstacle = chain.first, _Taken.obstacle

        def at_link(*asked: Any) -> Any:
            self.links += 1
            return first(*asked)

        def at_place(taken: _Taken, at: int) -> Any:
            self.places += 1
            return obstacle(taken, at)

        patch.setattr(chain, "first", at_link)
        patch.setattr(_Taken, "obstacle", at_place)

    def taken(self) -> tuple[int, int]:
        found = self.links, self.places
        self.links = self.places = 0
        return found


def test_what_hundreds_wait_for_is_found_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone, then those in line; the schedule itself looks at none of them any more."""
    kept = Kept(*(alone(f"t{n:03}", files=["src"]) for n in range(350)), agents=400)
    asked = Counted(monkeypatch)

    found = []
    while kept.board.look_ahead(kept.project, NOW, 50):
        found.append(asked.taken())
    found.append(asked.taken())

    assert sum(links for links, _ in found) == sum(places for _, places in found) == 350
    assert max(links for links, _ in found) == 50
    assert max(places for _, places in found) == 50
    assert starts(kept.look()) == ["t000"]
    assert asked.taken() == (0, 0)


def test_what_plans_have_spent_is_reckoned_once_a_look_and_not_for_each_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    is_spent = budget.is_spent

    def noted(plan: Plan, spent: Decimal) -> bool:
        asked.append(plan.metadata.name)
        return is_spent(plan, spent)

    monkeypatch.setattr(budget, "is_spent", noted)
    monkeypatch.setattr(chain, "CHAIN", ())  # which asks it of each Task, too
    kept = Kept(plan=objects.plan(budget="1"))
    for number in range(100):
        kept.put(objects.task(f"t{number:03}", status=status()))
    kept.put(objects.task("work", status=at_work()))

    assert ahead(kept, 10) > 9
    kept.look()
    assert asked == ["web"]

    kept.change("work", at_work(spend_usd="2"))
    assert ahead(kept, 10) > 9, "all are looked at again"
    assert asked == ["web", "web"]


def test_a_circle_is_looked_for_before_those_in_it_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring = [alone(f"t{n}", f"t{(n + 1) % 60}") for n in range(60)]
    kept = Kept(*ring)
    asked = Counted(monkeypatch)

    assert ahead(kept, 10) == 1 + 5, "the circle, and all but the last ten"
    found = kept.look()

    assert asked.links == 60, "nobody twice"
    assert {reason.partition(":")[0] for reason in reasons(found).values()} == {"DependencyFailed"}


@pytest.mark.parametrize("seconds", [1, 60])
def test_who_goes_on_at_a_certain_time_starts_then_though_it_was_looked_at_ahead(
    seconds: int,
) -> None:
    """What was found in pieces holds for the look that follows, and for no later one."""
    hold = objects.held("SecretNotFound", at(30))
    kept = Kept(*(alone(f"t{n}", status=status(waiting=hold)) for n in range(30)))
    ahead(kept, 10)

    found = kept.board.look(kept.project, (), at(seconds))

    assert starts(found) == (["t0"] if seconds > 30 else [])
