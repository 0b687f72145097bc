"""However many Plans are applied at once, a few at a time begin."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.programs.merge import BeginResult
from bernstein.controllers.scheduler.watches import plan_matters
from bernstein.core import names, progress
from bernstein.core.actions import RunBegin
from bernstein.core.conditions import find
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide as plan_decide
from bernstein.core.scheduling import begin_turns
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    NOW,
    at,
    failed,
    job,
    over,
    plan_snapshot,
    pod,
    project,
    result_job,
    running,
)
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule


def asking(name: str, created: float = 0, beginning: str = "Asks", **more: object) -> Plan:
    status = PlanStatus.model_validate({"expanded": True, "beginning": beginning, **more})
    found = objects.plan(name, status=status, begun=False)
    meta = found.metadata.model_copy(update={"creation_timestamp": at(created)})
    return found.model_copy(update={"metadata": meta})


def given(plans: list[Plan], agents: int = 16) -> list[str]:
    return [plan.metadata.name for plan, status in begin_turns.turns(plans, agents)]


def test_those_that_were_made_first_begin_first() -> None:
    plans = [asking(f"p{n}", created=-n) for n in range(6)]

    assert given(plans) == ["p5", "p4", "p3", "p2"]


def test_who_finds_the_name_of_its_job_taken_keeps_nobody_from_a_turn() -> None:
    taken = {"reason": "NameConflict", "message": "m", "since": NOW, "scope": "Task"}
    plans = [asking(f"p{n}", beginning="Next", waiting=taken) for n in range(4)]

    assert given([*plans, asking("other")], agents=1) == ["other"]
    assert plan_matters(asking("p0", beginning="Next"), plans[0]), "others are told"
    at_work = asking("work", beginning="Next")
    assert given([*plans, at_work, asking("other")], agents=1) == []


@pytest.mark.parametrize(("agents", "begins"), [(1, 1), (3, 3), (4, 4), (16, 4)])
def test_no_more_begin_than_the_project_may_have_agents(agents: int, begins: int) -> None:
    plans = [asking(f"p{n}") for n in range(6)]

    assert len(given(plans, agents)) == begins


def test_who_has_a_turn_takes_one_until_the_plan_has_ended() -> None:
    busy = [asking(f"p{n}", beginning="Next") for n in range(3)]
    over_ = [asking("ended", beginning="Next", ended_at=NOW)]

    assert given([*busy, *over_, asking("a"), asking("b")]) == ["a"]


def test_who_is_cancelled_or_deleted_gets_none() -> None:
    cancelled = objects.plan("c", status=PlanStatus(beginning="Asks"), cancel={"reason": "no"})
    deleted = objects.plan("d", status=PlanStatus(beginning="Asks"), deleting=True)

    assert given([cancelled, deleted]) == []


@pytest.mark.parametrize("stricter", [{"plan": "Always"}, {"approverIsNotAuthor": True}])
def test_who_has_to_be_asked_about_meanwhile_gets_none(stricter: dict[str, Any]) -> None:
    plan, busy = asking("web", created=1), asking("busy", beginning="Next")

    def begins(**spec: Any) -> list[str]:
        seen = ProjectSnapshot(project(**spec), [], {}, {}, beginning=[plan, busy])
        return [plan.metadata.name for plan, _ in schedule(seen, NOW).begins]

    assert begins() == ["web"]
    assert begins(approval=stricter) == []


def test_a_plan_says_that_it_waits_for_its_turn_and_makes_no_job() -> None:
    decision = plan_decide.decide(plan_snapshot(objects.plan(begun=False)), NOW)

    assert decision.status.waiting is not None
    assert decision.status.waiting.reason == "BeginQueue"
    assert not any(isinstance(action, RunBegin) for action in decision.actions)


def test_a_plan_that_is_alone_never_says_that_others_begin() -> None:
    asks = plan_decide.decide(plan_snapshot(objects.plan(begun=False)), NOW).status
    alone = objects.plan(status=asks, begun=False)

    ((plan, status),) = begin_turns.turns([alone], most_agents=16)

    assert asks.waiting is not None
    assert "its turn to begin" in asks.waiting.message
    given = progress.of_plan(plan, status, NOW)
    assert (given.beginning, given.waiting) == ("Next", None)
    doing = find(given.conditions, ConditionType.RECONCILING)
    assert doing is not None
    assert (doing.reason, doing.message) == ("Starting", "the integration ref is being made")


def test_what_failed_before_stays_known_to_who_has_a_turn_to_try_it_again() -> None:
    tried = {"reason": "RepositoryUnreachable", "generation": 1}
    waiting = {"reason": "BeginQueue", "message": "", "since": NOW, "tried": tried}

    ((_, status),) = begin_turns.turns([asking("web", waiting=waiting)], most_agents=16)

    assert status.waiting is not None
    assert status.waiting.tried is not None
    assert status.waiting.message == "the integration ref is being made"


def test_a_deleted_plan_keeps_its_turn_while_its_job_is_at_work() -> None:
    leaving = objects.plan(status=PlanStatus(beginning="Next"), begun=False, deleting=True)
    at_work = job("web-begin-0", pod(running("begin")))
    done = job("web-begin-0", over(failed("begin", "Terminated")))

    def left(view: JobView) -> str | None:
        return plan_decide.decide(plan_snapshot(leaving, jobs=(view,)), NOW).status.beginning

    assert (left(at_work), left(done)) == ("Next", None)


class Cluster:
    """Plans of one Project, and the Jobs with which they begin."""

    def __init__(self, plans: int, agents: int, seed: int) -> None:
        self.dice = random.Random(seed)
        self.project = project(limits={"maxAgents": agents})
        self.plans = {f"p{n}": asking(f"p{n}", beginning="") for n in range(plans)}
        for name, plan in self.plans.items():
            self._write(name, plan.status.model_copy(update={"beginning": None}))
        self.jobs: dict[str, dict[str, JobView]] = {name: {} for name in self.plans}
        self.most = 0

    def _write(self, name: str, status: PlanStatus) -> None:
        self.plans[name] = self.plans[name].model_copy(update={"status": status})

    def at_work(self) -> list[tuple[str, str]]:
        views = ((n, view) for n, views in self.jobs.items() for view in views.values())
        return [(name, view.name) for name, view in views if view.goes_on]

    def look(self, name: str, now: float) -> None:
        plan, jobs = self.plans[name], tuple(self.jobs[name].values())
        decision = plan_decide.decide(plan_snapshot(plan, jobs=jobs, project=self.project), at(now))
        for action in decision.actions:
            if isinstance(action, RunBegin):
                self.jobs[name].setdefault(action.job, job(action.job, pod(running("begin"))))
        self._write(name, decision.status)
        self.most = max(self.most, len(self.at_work()))

    def schedule(self, now: float) -> None:
        beginning = [plan for plan in self.plans.values() if plan.status.beginning is not None]
        seen = ProjectSnapshot(self.project, [], {}, {}, beginning=beginning)
        for plan, status in schedule(seen, at(now)).begins:
            self._write(plan.metadata.name, progress.of_plan(plan, status, at(now)))

    def end(self, name: str, begin: str) -> None:
        ref = names.integration_ref(self.plans[name].metadata.uid)
        good = result_job(begin, "begin", BeginResult(BASE, BASE, ref))
        bad = job(begin, over(failed("begin", "RepositoryUnreachable", "no")))
        lost = job(begin, complete=True, no_pod=True)
        (self.jobs[name][begin],) = self.dice.choices([good, bad, lost], [8, 1, 1])


@pytest.mark.parametrize(("plans", "agents", "most"), [(300, 16, 4), (25, 1, 1)])
def test_hundreds_of_plans_begin_a_few_at_a_time_and_all_of_them_do(
    plans: int, agents: int, most: int
) -> None:
    cluster, now = Cluster(plans, agents, seed=plans), 0.0

    for _ in range(100 * plans):
        going = [n for n, plan in cluster.plans.items() if plan.status.integration is None]
        if not going:
            break
        due = [n for n in going if cluster.plans[n].status.beginning != "Asks"]
        for name in (*due, *cluster.dice.sample(going, min(2, len(going)))):
            cluster.look(name, now)
        if cluster.dice.random() < 0.5:
            cluster.schedule(now)
        for each in cluster.at_work():
            if cluster.dice.random() < 0.7:
                cluster.end(*each)
        now += 60

    assert all(plan.status.integration for plan in cluster.plans.values())
    assert cluster.most == most
