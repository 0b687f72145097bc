"""Plans whose steps have roles of their namespace."""

from __future__ import annotations

from decimal import Decimal

from bernstein.api.roles.role import AgentRoleSpec
from bernstein.core import conditions
from bernstein.core.plans.estimate import estimate
from bernstein.core.plans.judgement import KnownProblems
from bernstein.core.roles.known import BUILT_IN, Roles
from tests.unit.core import objects
from tests.unit.core.objects import project
from tests.unit.core.plans.decisions import again, look

TESTER = Roles({"tester": AgentRoleSpec(prompt="You test.")})
STAGES = [{"name": "build", "steps": [{"title": "a", "role": "tester"}]}]


def test_a_plan_with_an_unknown_role_is_invalid_until_the_role_is_there() -> None:
    plan = objects.plan(stages=STAGES, begun=False)

    invalid = look(plan)
    assert invalid.status.phase == "Invalid"
    told = conditions.find(invalid.status.conditions, "Validated")
    assert told is not None
    assert "stages[0].steps[0].role: invalid value 'tester', must be one of [" in told.message

    valid = look(again(plan, invalid), roles=TESTER)
    assert conditions.is_true(valid.status.conditions, "Validated")
    assert valid.status.phase != "Invalid"


def test_a_plan_is_judged_anew_where_the_roles_are_others() -> None:
    known, spec = KnownProblems(), objects.plan(stages=STAGES).spec

    assert known.of(spec, project().spec, TESTER) == ""
    assert "invalid value 'tester'" in known.of(spec, project().spec, BUILT_IN)
    assert known.of(spec, project().spec, TESTER) == ""


def test_an_estimate_counts_with_the_model_of_the_role() -> None:
    spec = objects.plan(stages=STAGES).spec
    dear = Roles({"tester": AgentRoleSpec(prompt="You test.", model="opus")})

    usual, with_role = estimate(spec, None, TESTER), estimate(spec, None, dear)

    assert Decimal(with_role.cost_usd or 0) > Decimal(usual.cost_usd or 0) > 0


def test_nodes_and_phases_of_a_workflow_may_name_it_and_wait_for_it_as_steps_do() -> None:
    workflow = {
        "phases": [{"name": "check", "allowedRoles": ["tester"]}],
        "nodes": [{"name": "look", "phase": "check", "role": "tester"}],
    }
    plan = objects.plan(stages=(), workflow=workflow, begun=False)

    invalid = look(plan)
    told = conditions.find(invalid.status.conditions, "Validated")
    valid = look(again(plan, invalid), roles=TESTER)

    assert told is not None
    assert "nodes.look.role: invalid value 'tester'" in told.message
    assert "phases[0].allowed_roles[0]: invalid value 'tester'" in told.message
    assert conditions.is_true(valid.status.conditions, "Validated")
