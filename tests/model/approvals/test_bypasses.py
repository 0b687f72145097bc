"""People let work go on without a gate, at any moment and whatever breaks."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import task
from bernstein.core.approvals import bypass
from bernstein.resources import APPROVALS, PLANS, TASKS
from tests.model.loop import run
from tests.model.scenario import Scenario
from tests.model.world import World

WORK = {"at": 1.0, "do": "apply task", "name": "web", "spec": {"title": "web", "maxRetries": 0}}
OFF = [
    {"name": name, "enabled": False} for name in ("pii_scan", "dlp_scan", "lint", "merge_conflict")
]
OWN = [{"name": name, "command": f"make {name}"} for name in ("one", "two")]
DECIDES = {"at": 5.0, "do": "decide all"}


def ends(job: str, fate: str, role: str = "check") -> dict[str, Any]:
    return {"at": 0.0, "do": "fate", "job": job, "role": role, "fate": fate, "seconds": 5.0}


RED = [ends("web-s1", "good", role="agent")]
RED += [ends(f"web-s1-{name}-{n}", "bad") for name in ("one", "two") for n in range(6)]
GREEN_BEFORE = [ends(f"web-s1-{name}-{n}b", "good") for name in ("one", "two") for n in range(6)]


def played(
    *events: dict[str, Any],
    allow: bool = True,
    execution: str = "Parallel",
    seed: int = 7,
    replicas: int = 1,
    **policy: Any,
) -> tuple[World, list[str], str, list[str]]:
    """The world at its end, which rules were broken, the Task's state and its verdicts."""
    ordered = tuple(
        sorted((*RED, *GREEN_BEFORE, WORK, *events), key=lambda event: float(event["at"]))
    )
    project = {
        "approval": policy,
        "gates": {
            "pipeline": [*OWN, *OFF],
            "timeoutSeconds": 60,
            "allowBypass": allow,
            "execution": execution,
        },
        "limits": {
            "maxAgents": 1,
            "timeoutSeconds": {"small": 600, "medium": 600, "large": 600},
        },
    }
    scenario = Scenario(seed=seed, rates="calm", events=ordered, replicas=replicas, project=project)
    found: list[tuple[World, list[str], str, list[str]]] = []

    async def main() -> None:
        world = World(scenario)
        outcome = await world.play()
        every = map(task.parse, world.store.all(TASKS))
        told = next(each for each in every if each.metadata.name == "web")
        judged = told.status.verification
        said = [f"{c.name} {c.verdict}" for c in judged.checks] if judged is not None else []
        broken = [str(each) for each in outcome.violations]
        found.append((world, broken, str(told.status.state), said))

    run(main())
    return found[0]


def decides(decision: str, *at: float) -> list[dict[str, Any]]:
    return [
        {"at": moment, "do": "decide", "pick": n * 0.37 % 1, "decision": decision}
        for n, moment in enumerate(at)
    ]


