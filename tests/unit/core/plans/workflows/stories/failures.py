"""What fails, is cancelled, and who takes it up."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_HANDLER = """
nodes:
  build:
  ship: {depends_on: [build]}
  tell: {depends_on: [{source: build, condition: "status == 'failed'"}]}
"""

STORIES = (
    Story(
        "a handler runs when its node has failed",
        _HANDLER,
        ends={"build": ["failed"]},
        order="build#1 tell#1",
        states={"build": "Failed", "ship": "Skipped"},
    ),
    Story(
        "the word of an agent whose work was rejected decides nothing by itself",
        """
        nodes:
          test:
          ship: {depends_on: [{source: test, condition: "output.passed"}]}
          tell: {depends_on: [{source: test, condition: "status == 'failed'"}]}
          note: {depends_on: [{source: test, condition: "result == null"}]}
        """,
        ends={"test": [Outcome("failed", output={"passed": True})]},
        order="test#1 tell#1",
        states={"test": "Failed", "ship": "Skipped", "note": "Skipped"},
    ),
    Story(
        "a handler is skipped when there is nothing to handle",
        _HANDLER,
        order="build#1 ship#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "who handles what failed does not handle what was cancelled",
        _HANDLER,
        ends={"build": ["cancelled"]},
        order="build#1",
        states={"build": "Cancelled", "ship": "Skipped", "tell": "Skipped"},
        kind="Failed",
        nodes=["build"],
    ),
    Story(
        "a handler of both handles what was cancelled",
        """
        nodes:
          build:
          tell: {depends_on: [{source: build, condition: "status in ('failed', 'cancelled')"}]}
        """,
        ends={"build": ["cancelled"]},
        order="build#1 tell#1",
        states={"build": "Cancelled"},
    ),
    Story(
        "what failed without a handler: all else runs, then it is told",
        "nodes: {a: , b: , c: {depends_on: [b]}, d: {depends_on: [a]}, e: {depends_on: [d]}}",
        ends={"a": ["failed"]},
        order="a#1 b#1 c#1",
        states={"a": "Failed", "d": "Skipped", "e": "Skipped"},
        kind="Failed",
        nodes=["a"],
    ),
    Story(
        "several fail: all are named",
        "nodes: {a: , b: , c: }",
        ends={"a": ["failed"], "c": ["cancelled"]},
        order="a#1 b#1 c#1",
        states={"a": "Failed", "c": "Cancelled"},
        kind="Failed",
        nodes=["a", "c"],
    ),
    Story(
        "a handler that fails itself has none",
        _HANDLER,
        ends={"build": ["failed"], "tell": ["failed"]},
        order="build#1 tell#1",
        states={"build": "Failed", "ship": "Skipped", "tell": "Failed"},
        kind="Failed",
        nodes=["tell"],
    ),
    Story(
        "one who runs whatever happens handles a failure",
        "nodes: {a: , b: {depends_on: [{source: a, condition: 'true'}]}}",
        ends={"a": ["failed"]},
        order="a#1 b#1",
        states={"a": "Failed"},
    ),
    Story(
        "who comes after a node and its handler runs in either case",
        """
        nodes:
          try:
          help: {depends_on: [{source: try, condition: "status == 'failed'"}]}
          go-on: {join: any, depends_on: [try, help]}
        """,
        ends={"try": ["failed"]},
        order="try#1 help#1 go-on#1",
        states={"try": "Failed"},
    ),
    Story(
        "a condition that held for one who was skipped for another reason has taken it up",
        """
        nodes:
          a:
          b:
          c:
            depends_on:
              - {source: a, condition: "status == 'failed'"}
              - {source: b, condition: "status == 'failed'"}
        """,
        ends={"a": ["failed"]},
        order="a#1 b#1",
        states={"a": "Failed", "c": "Skipped"},
    ),
    Story(
        "everything is skipped but what begins: it is whole",
        "nodes: {a: , b: {depends_on: [{source: a, condition: 'false'}]}, c: {depends_on: [b]}}",
        order="a#1",
        states={"b": "Skipped", "c": "Skipped"},
    ),
)
