"""Gates that a model answers: what is asked, of whom, and what its answer may keep back."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import ProjectSpec
from bernstein.api.signals import Signal
from bernstein.api.states import TaskState
from bernstein.checks.gates import that_ask
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.verification.expected import plan
from bernstein.core.verification.expected.required import (
    asking,
    executing,
    reading,
    required_checks,
    unanswerable,
)
from bernstein.core.verification.inspections import questions
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot
from tests.unit.core.verification.asked_models import MODEL

CHANGED = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
OTHER = {**MODEL, "name": "gemini-3-flash", "provider": "gemini"}


def spec(*pipeline: dict[str, Any], models: Any = (MODEL, OTHER), **gates: Any) -> ProjectSpec:
    listed = [{**settings} for settings in pipeline]
    return objects.project(gates={"pipeline": listed, **gates}, models=[*models]).spec


def asked(name: str, models: Any = (MODEL, OTHER), **settings: Any) -> CheckSpec:
    """The gate, as a Project with these settings of it asks for it."""
    found = required_checks((), spec({"name": name, **settings}, models=models), CHANGED)
    return next(check for check in found if check.name == name)


@pytest.mark.parametrize("name", that_ask())
def test_it_is_put_to_a_model_and_nothing_is_executed(name: str) -> None:
    found = asked(name)

    assert asking([found]) == [found]
    assert (executing([found]), reading([found])) == ([], [])
    assert found.asks is not None
    assert (found.asks.name, found.asks.criteria) == (name, "")
    assert found.asks.prompt == f"{name}.v1"
    assert (found.kind, found.title) == ("gate", name)


@pytest.mark.parametrize("name", that_ask())
def test_none_is_asked_where_the_project_does_not_list_it(name: str) -> None:
    assert name not in [check.name for check in required_checks((), spec(), CHANGED)]


def test_all_share_a_job_with_the_signals_that_ask() -> None:
    signals = [Signal(type="llm_judge")]
    project = spec(*({"name": name} for name in that_ask()))

    together = questions(required_checks(signals, project, CHANGED))

    assert [*together] == ["judge-1"]
    assert [check.name for check in together["judge-1"]] == ["signal-0", *that_ask()]


def test_the_first_model_is_asked_unless_the_gate_names_another() -> None:
    first, other = asked("review_rubric"), asked("review_rubric", model=OTHER["name"])

    assert first.asks is not None
    assert other.asks is not None
    assert (first.asks.model, first.asked_of) == (MODEL["name"], ("anthropic", ""))
    assert (other.asks.model, other.asked_of) == (OTHER["name"], ("gemini", ""))
    assert first.digest != other.digest


def test_two_gates_may_ask_two_models() -> None:
    rubric = {"name": "review_rubric", "model": OTHER["name"]}
    found = required_checks((), spec({"name": "intent_verification"}, rubric), CHANGED)

    asked_of = [check.asks.model for check in found if check.asks is not None]
    assert asked_of == [MODEL["name"], OTHER["name"]]


def test_the_score_is_the_projects_and_part_of_the_question() -> None:
    usual, strict = asked("review_rubric"), asked("review_rubric", minimumScore=8)

    assert usual.asks is not None
    assert strict.asks is not None
    assert (usual.asks.least, strict.asks.least) == (6.0, 8.0)
    assert usual.digest != strict.digest
    assert usual.digest == asked("review_rubric", minimumScore=6).digest


def test_a_no_keeps_back_unless_the_project_says_otherwise() -> None:
    usual, told = asked("intent_verification"), asked("intent_verification", blockOnNo=False)

    assert (usual.required, usual.blocks) == (True, True)
    assert (told.required, told.blocks) == (True, False)
    assert usual.digest != told.digest
    assert usual.digest == asked("intent_verification", blockOnNo=True).digest


def test_what_only_advises_is_never_required() -> None:
    """Where somebody has got past the rule of the schema, too."""
    assert not asked("test_expansion").required
    assert not asked("test_expansion", required=True).required
    assert asked("review_rubric").required
    assert not asked("review_rubric", required=False).required


def test_it_has_the_time_of_all_gates() -> None:
    project = spec({"name": "review_rubric"}, timeoutSeconds=30)

    assert [c.timeout for c in required_checks((), project, CHANGED) if c.asks] == [30]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("intent_verification", {"any_changed": True}),
        ("review_rubric", {"any_changed": True, "python_changed": True}),
        ("test_expansion", {"any_changed": True, "python_changed": True}),
    ],
)
def test_nobody_is_asked_about_a_change_that_it_is_not_for(
    name: str, changed: dict[str, bool]
) -> None:
    nothing = dict.fromkeys(("any_changed", "python_changed", "tests_changed", "deps_changed"))
    just = Subject(**{fact: bool(v) for fact, v in (nothing | changed).items()})
    without = Subject(**dict.fromkeys(nothing, False) | {"tests_changed": True})

    def skipped(of: Subject, **settings: Any) -> list[str | None]:
        project = spec({"name": name, **settings})
        return [c.skipped for c in required_checks((), project, of) if c.asks]

    assert (skipped(just), skipped(without)) == ([None], ["ConditionNotMet"])
    assert skipped(without, condition="tests_changed") == [None]


@pytest.mark.parametrize("name", that_ask())
def test_a_command_that_a_project_had_under_that_name_stays_one(name: str) -> None:
    """Such a gate was its own, when there was none that is built in."""
    found = asked(name, command="rate .", image="own:1", timeoutSeconds=9)

    assert (found.command, found.image, found.timeout, found.asks) == ("rate .", "own:1", 9, None)


def test_the_work_of_a_whole_plan_is_put_to_no_model() -> None:
    project = objects.project(gates={"pipeline": [{"name": n} for n in that_ask()]}, models=[MODEL])
    closed = objects.task("one", status=objects.status(TaskState.CLOSED))
    snapshot = plan_snapshot(objects.plan(), closed, project=project)

    assert [check.name for check in plan.specs_of(snapshot)] == ["lint", "pii_scan"]


# --- without a model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "models", "problem"),
    [
        ({}, (), "review_rubric"),
        ({"model": "nobody"}, (MODEL,), "review_rubric"),
        ({}, (MODEL,), None),
        ({"model": MODEL["name"]}, (OTHER, MODEL), None),
        ({"enabled": False}, (), None),
        ({"required": False}, (), None),
        ({"command": "rate .", "image": "own:1"}, (), None),
    ],
)
def test_a_gate_that_nobody_could_answer_is_named(
    settings: dict[str, Any], models: Any, problem: str | None
) -> None:
    assert unanswerable(spec({"name": "review_rubric", **settings}, models=models)) == problem


def test_without_gates_nothing_is_asked() -> None:
    assert unanswerable(spec({"name": "review_rubric"}, models=(), enabled=False)) is None