OFTEN = tuple(20.0 + n * 7.0 + (n // 30) ** 3 for n in range(240))
"""Somebody says the same of whatever waits, again and again."""


@pytest.mark.parametrize("execution", ["Parallel", "Sequential"])
def test_one_yes_for_each_gate_and_it_lands(execution: str) -> None:
    yes = decides("Approve", *OFTEN)

    world, broken, state, said = played(*yes, execution=execution)

    assert (broken, state) == ([], "Closed")
    assert said == ["one Bypassed", "two Bypassed"]
    asked = [obj["spec"]["asks"]["gate"] for obj in world.store.all(APPROVALS)]
    assert sorted(asked) == ["one", "two"]
    states = {obj["status"]["state"] for obj in world.store.all(APPROVALS)}
    assert states == {"Approved"}


def test_nobody_decides_and_nothing_happens() -> None:
    _, broken, state, said = played()

    assert (broken, state) == ([], "PendingApproval")
    assert said == ["one Failed", "two Failed"]


def test_nobody_decides_and_the_gate_has() -> None:
    world, broken, state, _ = played(expiresAfterSeconds=300)

    assert (broken, state) == ([], "Failed")
    assert [obj["status"]["state"] for obj in world.store.all(APPROVALS)] == ["Expired"]


def test_without_the_projects_word_nobody_is_asked() -> None:
    world, broken, state, _ = played(*decides("Approve", *OFTEN), allow=False)

    assert (broken, state, world.store.all(APPROVALS)) == ([], "Failed", [])


@pytest.mark.parametrize("moment", range(6))
def test_a_bypass_survives_crashes_at_every_write(moment: int) -> None:
    crashes = [
        {"at": 10.0 + moment + n * 41.0, "do": "crash at write", "replica": 0}
        | {"after": bool((moment + n) % 2)}
        for n in range(12)
    ]

    _, broken, state, said = played(
        *decides("Approve", *OFTEN), *crashes, seed=moment, replicas=1 + moment % 2
    )

    assert (broken, state) == ([], "Closed")
    assert said == ["one Bypassed", "two Bypassed"]


@pytest.mark.parametrize("seed", range(3))
def test_the_word_of_the_project_and_who_may_decide_may_change_at_any_moment(seed: int) -> None:
    allows = [
        {"at": 15.0 + seed + n * 11.0, "do": "allow bypass", "allow": bool(n % 2)}
        for n in range(20)
    ]
    policies = [
        {"at": 18.0 + seed * 2 + n * 23.0, "do": "policy", "policy": policy}
        for n, policy in enumerate(({"result": "Always", "approverIsNotAuthor": True}, {}) * 4)
    ]
    deletes = [
        {"at": 22.0 + n * 13.0, "do": "delete", "kind": "approvals", "pick": 0.0}
        | {"propagation": "Background"}
        for n in range(8)
    ]

    _, broken, _, _ = played(*allows, *policies, *deletes, DECIDES, seed=seed)

    assert broken == []


@pytest.mark.parametrize("seed", range(2))
def test_a_branch_that_moves_has_the_gate_asked_again(seed: int) -> None:
    pushes = [{"at": 30.0 + n * 6.0, "do": "push", "pick": 0.9} for n in range(30)]

    _, broken, _, _ = played(*decides("Approve", *OFTEN), *pushes, seed=seed, movedBase="Keep")

    assert broken == []


TAKEN_BACK: tuple[dict[str, Any], ...] = (
    *(
        {"at": 2.0, "do": "forbid", "name": f"web-s1-land-{n}", "status": 403} | {"seconds": 300.0}
        for n in range(1, 14)
    ),
    {"at": 75.0, "do": "allow bypass", "allow": False},
)
"""It is bypassed, and cannot land before the Project has taken its word back."""


def test_a_word_that_is_taken_back_holds_to_the_push() -> None:
    _, broken, state, _ = played(*decides("Approve", *OFTEN), *TAKEN_BACK)

    assert (broken, state) == ([], "Failed")


def test_without_the_rules_of_now_the_model_finds_what_is_not_allowed_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bypass, "hold", lambda *_: True)

    _, broken, _, _ = played(*decides("Approve", *OFTEN), *TAKEN_BACK)

    assert any("a gate is bypassed where that is allowed" in each for each in broken)


def test_without_the_binding_the_model_finds_a_bypass_of_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bypassed = bypass.bypassed

    def of_all(snapshot: Any, status: Any, outcome: Any, now: Any) -> Any:
        for result in status.verification.checks:
            asks = status.approval.asks.model_copy(update={"gate": result.name})
            asked = status.approval.model_copy(update={"asks": asks})
            status = bypassed(snapshot, status.model_copy(update={"approval": asked}), outcome, now)
        return status

    monkeypatch.setattr(bypass, "bypassed", of_all)

    _, broken, _, _ = played(*decides("Approve", *OFTEN))

    assert any("when a person has said so of exactly this" in each for each in broken)


def test_a_plan_delivers_the_very_commit_that_a_person_has_let_go_on() -> None:
    stages = [{"name": "a", "steps": [{"title": "one", "max_retries": 0}]}]
    plan: dict[str, Any] = {"at": 1.0, "do": "apply plan", "name": "all"}
    plan["spec"] = {"name": "all", "stages": stages}
    session = "all-a-one-s1"
    red = [ends(session, "good", role="agent")]
    red += [ends(f"{session}-{gate}-{n}", "bad") for gate in ("one", "two") for n in range(6)]
    red += [ends(f"{session}-{gate}-{n}b", "good") for gate in ("one", "two") for n in range(6)]

    world, broken, _, _ = played(plan, *red, *decides("Approve", *OFTEN))

    assert broken == []
    (found,) = world.store.all(PLANS)
    assert found["status"]["phase"] == "Succeeded"
