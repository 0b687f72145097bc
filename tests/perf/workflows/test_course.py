"""What a step of the largest workflow costs: it runs in the operator's own loop.

Steps are counted in functions called; times are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import json
from itertools import pairwise
from time import process_time

import pytest

from bernstein.api.plans.workflow import MAX_EDGES, MAX_NODES, Workflow
from bernstein.core.documents.values import MOST_BYTES, Json, parsed
from bernstein.core.plans.workflows.course import Ending, advance, begun
from bernstein.core.plans.workflows.definition import Definition
from bernstein.core.plans.workflows.problems import problems
from tests.unit.core.plans.workflows.play import Play
from tests.unit.core.plans.workflows.stories.story import Outcome
from tests.unit.core.plans.workflows.test_any_expression import counting

MOST_CALLS = 60_000
"""Of functions in one step: some ten milliseconds on a machine of today."""
MOST_CALLS_OF_AN_EDGE = 150
"""To decide it, with a condition that asks for three values: all edges of a workflow, decided at
once, take some twenty milliseconds."""
CONDITION = "output.tests.failed == 0 and status == 'done' or output.list == [1, 2, 3]"


def largest(condition: str, nodes: int = MAX_NODES, edges: int = MAX_EDGES) -> Workflow:
    """Each node depends on as many of those before it as it may."""
    said = [
        {
            "name": f"n{place}",
            "phase": "work",
            "depends_on": [
                {"source": f"n{before}", "condition": condition}
                for before in range(max(0, place - edges), place)
            ],
        }
        for place in range(nodes)
    ]
    return Workflow.model_validate({"phases": [{"name": "work"}], "nodes": said})


def output() -> Json:
    value = {"tests": {"failed": 0}, "text": "x" * (MOST_BYTES - 10_000), "list": [0] * 1_900}
    document = parsed(json.dumps(value).encode())
    assert isinstance(document, dict)
    return document


def test_each_step_of_the_largest_workflow_takes_few_steps() -> None:
    left, calls, seconds = output(), [], []

    class Counting(Play):
        def step(self) -> None:
            start = process_time()
            with counting() as called:
                super().step()
            calls.append(called())
            seconds.append(process_time() - start)

    play = Counting(largest(CONDITION), lambda *_: Outcome(output=left))

    play.go()

    assert len(play.order) == MAX_NODES
    print(f"at most {max(calls)} calls, {max(seconds) * 1000:.1f} ms with the counting")
    assert max(calls) < MOST_CALLS


def test_all_that_is_skipped_at_once_takes_few_steps() -> None:
    definition = Definition(largest(CONDITION))
    first = advance(definition, begun(definition, ""), {}, lambda _: True)

    start = process_time()
    last = advance(definition, first, {"n0": Ending(1, "failed")}, lambda _: True)
    print(f"{(process_time() - start) * 1000:.1f} ms")
    with counting() as calls:
        again = advance(definition, first, {"n0": Ending(1, "failed")}, lambda _: True)
    with counting() as nothing:
        assert advance(definition, last, {"n0": Ending(1, "failed")}, lambda _: True) is last

    assert again == last
    assert {node.state for node in last.nodes[1:]} == {"Skipped"}
    decided = sum(len(node.edges) for node in last.nodes)
    assert decided == 1_790
    assert calls() / decided < MOST_CALLS_OF_AN_EDGE
    assert nothing() < MOST_CALLS / 4


def test_twice_as_many_nodes_take_twice_as_long() -> None:
    costs = []
    for nodes in (25, 50, 100):
        definition = Definition(largest(CONDITION, nodes, edges=10))
        first = advance(definition, begun(definition, ""), {}, lambda _: True)
        with counting() as calls:
            advance(definition, first, {"n0": Ending(1, "failed")}, lambda _: True)
        costs.append(calls())

    assert [after / before for before, after in pairwise(costs)] == pytest.approx([2, 2], abs=0.5)


def test_the_largest_workflow_is_judged_in_few_steps() -> None:
    said = largest(CONDITION)
    list(problems(said))  # conditions are read once

    start = process_time()
    with counting() as calls:
        assert list(problems(said)) == []

    print(f"{(process_time() - start) * 1000:.1f} ms with the counting")
    assert calls() < 4 * MOST_CALLS
