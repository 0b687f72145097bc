"""Reviews by models of other makers, on a real API server; the test says what they answer."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.judge import JudgeResult
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import Script, ends, exited
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import JUDGE, TASKS

EXISTS = {"type": "path_exists", "path": "new.py"}
NO = ("Failed", "ChangesRequested", "claude-sonnet-4-5:\nnew.py: X fails for 0")
OTHER = {**JUDGE, "name": "gemini-3-flash", "provider": "gemini"}


def project(*models: Any, **settings: Any) -> dict[str, Any]:
    """Without any other gate than the review."""
    listed = [{"name": "lint", "enabled": False}]
    gates = {"pipeline": listed, "crossModel": {"enabled": True, **settings}}
    return {"gates": gates, "models": [{**model} for model in models or (JUDGE,)]}


def says(verdict: str = "Passed", reason: str = "", excerpt: str = "") -> Script:
    told = JudgeResult((CheckVerdict("cross-model", verdict, reason, excerpt),))
    return ends("Succeeded", judge=exited(message=dump(told)))


def verdict(task: Object) -> tuple[str, str, bool]:
    (found,) = [c for c in task["status"]["verification"]["checks"] if c["name"] == "cross-model"]
    return found["verdict"], found.get("reason", ""), found["required"]


async def test_changes_that_are_asked_for_are_the_next_attempts(world: World) -> None:
    world.kubelet.on("one-s1-judge-1-0", says(*NO))
    world.kubelet.on("one-s2-judge-1-0", says())
    await world.project(**project())
    await world.start()
    await world.task("one", model="gpt-5.5", completionSignals=[EXISTS], maxRetries=1)

    task = await world.task_in("one", "Closed")

    assert (task["status"]["attempt"], verdict(task)) == (2, ("Passed", "", True))
    rejected = task["status"]["attempts"][0]
    assert rejected["reason"] == "ReviewRejected"
    assert "new.py: X fails for 0" in rejected["message"]


async def test_what_is_only_to_be_told_keeps_nothing_back(world: World) -> None:
    world.kubelet.on("one-s1-judge-1-0", says(*NO))
    await world.project(**project(onIssues="Report"))
    await world.start()
    await world.task("one", model="gpt-5.5", completionSignals=[EXISTS])

    task = await world.task_in("one", "Closed")

    assert verdict(task) == ("Failed", "ChangesRequested", False)


async def test_no_agent_is_paid_for_work_that_its_own_maker_would_review(world: World) -> None:
    """Until the Project has a model of another one."""
    world.kubelet.on("one-s1-judge-1-0", says())
    await world.project(**project())
    await world.start()
    await world.task("one", model="claude-opus-4-5", completionSignals=[EXISTS])

    stalled = await world.stalled(TASKS, "one", "NoReviewer")
    assert "session" not in stalled["status"]
    assert "than Anthropic, whose model writes" in stalled["status"]["waiting"]["message"]
    await world.project(**project(JUDGE, OTHER))

    assert verdict(await world.task_in("one", "Closed")) == ("Passed", "", True)


@pytest.mark.parametrize(
    ("settings", "change", "told"),
    [
        ({}, {"models": []}, "gates.crossModel asks a model"),
        ({"reviewers": ["nobody"]}, {}, "'reviewers' are names of models"),
        ({"quorum": 2}, {}, "'quorum' is at most the number of reviewers"),
        ({"quorum": 0}, {}, "greater than or equal to 1"),
        ({"onIssues": "Ignore"}, {}, "Unsupported value"),
        ({"maxDiffCharacters": 60_001}, {}, "less than or equal to 60000"),
        ({"maxTokens": 63}, {}, "greater than or equal to 64"),
    ],
)
async def test_a_project_whose_changes_nobody_could_review_is_refused(
    world: World, settings: dict[str, Any], change: dict[str, Any], told: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await world.project(**(project(**settings) | change))

    assert told in str(refused.value)
