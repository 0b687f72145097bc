"""What the edges of a node came to, in words."""

from __future__ import annotations

import pytest

from bernstein.api.plans.workflow import Decided, Edge, Node, NodeStatus
from bernstein.core.outlines.nodes import decisions


@pytest.mark.parametrize(
    ("state", "join", "told"),
    [
        ("Skipped", "all", "no"),
        ("Pending", "all", "no"),
        # It ran on a yes, and its source has run again since.
        ("Done", "all", "no more"),
        ("Failed", "all", "no more"),
        ("Running", "all", "no more"),
        # Another edge may have been the yes.
        ("Done", "any", "no"),
    ],
)
def test_a_condition_that_held_when_the_node_ran_holds_no_more(
    state: str, join: str, told: str
) -> None:
    edge = Edge(source="check", condition="status == 'failed'")
    node = Node.model_validate(
        {"name": "mend", "phase": "p", "role": "qa", "join": join, "dependsOn": [edge.dump()]}
    )
    found = Decided(source="check", satisfied=False, run=1, on='status = "done"')
    standing = NodeStatus.model_validate({"name": "mend", "state": state, "run": 1})
    standing = standing.model_copy(update={"edges": (found,)})

    assert decisions(node, standing) == (f'check: {told}, status = "done"',)
