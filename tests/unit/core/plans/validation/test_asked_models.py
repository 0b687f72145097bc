"""Signals that ask a model, in plan files and in Plans."""

from __future__ import annotations

from bernstein.core.plans import validation
from bernstein.core.plans.fields import plan_spec
from tests.unit.core import objects
from tests.unit.core.plans.plan_files import C, errors, with_signal


def test_a_file_may_call_the_criteria_of_a_model_value() -> None:
    data = with_signal(type="llm_review", value="Every /path has a test.")

    assert errors(data) == []
    (stage,) = plan_spec(data)["stages"]
    (signal,) = stage["steps"][0]["completionSignals"]
    assert signal == {"type": "llm_review", "criteria": "Every /path has a test."}


def test_no_other_signal_has_criteria_by_that_name() -> None:
    data = with_signal(type="llm_review", criteria="It is tested.", value="x")

    assert errors(data) == [f"{C}.value: llm_review takes no 'value'"]
    assert errors(with_signal(type="glob_exists", criteria="x", value="*.py")) == [
        f"{C}.criteria: glob_exists takes no 'criteria'"
    ]


def test_a_step_whose_work_nobody_could_review_is_refused_where_the_project_is_known() -> None:
    openai = {"name": "gpt-5.5", "provider": "openai", "key": {"name": "judge", "key": "key"}}
    asks = {"crossModel": {"enabled": True}}
    project = objects.project(gates=asks, models=[openai]).spec
    steps = [{"title": "t", "model": "claude-opus-4-5"}, {"title": "u", "model": "gpt-5.5"}]
    spec = objects.plan(stages=[{"name": "s", "steps": steps}]).spec
    free = objects.project(models=[openai]).spec

    (problem,) = validation.validate_plan(spec, project, ["backend"])

    assert problem.path == "stages[0].steps[1]"
    assert problem.message == (
        "stages[0].steps[1]: gates.crossModel: no model of the Project is known to be of another "
        "than OpenAI, whose model writes"
    )
    assert validation.validate_plan(spec, free, ["backend"]) == ()
    assert validation.validate_plan(spec, None, ["backend"]) == ()


def test_who_asks_a_model_needs_one_in_the_project() -> None:
    steps = [{"title": "t", "completionSignals": [{"type": "llm_judge"}]}]
    spec = objects.plan(stages=[{"name": "s", "steps": steps}]).spec
    model = {"name": "m", "provider": "openai", "key": {"name": "judge", "key": "key"}}

    (problem,) = validation.validate_plan(spec, objects.project().spec, ["backend"])

    assert problem.message == f"{C}.type: llm_judge: the Project has no 'models'"
    assert validation.validate_plan(spec, objects.project(models=[model]).spec, ["backend"]) == ()
    assert validation.validate_plan(spec, None, ["backend"]) == ()
