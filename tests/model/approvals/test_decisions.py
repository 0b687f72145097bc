"""People decide about work and about Plans, whatever breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api import plan, task
from bernstein.api.states import TaskState
from bernstein.core.approvals import asking, plans, policy, results
from bernstein.resources import APPROVALS, PLANS, TASKS
from tests.model.approvals.policies import Policies
from tests.model.loop import run
from tests.model.scenario import Scenario
from tests.model.stories import story
from tests.model.world import World, lived

STAGES = [{"name": "a", "steps": [{"title": "one"}, {"title": "two"}]}]
WORK: list[dict[str, Any]] = [
    {"at": 1.0, "do": "apply plan", "name": "web", "spec": {"name": "web", "stages": STAGES}},
    {"at": 1.0, "do": "apply task", "name": "alone", "spec": {"title": "alone"}},
]
DECIDES = {"at": 5.0, "do": "decide all"}
ASKS = {"plan": "Always", "result": "Always"}


def played(
    *events: dict[str, Any], seed: int = 7, replicas: int = 1, agents: int = 2, **policy: Any
) -> tuple[World, list[str]]:
    """The end of a run, and which rules were broken."""
    project = {
        "approval": ASKS | policy,
        "gates": {"enabled": False},
        "limits": {
            "maxAgents": agents,
            "timeoutSeconds": {"small": 600, "medium": 600, "large": 600},
        },
    }
    ordered = tuple(sorted(events, key=lambda event: event["at"]))
    scenario = Scenario(seed=seed, rates="calm", events=ordered, replicas=replicas, project=project)
    found: list[tuple[World, list[str]]] = []

    async def main() -> None:
        world = World(scenario)
        outcome = await world.play()
        found.append((world, [str(each) for each in outcome.violations]))

    run(main())
    return found[0]


def crashes(moment: int) -> list[dict[str, Any]]:
    """The operator dies at writes around those that follow from decisions."""
    after = bool(moment % 2)
    return [
        {"at": 4.0 + moment + n * 23.0, "do": "crash at write", "replica": 0, "after": after}
        for n in range(8)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("moved_base", ["Ask", "Keep"])
def test_what_people_approve_lands_and_nothing_else(seed: int, moved_base: str) -> None:
    world, broken = played(*WORK, DECIDES, seed=seed, movedBase=moved_base)

    assert broken == []
    assert world.store.all(APPROVALS)


@pytest.mark.parametrize("moment", range(6))
def test_decisions_survive_crashes_at_every_write(moment: int) -> None:
    _, broken = played(*WORK, DECIDES, *crashes(moment), seed=moment, replicas=1 + moment % 2)

    assert broken == []


@pytest.mark.parametrize("seed", range(4))
def test_people_may_decide_twice_and_late_and_delete_what_they_are_asked(seed: int) -> None:
    hasty = [
        {"at": 20.0 + n * 17, "do": "decide", "pick": n / 12, "decision": decision}
        for n, decision in enumerate(("Approve", "Reject", "Retry", "Approve") * 3)
    ]
    deletes = [
        {"at": 25.0 + n * 13, "do": "delete", "kind": "approvals", "pick": n / 12}
        | {"propagation": "Background"}
        for n in range(12)
    ]

    _, broken = played(*WORK, DECIDES, *hasty, *deletes, seed=seed)

    assert broken == []


POLICIES: tuple[dict[str, Any], ...] = (
    {"plan": "Never", "result": "Always", "approverIsNotAuthor": True},
    {"plan": "Always", "result": "Never"},
    {"plan": "AboveCost", "aboveUsd": "0.01", "result": "HighRisk", "movedBase": "Keep"},
    {"plan": "Always", "result": "Always", "approverIsNotAuthor": True},
    {"plan": "Never", "result": "Never"},
)


@pytest.mark.parametrize("seed", range(5))
def test_policies_and_budgets_may_change_at_any_moment(seed: int) -> None:
    turns = [POLICIES[(n + seed) % len(POLICIES)] for n in range(12)]
    changes = [
        {"at": 8.0 + seed + n * 17, "do": "policy", "policy": policy}
        for n, policy in enumerate(turns)
    ]
    budgets = [
        {"at": 11.0 + seed * 3 + n * 13, "do": "budget", "pick": 0.0, "figure": figure}
        for n, figure in enumerate(("100", "5") * 4)
    ]
    plan_with_a_budget = {**WORK[0], "spec": {**WORK[0]["spec"], "budget": "5"}}

    world, broken = played(plan_with_a_budget, WORK[1], DECIDES, *changes, *budgets, seed=seed)

    assert broken == []
    assert {obj["spec"].get("author") for obj in world.store.all(PLANS)} != {None}


AT_RISK = "an-agent-changes-what-ci-runs-and-another-one-a-test"


def test_people_are_asked_about_the_work_that_is_a_risk_and_about_no_other() -> None:
    world, outcome = lived(story(AT_RISK))

    assert outcome.violations == ()
    tasks = map(task.parse, world.store.all(TASKS))
    asked = {t.metadata.name: t.status.approval.because if t.status.approval else () for t in tasks}
    assert asked == {
        "task-0": ("it changes a protected path: '.github/workflows/release.yml'",),
        "task-1": ("it takes lines from a test that existed, or weakens it: 'tests/test_one.py'",),
        "task-2": (),
    }


def without_a_policy() -> Scenario:
    """What ci runs and a test are changed, and the Project says nothing of approvals."""
    told = story(AT_RISK)
    return replace(told, project={**told.project, "approval": {}})


def test_a_change_of_what_ci_runs_waits_for_a_person_without_a_policy() -> None:
    world, outcome = lived(without_a_policy())

    assert outcome.violations == ()
    asked = {t.metadata.name: t.status.approval for t in map(task.parse, world.store.all(TASKS))}
    assert {name for name, question in asked.items() if question is not None} == {"task-0"}


def test_without_that_question_the_model_finds_that_it_lands_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "_of_protected_paths", lambda *_: ())

    _, outcome = lived(without_a_policy())

    assert outcome.what == "work lands when a person has said yes to exactly it"


def test_where_people_are_asked_without_a_risk_the_model_finds_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "_risks", lambda *_: ("it may be anything",))

    _, outcome = lived(story(AT_RISK))

    assert outcome.what == "a person is asked for a reason"


def test_nobody_decides_and_nothing_happens() -> None:
    world, broken = played(*WORK)

    assert broken == []
    states = {task.parse(obj).status.state for obj in world.store.all(TASKS)}
    assert states == {TaskState.PLANNED, TaskState.PENDING_APPROVAL}
    (found,) = (plan.parse(obj) for obj in world.store.all(PLANS))
    assert found.status.phase == "PendingApproval"


def test_nobody_decides_and_time_rejects() -> None:
    world, broken = played(*WORK, expiresAfterSeconds=300)

    assert broken == []
    states = {task.parse(obj).status.state for obj in world.store.all(TASKS)}
    assert states == {TaskState.CANCELLED}
    told = {obj["status"]["state"] for obj in world.store.all(APPROVALS)}
    assert told == {"Expired"}


def test_without_the_question_the_model_finds_that_work_lands_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "question", lambda *_: None)
    monkeypatch.setattr(results, "may_land", lambda *_: True)

    _, broken = played(*WORK, DECIDES, plan="Never")

    assert any("work lands when a person has said yes" in each for each in broken)


def test_a_policy_that_came_while_nobody_led_holds_for_who_waits_for_a_turn() -> None:
    others = [
        {"at": 1.0 + n, "do": "apply plan", "name": f"p{n}", "spec": WORK[0]["spec"]}
        for n in range(3)
    ]
    slow = {"at": 0.0, "do": "fate", "job": "p0-begin", "role": "begin", "fate": "good"}
    nobody_leads = {"at": 12.0, "do": "cut off", "replica": 0, "seconds": 300.0}
    comes = {"at": 40.0, "do": "policy", "policy": ASKS}
    unheard = {"at": 41.0, "do": "fault", "what": "dropped", "verb": "PATCH", "resource": "plans"}
    asks = [unheard | {"says": "PendingApproval"}] * 2

    events = (*others, slow | {"seconds": 60.0}, nobody_leads, comes, *asks)
    world, broken = played(*events, agents=1, plan="Never")

    assert broken == []
    phases = {p.metadata.name: p.status.phase for p in map(plan.parse, world.store.all(PLANS))}
    assert phases == {"p0": "Running", "p1": "PendingApproval", "p2": "PendingApproval"}


def test_without_the_question_the_model_finds_that_a_plan_begins_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plans, "question", lambda *_: None)

    _, broken = played(*WORK, DECIDES)

    assert any("a Plan begins when a person has said yes" in each for each in broken)


def test_without_the_wait_for_an_author_the_model_finds_that_anybody_approves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "lacks_author", lambda *_: False)
    monkeypatch.setattr(Policies, "_look", lambda _: None)

    _, broken = played(*WORK, DECIDES, approverIsNotAuthor=True)

    assert any("when a person has said yes" in each for each in broken)


def test_without_the_binding_the_model_finds_an_approval_of_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    approved = asking.is_approved

    def any_yes(asked: Any, question: Any) -> bool:
        return approved(asked, question) or (asked is not None and asked.decision == "Approve")

    monkeypatch.setattr(results, "is_approved", any_yes)
    pushes = [{"at": 40.0 + n * 5, "do": "push", "pick": 0.9} for n in range(170)]

    _, broken = played(*WORK, DECIDES, *pushes, plan="Never", seed=2)

    assert any("to exactly it" in each for each in broken)
