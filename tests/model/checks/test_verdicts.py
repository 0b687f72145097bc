"""Checks that cannot judge a tree twice, whatever keeps them from it; and what the model finds of
verdicts that nobody said."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api import task
from bernstein.api.verification import Verification
from bernstein.core.verification import base, rerun
from bernstein.core.verification.executed import result_of
from bernstein.resources import TASKS
from tests.model.checks.oracle import Verdicts
from tests.model.loop import run
from tests.model.scenario import Scenario
from tests.model.world import World
from tests.unit.core.objects import sha, verification

UNSAID = "a verdict is what the check said"
WORK = {"at": 1.0, "do": "apply task", "name": "web", "spec": {"title": "web", "maxRetries": 0}}
OFF = [{"name": n, "enabled": False} for n in ("pii_scan", "dlp_scan", "merge_conflict", "lint")]
OFF += [{"name": "lint_suppression", "enabled": False}]
PROJECT: dict[str, Any] = {
    "gates": {"pipeline": [{"name": "own", "command": "make own"}, *OFF], "timeoutSeconds": 60},
    "limits": {"maxAgents": 1, "timeoutSeconds": {"small": 600, "medium": 600, "large": 600}},
}


def ends(job: str, fate: str, role: str = "check") -> dict[str, Any]:
    return {"at": 0.0, "do": "fate", "job": job, "role": role, "fate": fate, "seconds": 5.0}


AGENT = ends("web-s1", "good", role="agent")
ABSENT, ABSENT_AGAIN = ends("web-s1-own-0", "tool"), ends("web-s1-own-1", "tool")


def played(*events: dict[str, Any]) -> tuple[str, list[str], list[str | None]]:
    """State and last verdicts of the Task, and which rules were broken."""
    ordered = tuple(sorted((AGENT, *events, WORK), key=lambda event: event["at"]))
    scenario = Scenario(seed=7, rates="calm", events=ordered, project=PROJECT)

    async def main() -> tuple[str, list[str], list[str | None]]:
        world = World(scenario)
        outcome = await world.play()
        (found,) = (task.parse(obj) for obj in world.store.all(TASKS))
        judged = found.status.verification
        said = [f"{c.name} {c.verdict}" for c in judged.checks] if judged is not None else []
        return str(found.status.state), said, [v.what for v in outcome.violations]

    return run(main())


@pytest.mark.parametrize("fate", ["good", "bad", "hangs"])
def test_what_the_base_finds_and_the_work_does_not_twice_has_failed(fate: str) -> None:
    again = ends("web-s1-own-1b", fate)

    assert played(again, ABSENT, ABSENT_AGAIN) == ("Failed", ["own Failed"], [])


@pytest.mark.parametrize("fate", ["tool", "oom"])
def test_a_base_that_cannot_judge_either_blames_nobody(fate: str) -> None:
    again = ends("web-s1-own-1b", fate)

    assert played(again, ABSENT, ABSENT_AGAIN) == ("Closed", ["own Passed"], [])


def test_a_job_that_was_refused_has_not_missed_its_command() -> None:
    refused = {"at": 2.0, "do": "forbid", "name": "web-s1-own-0", "status": 403, "seconds": 60.0}

    state, said, broken = played(refused, ends("web-s1-own-1", "tool"))

    assert (state, said, broken) == ("Closed", ["own Passed"], [])


def test_without_the_second_time_the_model_finds_a_verdict_that_nobody_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rerun, "suspected", lambda _, checks: {c.name for c in checks})

    assert played(ABSENT)[2][:1] == [UNSAID]


def test_without_the_base_the_model_finds_a_verdict_that_nobody_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def blamed(check: Any, *_: Any) -> Any:
        return result_of(check, "Failed")

    monkeypatch.setattr(base, "judged_by_base", blamed)

    found = played(ABSENT, ABSENT_AGAIN, ends("web-s1-own-1b", "tool"))
    assert found[2][:1] == [UNSAID]


def judged(verdict: str = "Failed", asked: str = "x", **more: Any) -> Verification:
    """What a gate has said; `more`: of what, and who has let it go on."""
    bypass = {"bypass": more.pop("bypass")} if "bypass" in more else {}
    result = {"name": "own", "kind": "gate", "verdict": verdict, "asked": asked, **bypass}
    return verification(checks=[result], **more)


LET_ON = {
    "by": "ann",
    "reason": "wrong here",
    "approval": "own-of-web",
    "verdict": "Failed",
    "time": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    "after",
    [
        ("of-web", judged("Bypassed")),
        ("of-web", judged("Bypassed", bypass=LET_ON | {"verdict": "TimedOut"})),
        ("of-web", judged("Bypassed", bypass=LET_ON, sha=sha(5))),
        ("of-web", judged("Bypassed", bypass=LET_ON, base=sha(6))),
        ("of-web", judged("Bypassed", bypass=LET_ON, asked="y")),
        ("of-api", judged("Bypassed", bypass=LET_ON)),
    ],
    ids=["nobody", "verdict", "commit", "base", "gate", "owner"],
)
def test_a_bypass_of_anything_but_what_the_gate_has_said_no_to_is_found(after: Any) -> None:
    rules = Verdicts(lambda _: "")
    rules.seen("of-web", judged())
    assert [*rules.unasked_of_people("of-web", judged("Bypassed", bypass=LET_ON))] == []

    assert [*rules.unasked_of_people(*after)] != []
