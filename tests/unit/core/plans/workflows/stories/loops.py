"""Nodes that go back to an earlier phase, and mend what they go back from."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories.story import Outcome, Story

_FIX = """
phases: [work, check, ship]
nodes:
  build:
  test: {phase: check, depends_on: [build]}
  fix:
    depends_on: [{source: test, condition: "status == 'failed'"}]
    retry: {max_attempts: 3}
  ship: {phase: ship, depends_on: [test]}
  tell: {phase: ship, depends_on: [{source: test, condition: "status == 'failed'"}]}
  thank: {phase: ship, depends_on: [fix]}
"""
_TWO = """
phases: [work, check]
nodes:
  test: {phase: check}
  small-fix:
    depends_on: [{source: test, condition: "status == 'failed' and result != 'hard'"}]
    retry: {max_attempts: 2}
  large-fix:
    depends_on: [{source: test, condition: "status == 'failed'"}]
    retry: {max_attempts: 1}
  ship: {phase: check, depends_on: [test]}
"""
_HARD = Outcome("failed", "hard")
_REVIEW = """
phases: [work, check, ship]
nodes:
  write:
  review: {phase: check, depends_on: [write]}
  rewrite:
    depends_on: [{source: review, condition: "output.verdict == 'again'"}]
    retry: {max_attempts: 2, until: "output.verdict == 'good'"}
  publish: {phase: ship, depends_on: [{source: review, condition: "output.verdict == 'good'"}]}
  drop:
    phase: ship
    depends_on: [{source: review, condition: "status != 'skipped' and output.verdict != 'good'"}]
