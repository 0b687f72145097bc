"""What is wrong with a workflow's graph: all of it at once, each with its place."""

from __future__ import annotations

import pytest
from hypothesis import given

from bernstein.api.plans.workflow import Workflow
from bernstein.core.plans.workflows.problems import problems
from tests.unit.core.plans.workflows.generated import any_workflow
from tests.unit.core.plans.workflows.stories.story import workflow

LOOP = """
phases: [work, check, ship]
nodes:
  build:
  test: {phase: check, depends_on: [build]}
  fix: {depends_on: [{source: test, condition: "status == 'failed'"}]}
"""


def found(said: str) -> dict[str, str]:
    every = list(problems(workflow(said)))
    assert len(dict(every)) == len(every)
    return dict(every)


def looping(more: str) -> dict[str, str]:
    return found(LOOP + more)


def test_there_may_be_none() -> None:
    assert found(LOOP) == {}


def test_every_problem_is_told_at_once() -> None:
    said = """
    phases: [plan, {name: build, allowed_roles: [backend, qa]}, plan]
    nodes:
      a: {phase: plna, depends_on: [{source: a, condition: "stats"}]}
      b: {phase: build, role: docs, depends_on: [c, aa, c]}
      c: {phase: build, depends_on: [b], retry: {until: "result ="}}
      d: {phase: plan, depends_on: [c, {source: zebra, condition: "1 +"}]}
      e: {phase: review, depends_on: [{source: b, condition: "f()"}, b]}
    """

    assert found(said) == {
        "phases[2].name": "Duplicate phase name: 'plan'",
        "nodes.a.phase": "unknown phase 'plna', did you mean 'plan'?",
        "nodes.a.depends_on[0]": "a node cannot depend on itself, 'retry' has it run again",
        "nodes.a.depends_on[0].condition": "unknown name 'stats', did you mean 'status'? "
        "(column 1)",
        "nodes.b.role": "'docs' is not allowed in phase 'build', must be one of [backend, qa]",
        "nodes.b.depends_on[1]": "depends on unknown node 'aa'",
        "nodes.b.depends_on[2]": "depends on 'c' before, join the conditions with 'or'",
        "nodes.b.depends_on": "Cycle detected: b -> c -> b",
        "nodes.c.retry.until": "'=' compares nothing, write '==' (column 8)",
        "nodes.d.depends_on[0]": "'c' is in the later phase 'build': to go back from there needs "
        "a condition",
        "nodes.d.depends_on[1]": "depends on unknown node 'zebra'",
        "nodes.d.depends_on[1].condition": "arithmetic is not possible (column 3)",
        "nodes.e.phase": "unknown phase 'review'",
        "nodes.e.depends_on[0].condition": "calls are not possible (column 1)",
        "nodes.e.depends_on[1]": "depends on 'b' before, join the conditions with 'or'",
    }


def test_a_name_stands_once() -> None:
    twice = workflow("nodes: {a: , b: }")
    first, second = twice.nodes
    twice = twice.model_copy(update={"nodes": (first, second.model_copy(update={"name": "a"}))})

    assert list(problems(twice)) == [("nodes.a", "Duplicate node name: 'a'")]


