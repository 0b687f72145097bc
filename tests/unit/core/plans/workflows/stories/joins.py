"""What waits for what: all of it, any of it, and what is left out."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_ROUTE = """
nodes:
  look:
  small: {depends_on: [{source: look, condition: "result == 'small'"}]}
  large: {depends_on: [{source: look, condition: "result == 'large'"}]}
  finish: {depends_on: [small, large]}
"""

STORIES = (
    Story(
        "a single node",
        "nodes: {a: }",
        order="a#1",
    ),
    Story(
        "one after the other, though the file has them the other way round",
        "nodes: {c: {depends_on: [b]}, b: {depends_on: [a]}, a: }",
        order="a#1 b#1 c#1",
    ),
    Story(
        "what depends on nothing begins at once",
        "nodes: {a: , b: , c: {depends_on: [a, b]}}",
        order="a#1 b#1 c#1",
    ),
    Story(
        "a diamond",
        "nodes: {a: , b: {depends_on: [a]}, c: {depends_on: [a]}, d: {depends_on: [b, c]}}",
        order="a#1 b#1 c#1 d#1",
    ),
    Story(
        "phases are no barriers",
        """
        phases: [plan, build]
        nodes:
          think: {phase: plan}
          write: {phase: build}
          read: {phase: plan, depends_on: [think]}
          ship: {phase: build, depends_on: [write]}
        """,
        order="think#1 write#1 read#1 ship#1",
    ),
    Story(
        "all waits for the slowest",
        "nodes: {a: , b: , c: {depends_on: [a, b]}, d: {depends_on: [b]}}",
        slow=["a"],
        order="a#1 b#1 d#1 c#1",
    ),
    Story(
        "any begins with the first that holds, and runs once",
        "nodes: {a: , b: , c: {join: any, depends_on: [a, b]}}",
        slow=["b"],
        order="a#1 b#1 c#1",
    ),
    Story(
        "any waits on, where the first does not hold",
        """
        nodes:
          a:
          b:
          c: {join: any, depends_on: [{source: a, condition: "status == 'failed'"}, b]}
        """,
        slow=["b"],
        order="a#1 b#1 c#1",
    ),
    Story(
        "any of which none holds is skipped",
        """
        nodes:
          a:
          b:
          c:
            join: any
            depends_on: [{source: a, condition: "result"}, {source: b, condition: "output"}]
        """,
        order="a#1 b#1",
        states={"c": "Skipped"},
    ),
    Story(
        "one of two ways is taken, and what comes after both does not wait for the other",
        _ROUTE,
        ends={"look": [Outcome(result="small")]},
        order="look#1 small#1 finish#1",
        states={"large": "Skipped"},
    ),
    Story(
        "neither of two ways is taken: what comes after both is skipped, too",
        _ROUTE,
        ends={"look": [Outcome(result="huge")]},
        order="look#1",
        states={"small": "Skipped", "large": "Skipped", "finish": "Skipped"},
    ),
    Story(
        "who was skipped is waited for by one that asks how it ended",
        """
        nodes:
          look:
          some: {depends_on: [{source: look, condition: "result == 'some'"}]}
          none: {depends_on: [{source: some, condition: "status == 'skipped'"}]}
          more: {depends_on: [{source: some, condition: "status != 'skipped'"}]}
        """,
        order="look#1 none#1",
        states={"some": "Skipped", "more": "Skipped"},
    ),
    Story(
        "to be skipped goes on along the chain",
        """
        nodes:
          a:
          b: {depends_on: [{source: a, condition: "status == 'failed'"}]}
          c: {depends_on: [b]}
          d: {depends_on: [c]}
          e: {join: any, depends_on: [c, d]}
          f: {depends_on: [a, d]}
        """,
        order="a#1 f#1",
        states=dict.fromkeys("bcde", "Skipped"),
    ),
    Story(
        "a condition on who was skipped is not left out as no condition is",
        """
        nodes:
          a:
          b: {depends_on: [{source: a, condition: "false"}]}
          c: {depends_on: [a, {source: b, condition: "status == 'done'"}]}
        """,
        order="a#1",
        states={"b": "Skipped", "c": "Skipped"},
    ),
    Story(
        "what failed is not left out as what was skipped is",
        "nodes: {a: , b: , c: {depends_on: [a, b]}}",
        ends={"a": ["failed"]},
        order="a#1 b#1",
        states={"a": "Failed", "c": "Skipped"},
        kind="Failed",
        nodes=["a"],
    ),
    Story(
        "a node that is not to run is skipped only when all that it depends on has ended",
        """
        nodes:
          a:
          b:
          c: {depends_on: [{source: a, condition: "false"}, b]}
          d: {depends_on: [{source: c, condition: "status == 'skipped'"}]}
          e: {depends_on: [a]}
        """,
        slow=["b"],
        order="a#1 b#1 e#1 d#1",
        states={"c": "Skipped"},
    ),
)
