"""`bernstein deliver`: what it refuses itself, and a request that nobody answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.api import plan as plans
from bernstein.api.plan import Plan
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands import deliver
from bernstein.cli.follow import Scene
from bernstein.cli.output.views import View
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import SHA, condition, known_as
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer


@pytest.mark.parametrize("reason", [" ", "x" * 301, "two\nlines"])
def test_a_wrong_reason_ends_with_2(runner: CliRunner, reason: str) -> None:
    calls.ends_with_2(runner, "deliver", "x", "--partial", "--reason", reason)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "deliver", "x", "--partial", "--yes")


def put(api: ApiServer, **status: Any) -> None:
    """Plan `web` of which the first Task has landed, with this status."""
    known_as(api, "ann")
    landed = {"ref": "refs/x", "target": "refs/heads/main", "targetSha": SHA, "sha": SHA}
    running = {"observedGeneration": 1, "phase": "Running", "integration": landed}
    counts = {"counts": {"total": 2, "closed": 1}}
    spec = objects.plan().dump()["spec"]
    status = running | counts | status
    api.put(PLANS, "web", "team", metadata={"generation": 1}, spec=spec, status=status)


ENDED = {"phase": "Succeeded", "endedAt": "2030-01-01T00:00:00Z"}
STALLED = objects.waits("TaskFailed", needs_person=True).dump()


async def test_without_partial_it_says_what_it_is_for(api: ApiServer, bernstein: Bernstein) -> None:
    put(api, phase="Failed", endedAt="2030-01-01T00:00:00Z")

    told = await bernstein("deliver", "web")

    assert told.code == 2
    assert "all Closed is delivered by itself" in told.err
    assert "bernstein deliver web --partial" in told.err
    assert not api.writes()


@pytest.mark.parametrize(
    ("delivery", "says"),
    [
        ({"state": "Merged", "sha": SHA}, f"all of it is delivered to refs/heads/main, {SHA[:12]}"),
        ({"state": "NoChange"}, "it left nothing to deliver to refs/heads/main"),
    ],
)
async def test_of_a_plan_that_has_succeeded_it_says_what_has_landed_where(
    api: ApiServer, bernstein: Bernstein, delivery: dict[str, Any], says: str
) -> None:
    succeeded = condition("Succeeded", "True", "Delivered")
    put(api, **ENDED, conditions=[succeeded], delivery=delivery)

    told = await bernstein("deliver", "web")
    scripted = await bernstein("deliver", "web", "--json")

    assert (told.code, told.err) == (0, "")
    assert told.out == f"Plan 'web' has Succeeded: {says}\n"
    assert (scripted.code, scripted.json["status"]) == (0, "succeeded")
    assert not api.writes()


async def test_of_a_plan_that_was_delivered_in_part_it_advises_no_other_part(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, phase="DeliveredPartially", endedAt="2030-01-01T00:00:00Z")

    told = await bernstein("deliver", "web", "--json")

    assert (told.code, told.json["error"]["reason"]) == (1, "PlanEnded")
    assert "--partial" not in told.json["error"]["remedy"]


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        ({}, "StillMoves", "it goes on by itself"),
        ({"integration": None}, "NothingToDeliver", "nothing of it has landed"),
        (ENDED, "PlanEnded", "it has ended: Succeeded"),
    ],
)
async def test_what_the_plan_shows_to_be_refused_is_refused_before_it_is_asked_for(
    api: ApiServer, bernstein: Bernstein, status: dict[str, Any], reason: str, says: str
) -> None:
    put(api, **status)

    refused = await bernstein("deliver", "web", "--partial", "--json")

    assert refused.code == 1
    assert refused.json["error"]["reason"] == reason
    assert says in refused.json["error"]["message"]
    assert refused.json["error"]["remedy"]
    assert not api.writes()


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"phase": "Stalled", "waiting": STALLED}, id="it stands still"),
        pytest.param({"observedGeneration": 0}, id="what it shows is of before a change"),
    ],
)
async def test_without_an_answer_in_time_it_ends_with_1_and_the_request_stands(
    api: ApiServer, bernstein: Bernstein, monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]
) -> None:
    monkeypatch.setattr(deliver, "_SECONDS", 0.0)
    put(api, **status)

    for _ in range(2):
        told = await bernstein("deliver", "web", "--partial", "--yes", "--json")
        assert (told.code, told.json["error"]["reason"]) == (1, "NotAnswered")

    assert len(api.get(PLANS, "web", "team")["spec"]["requests"]) == 1


async def test_who_asked_before_is_told_of_that_whatever_the_plan_shows(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, phase="Delivering", partial={"request": "d-1", "after": "Failed"})
    asked = {"id": "d-1", "verb": "DeliverPartial", "by": "ann", "reason": "it is due"}
    spec = api.get(PLANS, "web", "team")["spec"] | {"requests": [asked]}
    api.put(PLANS, "web", "team", spec=spec)

    told = await bernstein("deliver", "web", "--partial", "--yes")

    assert told.code == 0
    assert "what is Closed is verified as a whole" in told.out


async def test_who_waits_is_told_no_move_of_before_he_asked(
    api: ApiServer, bernstein: Bernstein, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(api, phase="Stalled", waiting=STALLED)
    history = [{"toState": "Open", "reason": "Created", "attempt": 0, "time": objects.at(-60)}]
    mine = objects.task("mine", status=objects.status(history=history))
    api.put(TASKS, "mine", "team", **mine.dump())
    ended = plans.parse(api.get(PLANS, "web", "team"))

    async def followed(_: Cluster, plan: Plan, shown: View) -> Scene:
        shown.update(plan, [mine], {}, "")
        return Scene(ended, [mine], {})

    monkeypatch.setattr(deliver, "_SECONDS", 0.0)
    monkeypatch.setattr(deliver, "_has_begun", lambda *_: True)
    monkeypatch.setattr(deliver, "follow", followed)

    told = await bernstein("deliver", "web", "--partial", "--yes", "--wait")

    assert "plan        Stalled" in told.out + told.err
    assert "Created" not in told.out + told.err