@pytest.mark.parametrize(
    ("said", "path", "message"),
    [
        ("{a: {depends_on: [b]}, b: {depends_on: [a]}}", "nodes.a.depends_on", "a -> b -> a"),
        (
            "{a: , c: {depends_on: [b, a]}, b: {depends_on: [d]}, d: {depends_on: [c]}}",
            "nodes.c.depends_on",
            "c -> b -> d -> c",
        ),
        (
            "{a: {depends_on: [{source: b, condition: status != 'done'}]}, b: {depends_on: [a]}}",
            "nodes.a.depends_on",
            "a -> b -> a",
        ),
    ],
)
def test_what_waits_for_itself_is_refused(said: str, path: str, message: str) -> None:
    assert found(f"nodes: {said}") == {path: f"Cycle detected: {message}"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            "  more: {phase: work, depends_on: [test]}",
            {
                "nodes.more.depends_on[0]": "'test' is in the later phase 'check': to go back from "
                "there needs a condition"
            },
        ),
        (
            "  look: {phase: check}\n"
            "  both: {depends_on: [{source: test, condition: x}, {source: look, condition: y}]}",
            {
                "nodes.both.depends_on[0].condition": "unknown name 'x', known are status, result, "
                "output, true, false, null (column 1)",
                "nodes.both.depends_on[1].condition": "unknown name 'y', known are status, result, "
                "output, true, false, null (column 1)",
                "nodes.both.depends_on": "goes back from 'test' and 'look', and can mend only one "
                "of them",
            },
        ),
        (
            "  any: {join: any, depends_on: [build, {source: test, condition: 'true'}]}",
            {
                "nodes.any.join": "'any' is not possible for a node that goes back to mend "
                "another one"
            },
        ),
        (
            "  ship: {phase: ship, depends_on: [test]}\n"
            "  again: {phase: check, depends_on: [{source: ship, condition: 'true'}]}\n"
            "  once-more: {phase: work, depends_on: [{source: again, condition: 'true'}]}",
            {
                "nodes.once-more.depends_on": "goes back from 'again', which goes back itself: "
                "loops cannot lie in each other"
            },
        ),
        (
            "  look: {phase: check, retry: {}}\n"
            "  mend: {depends_on: [{source: look, condition: 'true'}]}",
            {
                "nodes.look.retry": "it runs again when 'mend' has mended it, and not by itself",
            },
        ),
        (
            "  look: {phase: check, depends_on: [mend]}\n"
            "  mend: {depends_on: [{source: look, condition: 'true'}]}",
            {
                "nodes.look.depends_on": "'mend' mends this node, which runs again after it by "
                "itself"
            },
        ),
        (
            "  patch: {depends_on: [fix, {source: test, condition: 'true'}]}",
            {
                "nodes.patch.depends_on": "'fix' mends 'test', too: neither waits for the other",
            },
        ),
        (
            "  ship: {phase: check, depends_on: [fix]}\n"
            "  patch: {depends_on: [{source: ship, condition: 'true'}]}",
            {},
        ),
        (
            "  ship: {phase: check, depends_on: [test]}\n"
            "  patch: {phase: work, depends_on: [other, {source: test, condition: 'true'}]}\n"
            "  other: {phase: work, depends_on: [more]}\n"
            "  more: {phase: work, depends_on: [{source: ship, condition: 'true'}]}",
            {
                "nodes.test.depends_on": "Cycle detected: test -> other -> ship -> test, where "
                "'patch' mends 'test' and 'more' mends 'ship'"
            },
        ),
    ],
    ids=[
        "without a condition",
        "from two nodes",
        "any",
        "in each other",
        "that runs again by itself",
        "what waits for its own loop",
        "two that mend, one after the other",
        "what waits for a loop may be mended itself",
        "a loop that waits for what waits for it",
    ],
)
def test_what_goes_back(more: str, expected: dict[str, str]) -> None:
    assert looping(more) == expected


def test_there_are_no_more_runs_than_a_plan_can_have_tasks() -> None:
    def said(retries: int) -> str:
        nodes = [f"  n{i}: {{retry: {{max_attempts: 20}}}}" for i in range(retries)]
        loop = "  fix: {depends_on: [{source: test, condition: 'true'}], retry: {max_attempts: 9}}"
        return "\n".join(
            ["phases: [work, check]", "nodes:", "  test: {phase: check}", loop, *nodes]
        )

    assert found(said(24)) == {}
    assert found(said(25)) == {
        "nodes": "can come to 519 runs, at most 500 are possible",
    }


@given(any_workflow())
def test_whatever_the_schema_takes_is_judged(said: Workflow) -> None:
    for path, message in problems(said):
        assert path
        assert message.isprintable()
