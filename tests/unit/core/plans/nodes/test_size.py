"""A workflow takes as much as all of its runs do, and the values that its edges are decided on."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import size
from bernstein.core.plans.enforced import not_enforced
from bernstein.core.plans.estimate import estimate
from tests.unit.core import objects


def workflow(nodes: int, edges: int = 0, **more: Any) -> PlanSpec:
    """So many nodes, each of which depends on so many of those before it."""
    made = [
        {
            "name": f"n{number}",
            "phase": "work",
            "dependsOn": [{"source": f"n{number - 1 - m}"} for m in range(min(edges, number))],
            **more,
        }
        for number in range(nodes)
    ]
    return PlanSpec.model_validate(
        {"name": "w", "workflow": {"phases": [{"name": "work"}], "nodes": made}}
    )


def test_a_large_workflow_is_taken() -> None:
    assert list(size.too_large(workflow(100, 4))) == []


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(workflow(100, 20), id="what is told of edges"),
        pytest.param(workflow(100, description="\N{VIOLIN}" * 4000), id="what nodes say"),
        pytest.param(workflow(100, retry={"maxAttempts": 20}, description="x" * 4000), id="runs"),
    ],
)
def test_what_no_cluster_can_hold_is_refused_at_its_nodes(spec: PlanSpec) -> None:
    assert [path for path, _ in size.too_large(spec)] == ["nodes"]


def test_runs_count_each() -> None:
    once, often = workflow(50), workflow(50, retry={"maxAttempts": 10})
    assert size._of_tasks(often) > 9 * size._of_tasks(once)


def test_a_workflow_is_reckoned_with_each_node_once() -> None:
    chain = estimate(workflow(3, 1, estimatedMinutes=10), objects.project().spec)
    looped = workflow(3, 1, estimatedMinutes=10, retry={"maxAttempts": 5})

    assert chain.minutes == 30
    assert estimate(looped, objects.project().spec) == chain


def test_whoever_works_in_nodes_is_asked_for_what_he_tells() -> None:
    spec = workflow(1, cli="quiet").model_copy(update={"budget": "5"})
    agents = [
        {"name": "demo", "adapter": "demo", "image": "agent:1"},
        {"name": "quiet", "adapter": "generic", "image": "agent:1", "command": ["run"]},
    ]

    text = not_enforced(spec, objects.project(agents=agents).spec)

    assert text is not None
    assert "'quiet'" in text
