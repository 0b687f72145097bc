"""Every message about a plan, in the words that are promised."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest

from bernstein.api.plan import PlanSpec, Stage, Step
from bernstein.api.signals import Signal
from bernstein.api.vocabulary import ROLES
from bernstein.checks import signals
from bernstein.core.plans import validation
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.validation import validate_file
from tests.unit.core.plans.plan_files import (
    ROLE_LIST,
    STEP,
    C,
    S,
    errors,
    plan,
    stage,
    with_signal,
    with_step,
)

SUPPORTED = f"[{', '.join(signals.types())}]"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["no", "mapping"], "Plan file must be a YAML mapping"),
        (None, "Plan file must be a YAML mapping"),
        ({"stages": [stage("a")]}, "Missing required top-level field 'name'"),
        ({"name": "p"}, "Missing required top-level field 'stages'"),
        (plan(stages={}), "'stages' must be an array"),
        (plan(stages=[]), "'stages' must contain at least one stage"),
        (plan(stages=["x"]), "stages[0]: stage must be a mapping"),
        (plan(stages=[{"steps": [STEP]}]), "stages[0]: missing required field 'name'"),
        (plan(stages=[{"name": "a"}]), "stages[0]: missing required field 'steps'"),
        (
            plan(stages=[{"name": "a", "steps": []}]),
            "stages[0].steps: must contain at least one step",
        ),
        (
            plan(stages=[{"name": "a", "steps": "x"}]),
            "stages[0].steps: expected type array, got string",
        ),
        (
            plan(stages=[{"name": "a", "steps": [1]}]),
            f"{S}: step must be a mapping",
        ),
        (
            plan(stages=[{"name": "a", "steps": [{"role": "qa"}]}]),
            f"{S}: step must have a 'title' or 'goal' field",
        ),
        (
            plan(stages=[stage("a", depends_on="b")]),
            "stages[0].depends_on: expected type array, got string",
        ),
        (with_step(role=1), f"{S}.role: expected type string, got integer"),
        (
            with_step(role="Dev Sec"),
            f"{S}.role: invalid value 'Dev Sec', must be one of {ROLE_LIST}",
        ),
        (
            with_step(scope="smal"),
            f"{S}.scope: invalid value 'smal', must be one of [small, medium, large], "
            "did you mean 'small'?",
        ),
        (with_step(priority=9), f"{S}.priority: must be between 1 and 5, got 9"),
        (with_step(priority=0), f"{S}.priority: must be between 1 and 5, got 0"),
        (with_step(priority="high"), f"{S}.priority: expected type integer, got string"),
        (with_step(priority=True), f"{S}.priority: expected type integer, got boolean"),
        (
            with_step(scope="huge"),
            f"{S}.scope: invalid value 'huge', must be one of [small, medium, large]",
        ),
        (
            with_step(complexity="extreme"),
            f"{S}.complexity: invalid value 'extreme', must be one of [low, medium, high]",
        ),
        (
            with_step(effort="lots"),
            f"{S}.effort: invalid value 'lots', must be one of [low, normal, high, max]",
        ),
        (with_step(mode="fast"), f"{S}.mode: invalid value 'fast', must be one of [batch]"),
        (with_step(changes="some"), f"{S}.changes: invalid value 'some', must be one of [none]"),
        (with_step(model=""), f"{S}.model: must not be empty"),
        (with_step(estimated_minutes=0), f"{S}.estimated_minutes: must be >= 1"),
        (with_step(estimated_minutes=10**5), f"{S}.estimated_minutes: must be <= 10080"),
        (with_step(files="a.py"), f"{S}.files: expected type array, got string"),
        (with_step(files=[1]), f"{S}.files[0]: expected type string, got integer"),
        (
            with_step(files=["a.py", "../b.py"]),
            f"{S}.files[1]: must be relative to the repository and may not leave it",
        ),
        (
            with_step(title="two\nlines"),
            f"{S}.title: must be a single line without control or invisible characters",
        ),
        (with_step(description="\0"), f"{S}.description: must not contain the character NUL"),
        (
            with_step(description="\ud800"),
            f"{S}.description: must not contain half of a surrogate pair",
        ),
        (with_step(cli="a b"), f"{S}.cli: must be 'auto' or the name of an agent, got 'a b'"),
        (with_step(titel="x"), f"{S}: unknown field 'titel', did you mean 'title'?"),
        (
            with_step(estimatedMinutes=3),
            f"{S}: unknown field 'estimatedMinutes', did you mean 'estimated_minutes'?",
        ),
        (
            with_step(depends_on=["x"]),
            f"{S}: unknown field 'depends_on', a step depends on what its stage depends on",
        ),
        (with_step(**{"1": 2}), f"{S}: unknown field '1'"),
        (
            with_step(completion_signals={}),
            f"{S}.completion_signals: expected type array, got mapping",
        ),
        (with_step(completion_signals=["x"]), f"{C}: signal must be a mapping"),
        (with_signal(path="a"), f"{C}: missing required field 'type'"),
        (with_signal(type="guess"), f"{C}.type: invalid value 'guess', must be one of {SUPPORTED}"),
        (with_signal(type=3), f"{C}.type: expected type string, got integer"),
        (with_signal(type="path_exists"), f"{C}: missing required field 'path'"),
        (with_signal(type="glob_exists"), f"{C}: missing required field 'value'"),
        (with_signal(type="test_passes", command=""), f"{C}: missing required field 'command'"),
        (
            with_signal(type="file_contains", path="a"),
            f"{C}: missing required field 'contains'",
        ),
        (
            with_signal(type="path_exists", path="a", command="x"),
            f"{C}.command: path_exists takes no 'command'",
        ),
        (
            with_signal(type="path_exists", path="/etc/passwd"),
            f"{C}.path: must be relative to the repository and may not leave it",
        ),
        (
            with_signal(type="file_contains", path="a", contains="(", regex=True),
            f"{C}.contains: invalid regular expression: "
            "missing ), unterminated subpattern at position 0",
        ),
        (
            with_signal(type="test_passes", command="x", timeout_seconds=0),
            f"{C}.timeout_seconds: must be >= 1",
        ),
        (plan(max_agents="4"), "max_agents: expected type integer, got string"),
        (plan(max_agents=True), "max_agents: expected type integer, got boolean"),
        (plan(max_agents=0), "max_agents: must be >= 1"),
        (plan(constraints="x"), "constraints: expected type array, got string"),
        (
            plan(context_files=["/x"]),
            "context_files[0]: must be relative to the repository and may not leave it",
        ),
        (plan(name=3), "name: expected type string, got integer"),
        (plan(name=" "), "name: must not be empty"),
        (plan(description=None), "description: expected type string, got null"),
        (plan(budget="lots"), "budget: expected US dollars such as \"$5\" or 5.00, got 'lots'"),
        (plan(budget=-1), 'budget: expected US dollars such as "$5" or 5.00, got -1'),
        (plan(budget=float("nan")), 'budget: expected US dollars such as "$5" or 5.00, got nan'),
        (plan(budget=[]), "budget: expected type string or number, got array"),
        (plan(budget=True), "budget: expected type string or number, got boolean"),
        (plan(budget=date(2030, 1, 1)), "budget: expected type string or number, got date"),
        (plan(max_agents=1.5), "max_agents: expected type integer, got number"),
        (plan(name=b"x"), "name: expected type string, got binary"),
        (plan(name={"x"}), "name: expected type string, got set"),
        (plan() | {True: 1}, "Unknown top-level field true"),
        (plan() | {None: 1}, "Unknown top-level field null"),
        (plan(maxagents=3), "Unknown top-level field 'maxagents', did you mean 'max_agents'?"),
        (plan(repos=[{"branch": "x"}]), "repos[0]: missing required field 'path'"),
        (plan(repos="x"), "repos: expected type array, got string"),
        (plan(repos=["x"]), "repos[0]: repository must be a mapping"),
        (
            {"apiVersion": "bernstein.dev/v1alpha1", "kind": "Plan", "spec": {}},
            "This is a Kubernetes object and no plan file: apply it with kubectl apply -f",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "stages": [], "nodes": {}},
            "This is a Kubernetes object and no plan file: apply it with kubectl apply -f",
        ),
    ],
)
def test_one_problem_gives_one_message(data: object, message: str) -> None:
    assert [m for m in errors(data) if "not supported yet, remove it" not in m] == [message]


@pytest.mark.parametrize(
    ("data", "path", "unit"),
    [
        (with_step(files=["f"] * 1000), f"{S}.files", "items"),
        (with_step(title="t" * 1000), f"{S}.title", "characters"),
        (plan(constraints=["c" * 10_000]), "constraints[0]", "characters"),
        (plan(stages=[stage(f"s{n}") for n in range(10_000)]), "stages", "items"),
    ],
)
def test_what_is_too_long_for_the_object_is_told_before_the_cluster_refuses_it(
    data: dict[str, Any], path: str, unit: str
) -> None:
    (problem,) = validate_file(data).errors

    assert problem.path == path
    assert re.fullmatch(rf"{re.escape(path)}: must have at most \d+ {unit}", problem.message)


def test_what_is_too_long_does_not_hide_what_is_wrong_in_it() -> None:
    stages = [stage(f"s{n}") for n in range(45)]
    steps: list[dict[str, Any]] = [{"title": f"Step {n}"} for n in range(60)]
    steps[55] |= {"description": "d" * 9000, "completion_signals": [{"type": "path_exists"}]}
    steps[56]["files"] = ["f"] * 41
    stages[42] |= {"steps": steps, "name": "n" * 301}

    assert errors(plan(stages=stages, constraints=["c"] * 51 + ["c" * 1025])) == [
        "stages[42].steps[55].completion_signals[0]: missing required field 'path'",
        "constraints: must have at most 50 items",
        "constraints[51]: must have at most 1024 characters",
        "stages: must have at most 40 items",
        "stages[42].name: must have at most 300 characters",
        "stages[42].steps: must have at most 50 items",
        "stages[42].steps[55].description: must have at most 8192 characters",
        "stages[42].steps[56].files: must have at most 40 items",
    ]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (plan(stage=[]), "stage"),
        (with_step(titel="x"), f"{S}.titel"),
        (plan(**{"a b'c": 1}), "a b'c"),
        (plan() | {None: 1}, "null"),
        (plan(stages=[stage("a") | {False: 1}]), "stages[0].false"),
    ],
)
def test_the_place_of_an_unknown_field_is_its_name_as_it_stands(
    data: dict[str, Any], path: str
) -> None:
    (problem,) = validate_file(data).errors

    assert problem.path == path


POLICY = {
    "plan": "AboveCost",
    "above_usd": 5.5,
    "result": "HighRisk",
    "expires_after_seconds": 3600,
    "approver_is_not_author": True,
    "moved_base": "Keep",
}


def test_a_file_may_say_when_people_decide_as_a_plan_object_does() -> None:
    data = plan(approval=POLICY)

    assert errors(data) == []
    assert plan_spec(data)["approval"] == {
        "plan": "AboveCost",
        "aboveUsd": "5.5",
        "result": "HighRisk",
        "expiresAfterSeconds": 3600,
        "approverIsNotAuthor": True,
        "movedBase": "Keep",
    }
    spec = PlanSpec.model_validate(plan_spec(data))
    assert validation.validate_plan(spec, None, ROLES) == ()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("review", "approval: expected type mapping, got string"),
        (None, "approval: expected type mapping, got null"),
        ({"results": "Always"}, "approval: unknown field 'results', did you mean 'result'?"),
        ({"aboveUsd": 5}, "approval: unknown field 'aboveUsd', did you mean 'above_usd'?"),
        (
            {"result": "always"},
            "approval.result: invalid value 'always', must be one of [Never, HighRisk, Always], "
            "did you mean 'Always'?",
        ),
        (
            {"plan": "Sometimes"},
            "approval.plan: invalid value 'Sometimes', must be one of [Never, AboveCost, Always]",
        ),
        ({"plan": "AboveCost"}, "approval: plan: AboveCost needs the field 'above_usd'"),
        (
            {"plan": "Always", "above_usd": 5},
            "approval.above_usd: goes with plan: AboveCost, and only with that",
        ),
        (
            {"plan": "AboveCost", "above_usd": "much"},
            "approval.above_usd: expected US dollars such as \"$5\" or 5.00, got 'much'",
        ),
        ({"expires_after_seconds": 1}, "approval.expires_after_seconds: must be >= 60"),
        (
            {"approver_is_not_author": "yes"},
            "approval.approver_is_not_author: expected type boolean, got string",
        ),
        (
            {"moved_base": "Drop"},
            "approval.moved_base: invalid value 'Drop', must be one of [Ask, Keep]",
        ),
    ],
)
def test_what_is_wrong_with_a_policy_is_told_once_with_its_place(
    policy: object, message: str
) -> None:
    assert errors(plan(approval=policy)) == [message]


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    data = {
        "name": "p",
        "max_agents": "many",
        "stages": [
            {"name": "a", "steps": [{"title": "x", "priority": 7, "scope": "?"}]},
            {"name": "b", "steps": []},
            {"steps": [{"title": "t" * 301, "titel": ""}]},
        ],
    }

    assert [problem.path for problem in validate_file(data).errors] == [
        "max_agents",
        "stages[0].steps[0].priority",
        "stages[0].steps[0].scope",
        "stages[1].steps",
        "stages[2].name",
        "stages[2].steps[0].titel",
        "stages[2].steps[0].title",
    ]


@pytest.mark.parametrize(
    ("role", "hint"),
    [("bakend", ", did you mean 'backend'?"), ("Backend", ", did you mean 'backend'?"), ("x", "")],
)
def test_an_unknown_role_is_a_warning_without_a_cluster(role: str, hint: str) -> None:
    report = validate_file(with_step(role=role))

    found = report.warnings or report.errors
    assert [problem.message for problem in found] == [
        f"{S}.role: invalid value '{role}', must be one of {ROLE_LIST}{hint}"
    ]
    assert bool(report.warnings) is role.islower()


def test_a_goal_beside_a_title_is_a_warning() -> None:
    (warning,) = validate_file(with_step(goal="Other")).warnings

    assert warning.message == f"{S}.goal: not used, because the step has a title"


@pytest.mark.parametrize(
    ("file", "warned"), [("src/{a,b}.py", True), ("src/{slug}.py", False), ("a{b,", True)]
)
def test_braces_that_nothing_expands_are_a_warning(file: str, warned: bool) -> None:
    report = validate_file(with_step(files=[file]))

    assert report.errors == ()
    said = [problem.message for problem in report.warnings]
    text = f"{S}.files[0]: braces are not expanded: write an entry for each alternative"
    assert said == ([text] if warned else [])


@pytest.mark.parametrize("effort", ["low", "normal", "medium", "high", "max"])
def test_medium_effort_is_accepted_beside_the_four(effort: str) -> None:
    assert errors(with_step(effort=effort)) == []


@pytest.mark.parametrize("budget", [99999999999, 5.123456789, "$5.1234567", "1e3", 1e20])
def test_a_budget_of_another_form_says_which_form_it_may_have(budget: object) -> None:
    form = "with at most 9 digits before the point, 6 after it and no exponent"
    got = f"'{budget}'" if isinstance(budget, str) else budget
    told = f'budget: expected US dollars such as "$5" or 5.00, {form}, got {got}'
    assert errors(plan(budget=budget)) == [told]


@pytest.mark.parametrize("budget", ["$5", "5", "5.00", "$ 10", 5.0, 3, "0"])
def test_budgets_as_people_write_them(budget: object) -> None:
    assert errors(plan(budget=budget)) == []


OF_OBJECTS = ("author", "cancel", "project_ref", "requests", "suspend")
"""Fields of a Plan that its file does not have."""


def unknown(data: dict[str, Any]) -> list[str]:
    """What is told of fields that the tables of validation do not have."""
    return [message for message in errors(data) if "nknown" in message and "field" in message]


@pytest.mark.parametrize("field", sorted(Step.model_fields))
def test_every_field_of_a_step_may_be_in_a_file(field: str) -> None:
    assert unknown(with_step(**{field: object()})) == []


@pytest.mark.parametrize("field", sorted(Stage.model_fields))
def test_every_field_of_a_stage_may_be_in_a_file(field: str) -> None:
    assert unknown(plan(stages=[stage("build") | {field: object()}])) == []


@pytest.mark.parametrize("field", sorted({*PlanSpec.model_fields} - {*OF_OBJECTS}))
def test_every_field_of_a_plan_may_be_in_a_file(field: str) -> None:
    assert unknown(plan() | {field: object()}) == []


@pytest.mark.parametrize("field", sorted(Signal.model_fields))
def test_every_field_of_a_signal_may_be_in_a_file(field: str) -> None:
    signal = {"type": "test_passes"} | {field: object()}

    assert unknown(with_step(completion_signals=[signal])) == []


@pytest.mark.parametrize("field", sorted(OF_OBJECTS))
def test_what_only_objects_have_is_unknown_in_a_file(field: str) -> None:
    assert unknown(plan() | {field: object()}) != []
