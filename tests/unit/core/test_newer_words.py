"""Objects that a newer version has let through, read by an operator that is older than its CRDs."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.checks import signals
from bernstein.checks.spec import Subject
from bernstein.core import conditions
from bernstein.core.plans.validation import validate_plan
from bernstein.core.prompts.parts import SIGNALS
from bernstein.core.sessions.decide import is_launchable
from bernstein.core.sessions.prompt import prompt
from bernstein.core.verification.expected.required import executing, reading, required_checks
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.trees import Tree
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, at, snapshot, stalled_for, status, with_session

SIGNAL: dict[str, Any] = {"type": "api_answers", "path": "v1/health"}
NEWER_TASK: dict[str, Any] = {"completionSignals": [SIGNAL]}
NEWER_PROJECT = objects.project(agents=[{"name": "demo", "adapter": "gemini", "image": "g:1"}])
EVERYTHING = Subject(True, True, True, True)

newer = pytest.mark.parametrize(
    ("spec", "project", "message"),
    [
        (NEWER_TASK, objects.project(), "'api_answers', known here are: path_exists, "),
        ({}, NEWER_PROJECT, "agent 'demo' has the adapter 'gemini', known here are: codex, "),
    ],
    ids=["signal", "adapter"],
)


@newer
def test_no_agent_is_started_and_it_is_said_why(
    spec: dict[str, Any], project: Project, message: str
) -> None:
    task = objects.task(status=status(), **spec)

    first = scheduled.decide(snapshot(task, project=project), NOW)

    assert first.actions == ()
    assert first.status.state is TaskState.OPEN
    stall = conditions.find(first.status.conditions, "Stalled")
    assert stall is not None
    assert (stall.status, stall.reason) == ("True", "OperatorTooOld")
    assert message in stall.message
    again = scheduled.decide(
        snapshot(objects.task(status=first.status, **spec), project=project), at(60)
    )
    assert again.status == first.status, "it is said once"


@newer
def test_a_claim_is_given_back(spec: dict[str, Any], project: Project, message: str) -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED), **spec)

    found = scheduled.decide(snapshot(claimed, project=project), NOW)

    assert (found.status.state, found.actions) == (TaskState.OPEN, ())
    assert found.status.history[-1].reason == "OperatorTooOld"


def test_with_the_newer_operator_it_goes_on() -> None:
    stalled = scheduled.decide(
        snapshot(objects.task(status=status()), project=NEWER_PROJECT), NOW
    ).status
    assert stalled_for(stalled.conditions) == "OperatorTooOld"

    known = scheduled.decide(snapshot(objects.task(status=stalled)), at(60)).status

    assert known.state is TaskState.CLAIMED
    assert stalled_for(known.conditions) is None


def test_what_was_done_before_is_not_passed_without_it() -> None:
    task: Task = objects.task(**NEWER_TASK)

    checks = required_checks(task.spec.completion_signals, objects.project().spec, EVERYTHING)

    (asked,) = (check for check in reading(checks) if check.kind == "signal")
    assert asked not in executing(checks)
    assert asked.reads is not None
    found = judge(Tree({"v1/health": ""}), asked.reads)
    assert (found.verdict, found.reason) == ("Errored", "InvalidConfig")
    assert "api_answers" in found.excerpt


@pytest.mark.parametrize(
    ("found", "adapter", "launchable"),
    [
        (objects.project(), "demo", True),
        (objects.project(), "gemini", False),
        (NEWER_PROJECT, "demo", False),
        (NEWER_PROJECT, "gemini", False),
        (None, "demo", False),
    ],
)
def test_a_session_of_before_is_not_launched(
    found: Project | None, adapter: str, launchable: bool
) -> None:
    known = objects.session()
    session = known.model_copy(update={"spec": known.spec.model_copy(update={"adapter": adapter})})

    task = objects.task(status=objects.with_session(TaskState.CLAIMED))
    assert is_launchable(session, task, found) is launchable
    assert not is_launchable(session, objects.task("other"), found)
    assert not is_launchable(session, None, found)


def test_a_session_of_before_still_gets_a_prompt() -> None:
    told = prompt(objects.task(**NEWER_TASK), 1)[SIGNALS]
    assert "- the completion signal api_answers holds" in told.splitlines()


def test_a_plan_is_told_what_it_may_use() -> None:
    steps = [{"title": "t", "completionSignals": [SIGNAL]}]
    plan = objects.plan(stages=[{"name": "s", "steps": steps}])

    (problem,) = validate_plan(plan.spec, objects.project().spec, ["backend"])

    assert problem.message.endswith(
        "completion_signals[0].type: invalid value 'api_answers', must be one of "
        f"[{', '.join(signals.types())}]"
    )


@pytest.mark.parametrize(("agent", "launchable"), [("demo", True), ("gone", False)])
def test_a_session_whose_agent_the_project_has_no_more_is_not_launched(
    agent: str, launchable: bool
) -> None:
    known = objects.session()
    session = known.model_copy(update={"spec": known.spec.model_copy(update={"agent": agent})})

    task = objects.task(status=objects.with_session(TaskState.CLAIMED))
    assert is_launchable(session, task, objects.project()) is launchable
