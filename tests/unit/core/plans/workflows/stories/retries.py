"""Nodes that run again by themselves."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_TRY = """
nodes:
  try: {retry: {max_attempts: 3}}
  ship: {depends_on: [try]}
  tell: {depends_on: [{source: try, condition: "status == 'failed'"}]}
"""
_POLISH = """
nodes:
  polish: {retry: {max_attempts: 3, until: "output.score >= 8"}}
  ship: {depends_on: [polish]}
  tell:
    depends_on: [{source: polish, condition: "status == 'failed' and output.score > 5"}]
"""


def _score(score: float) -> Outcome:
    return Outcome(output={"score": score})


STORIES = (
    Story(
        "one that is done at once runs once",
        _TRY,
        order="try#1 ship#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "one that is done at its second run",
        _TRY,
        ends={"try": ["failed"]},
        order="try#1 try#2 ship#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "one that is done at its last run",
        _TRY,
        ends={"try": ["failed", "failed"]},
        order="try#1 try#2 try#3 ship#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "one that never is: its handler runs, and its loop has no run left",
        _TRY,
        ends={"try": ["failed"] * 3},
        order="try#1 try#2 try#3 tell#1",
        states={"try": "Failed", "ship": "Skipped"},
        kind="Exhausted",
        nodes=["try"],
    ),
    Story(
        "what a person has cancelled does not run again",
        _TRY,
        ends={"try": ["failed", "cancelled"]},
        order="try#1 try#2",
        states={"try": "Cancelled", "ship": "Skipped", "tell": "Skipped"},
        kind="Failed",
        nodes=["try"],
    ),
    Story(
        "until what its output says",
        _POLISH,
        ends={"polish": [_score(3), _score(7.5), _score(8)]},
        order="polish#1 polish#2 polish#3 ship#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "what was never good enough counts as failed, whatever it was, with what it said last",
        _POLISH,
        ends={"polish": [_score(1), _score(2), _score(6)]},
        order="polish#1 polish#2 polish#3 tell#1",
        states={"polish": "Failed", "ship": "Skipped"},
        kind="Exhausted",
        nodes=["polish"],
    ),
    Story(
        "until it fails: that is its end, and a failure",
        """nodes: {a: {retry: {max_attempts: 5, until: "status == 'failed'"}}}""",
        ends={"a": ["done", "done", "failed"]},
        order="a#1 a#2 a#3",
        states={"a": "Failed"},
        kind="Failed",
        nodes=["a"],
    ),
    Story(
        "one attempt is one",
        "nodes: {a: {retry: {max_attempts: 1}}}",
        ends={"a": ["failed"]},
        order="a#1",
        states={"a": "Failed"},
        kind="Exhausted",
        nodes=["a"],
    ),
    Story(
        "others go on between its runs",
        "nodes: {a: {retry: {}}, b: , c: {depends_on: [b]}, d: {depends_on: [a, c]}}",
        ends={"a": ["failed"]},
        order="a#1 b#1 a#2 c#1 d#1",
    ),
)