"""


def _verdict(verdict: str) -> Outcome:
    return Outcome(output={"verdict": verdict})


STORIES = (
    Story(
        "nothing is to be mended",
        _FIX,
        order="build#1 test#1 ship#1",
        states={"fix": "Skipped", "tell": "Skipped", "thank": "Skipped"},
    ),
    Story(
        "what fails is mended, and runs again",
        _FIX,
        ends={"test": ["failed"]},
        order="build#1 test#1 fix#1 test#2 ship#1 thank#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "mended by the last fix",
        _FIX,
        ends={"test": ["failed"] * 3},
        order="build#1 test#1 fix#1 test#2 fix#2 test#3 fix#3 test#4 ship#1 thank#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "three fixes that do not help are four runs that fail",
        _FIX,
        ends={"test": ["failed"] * 4},
        order="build#1 test#1 fix#1 test#2 fix#2 test#3 fix#3 test#4 tell#1 thank#1",
        states={"test": "Failed", "ship": "Skipped"},
        kind="Exhausted",
        nodes=["test"],
    ),
    Story(
        "a fix that fails is tried again before the tests are",
        _FIX,
        ends={"test": ["failed"], "fix": ["failed"]},
        order="build#1 test#1 fix#1 fix#2 test#2 ship#1 thank#1",
        states={"tell": "Skipped"},
    ),
    Story(
        "fixes that all fail: nothing runs again",
        _FIX,
        ends={"test": ["failed"], "fix": ["failed"] * 3},
        order="build#1 test#1 fix#1 fix#2 fix#3 tell#1",
        states={"test": "Failed", "fix": "Failed", "ship": "Skipped", "thank": "Skipped"},
        kind="Exhausted",
        nodes=["test"],
    ),
    Story(
        "a fix that a person cancels is the last one",
        _FIX,
        ends={"test": ["failed"], "fix": ["cancelled"]},
        order="build#1 test#1 fix#1 tell#1",
        states={"test": "Failed", "fix": "Cancelled", "ship": "Skipped", "thank": "Skipped"},
        kind="Exhausted",
        nodes=["test"],
    ),
    Story(
        "what a person cancels is not mended, where no condition asks for it",
        _FIX,
        ends={"test": ["cancelled"]},
        order="build#1 test#1",
        states={
            "test": "Cancelled",
            **dict.fromkeys(("fix", "ship", "tell", "thank"), "Skipped"),
        },
        kind="Failed",
        nodes=["test"],
    ),
    Story(
        "what comes before fails: the loop is skipped as a whole",
        _FIX,
        ends={"build": ["failed"]},
        order="build#1",
        states={
            "build": "Failed",
            **dict.fromkeys(("test", "fix", "ship", "tell", "thank"), "Skipped"),
        },
        kind="Failed",
        nodes=["build"],
    ),
    Story(
        "of two that mend the first in the file runs, as long as it has runs left",
        _TWO,
        ends={"test": ["failed"] * 3},
        order="test#1 small-fix#1 test#2 small-fix#2 test#3 large-fix#1 test#4 ship#1",
    ),
    Story(
        "of two that mend the one runs whose condition holds",
        _TWO,
        ends={"test": [_HARD]},
        order="test#1 large-fix#1 test#2 ship#1",
        states={"small-fix": "Skipped"},
    ),
    Story(
        "two that mend, and no run is left",
        _TWO,
        ends={"test": [_HARD, "failed", _HARD]},
        order="test#1 large-fix#1 test#2 small-fix#1 test#3",
        states={"test": "Failed", "ship": "Skipped"},
        kind="Exhausted",
        nodes=["test"],
    ),
    Story(
        "one that mends fails for good, and the other one does it",
        _TWO,
        ends={"test": ["failed"], "small-fix": ["failed", "failed"]},
        order="test#1 small-fix#1 small-fix#2 large-fix#1 test#2 ship#1",
        states={"small-fix": "Failed"},
    ),
    Story(
        "a loop may go on after a run that is done",
        _REVIEW,
        ends={"review": [_verdict("again"), _verdict("again"), _verdict("good")]},
        order="write#1 review#1 rewrite#1 review#2 rewrite#2 review#3 publish#1",
        states={"drop": "Skipped"},
    ),
    Story(
        "a loop is over when nobody has anything to mend, and that is no failure",
        _REVIEW,
        ends={"review": [_verdict("again"), _verdict("hopeless")]},
        order="write#1 review#1 rewrite#1 review#2 drop#1",
        states={"publish": "Skipped"},
    ),
    Story(
        "a loop without a run left: its last values decide",
        _REVIEW,
        ends={"review": [_verdict("again")] * 3},
        order="write#1 review#1 rewrite#1 review#2 rewrite#2 review#3 drop#1",
        states={"review": "Failed", "publish": "Skipped"},
        kind="Exhausted",
        nodes=["review"],
    ),
    Story(
        "one that mends waits for what else it depends on",
        """
        phases: [work, check]
        nodes:
          tools: {phase: work}
          test: {phase: check}
          fix: {depends_on: [tools, {source: test, condition: "status == 'failed'"}]}
          ship: {phase: check, depends_on: [test]}
        """,
        ends={"test": ["failed"]},
        slow=["tools"],
        order="tools#1 test#1 fix#1 test#2 ship#1",
    ),
    Story(
        "one that mends cannot run for what else it depends on: what failed has failed",
        """
        phases: [work, check]
        nodes:
          tools: {phase: work}
          test: {phase: check}
          fix: {depends_on: [tools, {source: test, condition: "status == 'failed'"}]}
          ship: {phase: check, depends_on: [test]}
        """,
        ends={"test": ["failed"], "tools": ["failed"]},
        slow=["tools"],
        order="tools#1 test#1",
        states={"tools": "Failed", "test": "Failed", "fix": "Skipped", "ship": "Skipped"},
        kind="Failed",
        nodes=["tools", "test"],
    ),
    Story(
        "two loops side by side",
        """
        phases: [work, check]
        nodes:
          test: {phase: check}
          lint: {phase: check}
          fix: {depends_on: [{source: test, condition: "status == 'failed'"}]}
          format: {depends_on: [{source: lint, condition: "status == 'failed'"}]}
          ship: {phase: check, depends_on: [test, lint]}
        """,
        ends={"test": ["failed"], "lint": ["failed"]},
        order="test#1 lint#1 fix#1 format#1 test#2 lint#2 ship#1",
    ),
    Story(
        "a loop after a loop",
        """
        phases: [work, check]
        nodes:
          test: {phase: check}
          fix: {depends_on: [{source: test, condition: "status == 'failed'"}]}
          bench: {phase: check, depends_on: [test]}
          tune: {depends_on: [{source: bench, condition: "status == 'failed'"}]}
        """,
        ends={"test": ["failed"], "bench": ["failed"]},
        order="test#1 fix#1 test#2 bench#1 tune#1 bench#2",
    ),
    Story(
        "what one that mends has left decides, though its loop is over later",
        """
        phases: [work, check]
        nodes:
          test: {phase: check}
          fix: {depends_on: [{source: test, condition: "status == 'failed'"}]}
          note: {phase: check, depends_on: [{source: fix, condition: "output.note"}]}
        """,
        ends={"test": ["failed"], "fix": [Outcome(output={"note": "mind the gap"})]},
        order="test#1 fix#1 test#2 note#1",
    ),
)
