"""Every message about a workflow file, and what becomes of one without problems."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_file, validate_plan
from tests.unit.core.plans.plan_files import ROLE_LIST, plan
from tests.unit.core.plans.test_in_cluster import PROJECT
from tests.unit.core.plans.validation.workflow_files import (
    CI_PIPELINE,
    PHASES,
    errors,
    node,
    spec_of,
    workflow,
)

LINE = "must be a single line without control or invisible characters"
EITHER = "a plan has either 'stages', or 'phases' and 'nodes': make two of it"
NAMED = "a node's name has at most 63 lower-case letters, digits and '-'"


def test_the_documented_workflow_becomes_exactly_this() -> None:
    data = plan_file.parse(CI_PIPELINE)
    assert isinstance(data, dict)

    assert validate_file(data) == validate_file(workflow())
    assert plan_file.plan_object(data)["metadata"]["name"] == "ci-pipeline"
    assert plan_file.plan_object(data)["spec"] == {
        "name": "ci-pipeline",
        "workflow": {
            "version": "1.0.0",
            "phases": [
                {"name": "plan", "allowedRoles": ["manager", "architect"]},
                {"name": "implement", "requiresApproval": True},
                {"name": "verify", "allowedRoles": ["qa", "security"]},
                {"name": "merge", "allowedRoles": ["manager"]},
            ],
            "nodes": [
                {"name": "decompose", "phase": "plan", "role": "manager"},
                {
                    "name": "build-api",
                    "phase": "implement",
                    "role": "backend",
                    "dependsOn": [{"source": "decompose"}],
                },
                {
                    "name": "run-tests",
                    "phase": "verify",
                    "role": "qa",
                    "dependsOn": [{"source": "build-api"}],
                },
                {
                    "name": "fix-bugs",
                    "phase": "implement",
                    "role": "backend",
                    "dependsOn": [{"source": "run-tests", "condition": "status == 'failed'"}],
                    "retry": {"maxAttempts": 3, "until": "status == 'done'"},
                },
                {
                    "name": "deploy",
                    "phase": "merge",
                    "role": "manager",
                    "dependsOn": [{"source": "run-tests", "condition": "status == 'done'"}],
                },
            ],
        },
    }


def test_what_stands_beside_the_workflow_is_that_of_any_plan() -> None:
    beside = {
        "description": "Ships it.",
        "cli": "demo",
        "budget": "$5",
        "max_agents": 2,
        "constraints": ["No globals."],
        "context_files": ["README.md"],
        "repos": [{"path": "api"}, {"path": "web"}],
        "approval": {"plan": "AboveCost", "above_usd": 5},
        "file_scope": "Warn",
        "protect_tests": True,
        "merge": "pr",
    }
    made = workflow(make=node(repo="web", effort="medium", title=" Make it ", files=["a.py"]))

    spec = spec_of(made | beside)

    assert errors(made | beside) == []
    assert (spec.budget, spec.max_agents, spec.merge) == ("5", 2, "pr")
    assert spec.workflow is not None
    (only,) = spec.workflow.nodes
    assert (only.repo, only.effort, only.title, only.files) == (
        "web",
        "normal",
        "Make it",
        ("a.py",),
    )


def test_nodes_keep_the_order_of_the_file_and_a_workflow_its_digest() -> None:
    ab, ba = workflow(a=node(), b=node()), workflow(b=node(), a=node())
    short = workflow(a=node(), b=node(depends_on=["a"]))
    long = workflow(a=node(), b=node(depends_on=[{"source": " a "}], join="all"))

    assert [each.name for each in (spec_of(ba).workflow or fail()).nodes] == ["b", "a"]
    assert digest(ab) != digest(ba), "the first one that may run back does"
    assert digest(short) == digest(long)


def fail() -> Any:
    raise AssertionError("no workflow")


def digest(data: dict[str, Any]) -> str:
    return plan_file.content_digest(plan_file.plan_object(data)["spec"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (workflow() | {"stages": []}, f"nodes: {EITHER}"),
        (plan(phases=[]), f"phases: {EITHER}"),
        (
            plan(workflow={}),
            "workflow: write its 'phases' and 'nodes' at the top level, without 'workflow'",
        ),
        ({"phases": PHASES, "nodes": {"a": node()}}, "Missing required top-level field 'name'"),
        ({"name": "w", "nodes": {"a": node()}}, "Missing required top-level field 'phases'"),
        ({"name": "w", "phases": PHASES}, "Missing required top-level field 'nodes'"),
        (workflow() | {"phases": {}}, "'phases' must be an array"),
        (workflow() | {"phases": []}, "'phases' must contain at least one phase"),
        (workflow() | {"nodes": []}, "'nodes' must be a mapping"),
        (workflow() | {"nodes": {}}, "'nodes' must contain at least one node"),
        (
            workflow() | {"verison": "1"},
            "Unknown top-level field 'verison', did you mean 'version'?",
        ),
        (
            workflow() | {"version": 1.0},
            "version: expected type string, got number: write it in quotes",
        ),
        (workflow() | {"version": ""}, "version: must not be empty"),
        (workflow() | {"phases": [*PHASES, "x"]}, "phases[2]: phase must be a mapping"),
        (workflow() | {"phases": [*PHASES, {}]}, "phases[2]: missing required field 'name'"),
        (
            workflow() | {"phases": [PHASES[0] | {"allowed_role": []}]},
            "phases[0]: unknown field 'allowed_role', did you mean 'allowed_roles'?",
        ),
        (
            workflow() | {"phases": [PHASES[0] | {"allowed_roles": "qa"}]},
            "phases[0].allowed_roles: expected type array, got string",
        ),
        (
            workflow() | {"phases": [PHASES[0] | {"requires_approval": "yes"}]},
            "phases[0].requires_approval: expected type boolean, got string",
        ),
        (workflow(a="x"), "nodes.a: node must be a mapping"),
        (workflow(a=None), "nodes.a: node must be a mapping"),
        (workflow(a={"role": "qa"}), "nodes.a: missing required field 'phase'"),
        (workflow(a={"phase": "build"}), "nodes.a: missing required field 'role'"),
        (workflow(a=node(role=3)), "nodes.a.role: expected type string, got integer"),
        (
            workflow(a=node(role="Dev Sec")),
            f"nodes.a.role: invalid value 'Dev Sec', must be one of {ROLE_LIST}",
        ),
        (workflow(a=node(priority=9)), "nodes.a.priority: must be between 1 and 5, got 9"),
        (workflow(a=node(title="a\nb")), f"nodes.a.title: {LINE}"),
        (workflow(a=node(goal="x")), "nodes.a: unknown field 'goal'"),
        (
            workflow(a=node(dependson=[])),
            "nodes.a: unknown field 'dependson', did you mean 'depends_on'?",
        ),
        (
            workflow(a=node(completion_signals=[{"type": "path_exists"}])),
            "nodes.a.completion_signals[0]: missing required field 'path'",
        ),
        (
            workflow(a=node(join="some")),
            "nodes.a.join: invalid value 'some', must be one of [all, any]",
        ),
        (workflow(a=node(depends_on="b")), "nodes.a.depends_on: expected type array, got string"),
        (
            workflow(a=node(depends_on=[1])),
            "nodes.a.depends_on[0]: must be the name of a node, or a mapping with 'source' and "
            "'condition', got integer",
        ),
        (
            workflow(a=node(depends_on=[{"condition": "status == 'done'"}])),
            "nodes.a.depends_on[0]: missing required field 'source'",
        ),
        (
            workflow(a=node(), b=node(depends_on=[{"source": "a", "if": "x"}])),
            "nodes.b.depends_on[0]: unknown field 'if'",
        ),
        (
            workflow(a=node(), b=node(depends_on=[{"source": "a", "condition": True}])),
            "nodes.b.depends_on[0].condition: expected type string, got boolean",
        ),
        (
            workflow(a=node(), b=node(depends_on=[{"source": "a", "condition": " "}])),
            "nodes.b.depends_on[0].condition: must not be empty",
        ),
        (
            workflow(a=node(), b=node(depends_on=[{"source": "a", "condition": "x" * 301}])),
            "nodes.b.depends_on[0].condition: must have at most 300 characters",
        ),
        (
            workflow(a=node(depends_on=["Run Tests"])),
            f"nodes.a.depends_on[0]: {NAMED}, such as 'run-tests'",
        ),
        (workflow(a=node(retry=3)), "nodes.a.retry: expected type mapping, got integer"),
        (workflow(a=node(retry={"max_attempts": 0})), "nodes.a.retry.max_attempts: must be >= 1"),
        (workflow(a=node(retry={"max_attempts": 21})), "nodes.a.retry.max_attempts: must be <= 20"),
        (
            workflow(a=node(retry={"max_attemps": 2})),
            "nodes.a.retry: unknown field 'max_attemps', did you mean 'max_attempts'?",
        ),
        (
            workflow() | {"nodes": {"Run_Tests": node()}},
            f"nodes.Run_Tests: {NAMED}, such as 'run-tests'",
        ),
        (
            workflow() | {"nodes": {True: node()}},
            "nodes: the name of a node must be a string, got boolean: write it in quotes",
        ),
        (
            workflow() | {"nodes": {f"n{number}": node() for number in range(101)}},
            "nodes: must have at most 100 items",
        ),
        (workflow(a=node(title="b"), b=node()), "Duplicate task title: 'b'"),
        (
            workflow(a=node(repo="api")),
            "nodes.a.repo: unknown repository 'api': the plan lists none in 'repos'",
        ),
    ],
)
def test_one_problem_gives_one_message(data: dict[str, Any], message: str) -> None:
    assert errors(data) == [message]


def test_an_unknown_role_is_a_warning_without_a_cluster_and_an_error_in_one() -> None:
    data = workflow(a=node(role="gardener")) | {
        "phases": [{"name": "build", "allowed_roles": ["gardener", "painter"]}]
    }
    told = [
        f"phases[0].allowed_roles[0]: invalid value 'gardener', must be one of {ROLE_LIST}",
        f"phases[0].allowed_roles[1]: invalid value 'painter', must be one of {ROLE_LIST}",
        f"nodes.a.role: invalid value 'gardener', must be one of {ROLE_LIST}",
    ]

    assert errors(data) == []
    assert [each.message for each in validate_file(data).warnings] == told
    assert in_cluster(spec_of(data)) == told
    assert validate_plan(spec_of(data), None, {*ROLES, "gardener", "painter"}) == ()


def in_cluster(spec: PlanSpec) -> list[str]:
    return [each.message for each in validate_plan(spec, None, ROLES)]


def test_the_same_key_twice_is_told_with_its_line() -> None:
    text = CI_PIPELINE + "  deploy:\n    phase: merge\n    role: manager\n"

    with pytest.raises(plan_file.PlanSyntaxError, match="duplicate key 'deploy' \\(line 39, "):
        plan_file.parse(text)


def test_a_plan_with_both_is_refused_in_the_cluster_too() -> None:
    spec = spec_of(plan()).model_copy(update={"workflow": spec_of(workflow()).workflow})

    assert in_cluster(spec) == ["workflow: a plan has either 'stages' or 'workflow'"]


def test_the_place_of_a_node_is_short_whatever_its_name() -> None:
    nasty = "x.y[0]\x1b[2J" + "z" * 200

    (problem,) = validate_file(workflow() | {"nodes": {nasty: node()}}).errors

    assert len(problem.path) < 100


def test_all_problems_are_told_at_once_and_none_follows_from_another() -> None:
    data = workflow(
        a={"role": "qa"},
        b=node("chek", depends_on=["a", "c"]),
        c=node("check", "backend", depends_on=[{"source": "b", "condition": "status ="}]),
        d=node(retry={"until": "done()", "max_attempts": 0}, depends_on=["e"]),
    )

    assert errors(data) == [
        "nodes.a: missing required field 'phase'",
        "nodes.d.retry.max_attempts: must be >= 1",
        "nodes.b.phase: unknown phase 'chek', did you mean 'check'?",
        "nodes.c.role: 'backend' is not allowed in phase 'check', must be one of [qa, security]",
        "nodes.c.depends_on[0].condition: '=' compares nothing, write '==' (column 8)",
        "nodes.d.depends_on[0]: depends on unknown node 'e'",
        "nodes.d.retry.until: calls are not possible (column 1)",
        "Cycle detected: b -> c -> b",
    ]


def test_the_cluster_finds_what_spans_a_workflow_in_the_same_words() -> None:
    edge = {"source": "b", "condition": "status = 'done'"}
    data = workflow(a=node("build", depends_on=[edge]), b=node("chek", title="a", role="qa"))

    assert in_cluster(spec_of(data)) == errors(data)
    assert errors(data) == [
        "Duplicate task title: 'a'",
        "nodes.a.depends_on[0].condition: '=' compares nothing, write '==' (column 8)",
        "nodes.b.phase: unknown phase 'chek', did you mean 'check'?",
    ]


def test_what_only_a_project_knows_is_told_of_nodes_too() -> None:
    data = workflow(a=node(cli="claude", model="sonet"))

    told = [each.message for each in validate_plan(spec_of(data), PROJECT, ROLES)]

    assert [each.partition(", must be one of")[0] for each in told] == [
        "nodes.a.model: invalid value 'sonet'",
        "nodes.a.cli: invalid value 'claude'",
    ]
