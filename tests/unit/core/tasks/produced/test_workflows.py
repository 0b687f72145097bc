"""Plan files of agents that are workflows, or name roles of their namespace."""

from __future__ import annotations

import json

from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.states import TaskState
from bernstein.core.actions import CreatePlan
from bernstein.core.documents.canonical import canonical
from bernstein.core.roles.known import Roles
from tests.unit.core.tasks.produced.test_produced import LEFT, STEP, goal, problems, to_the_end

WORKFLOW = b"""\
name: Mend it
phases:
  - {name: work, allowed_roles: [backend, tester]}
  - {name: check}
nodes:
  zebra: {phase: work, role: tester}
  check: {phase: check, role: qa, depends_on: [zebra]}
  second:
    phase: work
    role: backend
    depends_on: [{source: check, condition: "status == 'failed'"}]
  first:
    phase: work
    role: backend
    depends_on: [{source: check, condition: "status == 'failed'"}]
"""
TESTER = Roles({"tester": AgentRoleSpec(prompt="You test.")})


def test_a_workflow_becomes_a_plan_whose_nodes_are_in_the_order_of_the_file() -> None:
    """Of several that could mend a node the first one does."""
    document = canonical(WORKFLOW)
    assert isinstance(document, bytes)

    (action,) = to_the_end(goal(), document, roles=TESTER).actions

    assert isinstance(action, CreatePlan)
    spec = action.plan["spec"]
    assert [node["name"] for node in spec["workflow"]["nodes"]] == [
        *("zebra", "check", "second", "first")
    ]
    assert spec["approval"]["plan"] == "Always"
    assert "stages" not in spec


def test_of_a_workflow_that_is_not_valid_all_problems_are_told_in_the_words_of_files() -> None:
    document = canonical(WORKFLOW.replace(b"[zebra]", b"[zeebra]"))
    assert isinstance(document, bytes)

    told = problems(document)

    place = "nodes.check.depends_on[0]: depends on unknown node 'zeebra', did you mean 'zebra'?"
    assert place in told
    assert "nodes.zebra.role: invalid value 'tester', must be one of [" in told
    assert "phases[0].allowed_roles[1]: invalid value 'tester'" in told


def test_roles_of_the_namespace_are_roles_of_its_steps() -> None:
    stages = [{"name": "build", "steps": [STEP | {"role": "tester"}]}]
    left = json.dumps(LEFT | {"stages": stages}).encode()

    known = to_the_end(goal(), left, roles=TESTER)

    assert known.status.state is TaskState.CLOSED
    assert "must be one of [" in problems(left)
