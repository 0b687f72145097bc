"""The pipeline that workflows are documented with, word for word, with agents in real pods."""

from __future__ import annotations

import json
from typing import Any

from bernstein.core.plans import file as plan_file
from tests.e2e.conftest import MakeWorld, Object, World, condition, does, writing
from tests.unit.core.plans.workflows.stories.approvals import PIPELINE

PLAN = "ci-pipeline"
FIX: Object = {"replace": {"path": "api.py", "old": "BROKEN", "new": "FIXED"}}
TESTS: Object = {
    # Of a file without that text the agent ends with an error: the tests fail.
    "steps": [{"replace": {"path": "api.py", "old": "FIXED", "new": "TESTED"}}],
    "text": "all tests pass",
}


def pipeline(here: World) -> None:
    data = plan_file.parse(PIPELINE)
    assert isinstance(data, dict)
    here.apply(plan_file.plan_object(data, name=PLAN, namespace=here.namespace))


def script(fix: Object) -> list[Object]:
    return [
        does("decompose", writing("plan.md", "One endpoint.\n")),
        does("build-api", writing("api.py", "BROKEN\n")),
        does("run-tests", TESTS),
        does("fix-bugs", fix),
        does("deploy", writing("deployed.md", "Yes.\n")),
    ]


def allow(here: World) -> Object:
    """A person lets the phase begin; the Plan as it was when he was asked."""

    def asks(plan: Object) -> bool:
        return bool(plan["status"]["waiting"]["reason"] == "AwaitingApproval")

    plan = here.await_("plan", PLAN, asks, 240)
    told = here.bernstein("approve", PLAN)
    assert told.code == 0, told.err
    return plan


def runs(plan: Object) -> list[str]:
    return [f"{row['node']}#{row['run']}" for row in plan["status"]["tasks"]]


def prompt_of(here: World, session: str) -> dict[str, Any]:
    text = here.kubectl("get", "configmap", f"{session}-prompt", "-o", "json")
    data: dict[str, Any] = json.loads(text)["data"]
    return data


def test_tests_that_fail_are_mended_run_again_and_what_passes_is_deployed(
    world: MakeWorld,
) -> None:
    here = world(script({"steps": [FIX], "text": "mended"}))
    pipeline(here)
    asked = allow(here)
    assert runs(asked) == ["decompose#1"]

    plan = here.await_("plan", PLAN, lambda p: p["status"]["phase"] == "Succeeded", 600)

    order = ["decompose#1", "build-api#1", "run-tests#1", "fix-bugs#1", "run-tests#2", "deploy#1"]
    assert runs(plan) == order
    assert here.on_server("show", "main:api.py") == "TESTED\n"
    assert "deployed.md" in here.files()
    told = prompt_of(here, "ci-pipeline--fix-bugs-i1-s1")
    assert "node 'run-tests', run 1" in told["earlier.md"]
    assert len(here.all("approvals")) == 1


def test_what_nothing_mends_ends_after_four_runs_and_people_were_asked_once(
    world: MakeWorld,
) -> None:
    here = world(script({"steps": [{"run": "echo once more >> tried.md"}], "text": "tried"}))
    before = here.tip()
    pipeline(here)
    allow(here)

    plan = here.await_("plan", PLAN, lambda p: p["status"]["phase"] == "Failed", 900)

    fixes = [f"{name}#{run}" for run in (1, 2, 3) for name in ("run-tests", "fix-bugs")]
    assert runs(plan)[:-1] == ["decompose#1", "build-api#1", *fixes]
    assert runs(plan)[-1] == "run-tests#4"
    assert condition(plan, "Stalled")["reason"] == "RetryExhausted"
    assert here.tip() == before
    assert len(here.all("approvals")) == 1
