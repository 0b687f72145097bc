"""Phases that people let begin, and the pipeline of the documentation."""

from __future__ import annotations

from tests.unit.core.plans.workflows.stories.story import Story

PIPELINE = """
name: ci-pipeline
version: "1.0.0"
phases:
  - name: plan
    allowed_roles: [manager, architect]
  - name: implement
    requires_approval: true
  - name: verify
    allowed_roles: [qa, security]
  - name: merge
    allowed_roles: [manager]
nodes:
  decompose:
    phase: plan
    role: manager
  build-api:
    phase: implement
    role: backend
    depends_on: [decompose]
  run-tests:
    phase: verify
    role: qa
    depends_on: [build-api]
  fix-bugs:
    phase: implement
    role: backend
    depends_on:
      - source: run-tests
        condition: "status == 'failed'"
    retry:
      max_attempts: 3
      until: "status == 'done'"
  deploy:
    phase: merge
    role: manager
    depends_on:
      - source: run-tests
        condition: "status == 'done'"
"""

STORIES = (
    Story(
        "the pipeline, in which nothing fails",
        PIPELINE,
        order="decompose#1 build-api#1 run-tests#1 deploy#1",
        states={"fix-bugs": "Skipped"},
        asked=["implement"],
    ),
    Story(
        "the pipeline, whose tests are mended at the second fix: people are asked once",
        PIPELINE,
        ends={"run-tests": ["failed", "failed"]},
        order="decompose#1 build-api#1 run-tests#1 fix-bugs#1 run-tests#2 fix-bugs#2 run-tests#3 "
        "deploy#1",
        asked=["implement"],
    ),
    Story(
        "the pipeline, whose tests nothing mends",
        PIPELINE,
        ends={"run-tests": ["failed"] * 4},
        order="decompose#1 build-api#1 run-tests#1 fix-bugs#1 run-tests#2 fix-bugs#2 run-tests#3 "
        "fix-bugs#3 run-tests#4",
        states={"run-tests": "Failed", "deploy": "Skipped"},
        kind="Exhausted",
        nodes=["run-tests"],
        asked=["implement"],
    ),
    Story(
        "others go on while people are asked",
        """
        phases: [plan, {name: build, requires_approval: true}]
        nodes:
          a: {phase: build}
          b: {phase: plan}
          c: {phase: plan, depends_on: [b]}
          d: {phase: build, depends_on: [a]}
        """,
        order="b#1 c#1 a#1 d#1",
        asked=["build"],
    ),
    Story(
        "nobody is asked of a phase in which nothing begins",
        """
        phases: [plan, {name: build, requires_approval: true}]
        nodes:
          a: {phase: plan}
          b: {phase: build, depends_on: [{source: a, condition: "status == 'failed'"}]}
        """,
        order="a#1",
        states={"b": "Skipped"},
    ),
    Story(
        "each phase asks for itself",
        """
        phases: [{name: plan, requires_approval: true}, {name: build, requires_approval: true}]
        nodes:
          a: {phase: plan}
          b: {phase: build, depends_on: [a]}
          c: {phase: build, depends_on: [a]}
        """,
        order="a#1 b#1 c#1",
        asked=["plan", "build"],
    ),
    Story(
        "one that mends asks for its phase, when it is the first of it",
        """
        phases: [{name: mend, requires_approval: true}, check]
        nodes:
          test: {phase: check}
          fix:
            phase: mend
            depends_on: [{source: test, condition: "status == 'failed'"}]
            retry: {max_attempts: 2}
        """,
        ends={"test": ["failed", "failed"]},
        order="test#1 fix#1 test#2 fix#2 test#3",
        asked=["mend"],
    ),
)
