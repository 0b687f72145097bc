"""Gates that ask a model, on a real API server; the test says what their pod has been told."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckVerdict, Usage
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import Script, ends, exited
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import APPROVALS, JUDGE, TASKS

GATES = ("intent_verification", "review_rubric", "test_expansion")
EXISTS = {"type": "path_exists", "path": "new.py"}
CHANGED = {"condition": "any_changed"}
USED = Spent(JUDGE["name"], Usage(input=1_000_000, output=100_000))


def project(**settings: Any) -> dict[str, Any]:
    """With all three gates and no other one, and these settings of some."""
    pipeline = [{"name": n, **CHANGED, **settings.get(n, {})} for n in GATES]
    return {"gates": {"pipeline": pipeline}, "models": [{**JUDGE}]}


def says(**verdicts: tuple[str, str, str]) -> Script:
    """The judge's pod ends with these verdicts; all others are Passed."""
    told = tuple(CheckVerdict(n, *verdicts.get(n, ("Passed", "", ""))) for n in GATES)
    return ends("Succeeded", judge=exited(message=dump(JudgeResult(told, (USED,)))))


def checks(task: Object) -> dict[str, tuple[str, str, bool]]:
    found = task["status"]["verification"]["checks"]
    return {c["name"]: (c["verdict"], c.get("reason", ""), c["required"]) for c in found}


MISSING = ("Failed", "TestsMissing", "- new.py: X, that it is 1")
LOW = ("Failed", "ScoreTooLow", "5 of 10, needed are 6")
NO = ("Failed", "IntentNotMet", "new.py: nobody asked for X")


async def test_work_that_a_model_finds_good_lands_with_its_advice(world: World) -> None:
    world.kubelet.on("one-s1-judge-1-0", says(test_expansion=MISSING))
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS])

    task = await world.task_in("one", "Closed")

    found = checks(task)
    assert found["intent_verification"] == ("Passed", "", True)
    assert found["review_rubric"] == ("Passed", "", True)
    assert found["test_expansion"] == ("Failed", "TestsMissing", False)
    assert "approval" not in task["status"]
    (call,) = task["status"]["verification"]["calls"]
    assert (call["source"], call["spendUsd"]) == ("Computed", "4.5")


@pytest.mark.parametrize(
    ("gate", "no"), [("intent_verification", NO), ("review_rubric", LOW)], ids=["intent", "rubric"]
)
async def test_a_no_is_told_to_the_next_attempt_with_the_advice(
    world: World, gate: str, no: tuple[str, str, str]
) -> None:
    world.kubelet.on("one-s1-judge-1-0", says(**{gate: no}, test_expansion=MISSING))
    world.kubelet.on("one-s2-judge-1-0", says())
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS], maxRetries=1)

    task = await world.task_in("one", "Closed")

    assert task["status"]["attempt"] == 2
    rejected = task["status"]["attempts"][0]
    assert rejected["reason"] == "GateFailed"
    assert no[2] in rejected["message"]
    assert MISSING[2] in rejected["message"]


async def test_a_no_that_is_only_to_be_told_keeps_nothing_back(world: World) -> None:
    world.kubelet.on("one-s1-judge-1-0", says(intent_verification=NO))
    await world.project(**project(intent_verification={"blockOnNo": False}))
    await world.start()
    await world.task("one", completionSignals=[EXISTS])

    task = await world.task_in("one", "Closed")

    assert checks(task)["intent_verification"] == ("Failed", "IntentNotMet", False)


async def test_a_yes_that_is_not_sure_waits_for_a_person(world: World, user: str) -> None:
    unsure = ("Skipped", "Unsure", "part of the change was too much")
    world.kubelet.on("one-s1-judge-1-0", says(review_rubric=unsure))
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS])

    task = await world.task_in("one", "PendingApproval")
    asked = task["status"]["approval"]
    assert asked["because"] == ["a model could not tell for sure: review_rubric"]
    approval = asked["name"]
    await world.until(APPROVALS, approval, lambda a: state_of(a) == "Pending")
    await world.change(APPROVALS, approval, decision="Approve", decidedBy=user)

    await world.task_in("one", "Closed")
    assert world.kubelet.remote.landed


async def test_a_provider_that_is_down_costs_no_attempt(world: World) -> None:
    down = ("Errored", "ModelAuthFailed", "the provider refuses the key")
    world.kubelet.on("one-s1-judge-1-0", says(review_rubric=down))
    world.kubelet.on("one-s1-judge-1-1", says())
    await world.project(**project())
    await world.start()
    await world.task("one", completionSignals=[EXISTS], maxRetries=0)

    task = await world.stalled(TASKS, "one", "GateErrored")
    assert "valid for the model" in task["status"]["waiting"]["message"]
    await world.project(**project(), limits={"maxAgents": 2})  # a change of it is a new try

    closed = await world.task_in("one", "Closed")
    assert closed["status"]["attempt"] == 1


@pytest.mark.parametrize(
    ("settings", "change", "told"),
    [
        ({}, {"models": []}, "the Project needs one in models"),
        ({"review_rubric": {"model": "nobody"}}, {}, "is the name of one of models"),
        ({"review_rubric": {"minimumScore": 10.5}}, {}, "less than or equal to 10"),
        ({"review_rubric": {"blockOnNo": False}}, {}, "only intent_verification takes"),
        ({"test_expansion": {"required": True}}, {}, "can keep nothing back"),
        ({"test_expansion": {"command": "true"}}, {}, "takes no command"),
    ],
)
async def test_a_project_whose_gates_nobody_could_answer_is_refused(
    world: World, settings: dict[str, Any], change: dict[str, Any], told: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await world.project(**(project(**settings) | change))

    assert told in str(refused.value)
