"""What `bernstein validate` says of objects in which one value is any other."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.meta import API_VERSION
from bernstein.cli.objects import problems
from tests.unit.core import objects
from tests.unit.core.plans.test_any_file import OF_LIBRARY

WORKFLOW = {
    "name": "w",
    "budget": "5",
    "approval": {"plan": "AboveCost", "aboveUsd": "1"},
    "workflow": {
        "phases": [{"name": "p", "allowedRoles": ["qa"], "requiresApproval": True}],
        "nodes": [
            {"name": "a", "phase": "p", "role": "qa"},
            {
                "name": "b",
                "phase": "p",
                "role": "qa",
                "dependsOn": [{"source": "a", "condition": "status == 'done'"}],
                "retry": {"maxAttempts": 2},
                "files": ["src"],
                "completionSignals": [{"type": "path_exists", "path": "x"}],
                "priority": 1,
            },
        ],
    },
}
PLAN = 1
"""Its place among the objects."""
STAGES = {
    "name": "s",
    "stages": [
        {
            "name": "a",
            "steps": [
                {
                    "title": "t",
                    "files": ["src"],
                    "subtasks": [
                        {"title": "u", "role": "sre", "files": ["src/a"], "scope": "small"},
                        {"title": "v", "completionSignals": [{"type": "path_exists", "path": "x"}]},
                    ],
                }
            ],
        }
    ],
}
TASK = {"title": "t", "dependsOn": ["o"], "changes": "none", "produces": {"plan": {"budget": "1"}}}
ROLE = {"prompt": "You keep it up.", "model": "opus", "effort": "max", "maxTasksPerSession": 1}


def given_objects() -> list[dict[str, Any]]:
    specs = (("Plan", WORKFLOW), ("Task", TASK), ("AgentRole", ROLE), ("Plan", STAGES))
    project = objects.project().dump()["spec"]
    whole = (("Project", {**project, "gates": {"allowBypass": True}}), *specs)
    return [
        {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "x"}, "spec": spec}
        for kind, spec in whole
    ]


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, child in inner:
        yield (*path, key)
        yield from places(child, (*path, key))


PLACES = [
    (number, ("spec", *place))
    for number, each in enumerate(given_objects())
    for place in places(each["spec"])
]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def changed(number: int, place: tuple[str | int, ...], value: object) -> dict[str, Any]:
    made = copy.deepcopy(given_objects()[number])
    at: Any = made
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return made


@pytest.mark.parametrize("number", range(5))
def test_an_object_as_it_is_has_no_problems(number: int) -> None:
    assert problems(given_objects()[number]) == ()


@given(where=st.sampled_from(PLACES), value=values)
def test_no_problem_is_told_in_the_words_of_a_library(
    where: tuple[int, tuple[str | int, ...]], value: object
) -> None:
    messages = [each.message for each in problems(changed(*where, value))]

    assert all(messages)
    assert not any(words in message for words in OF_LIBRARY for message in messages)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (
            ("spec", "workflow", "nodes", 1, "dependsOn", 0),
            "a",
            "spec.workflow.nodes[1].dependsOn[0]: expected type mapping, such as {source: NAME}, "
            "got string",
        ),
        (
            ("spec", "workflow", "nodes", 1, "dependsOn", 0),
            {"condition": "status == 'done'"},
            "spec.workflow.nodes[1].dependsOn[0]: missing required field 'source'",
        ),
        (
            ("spec", "workflow", "nodes", 1, "retry"),
            2,
            "spec.workflow.nodes[1].retry: expected type mapping, got integer",
        ),
        (
            ("spec", "workflow", "nodes", 1, "priority"),
            9,
            "spec.workflow.nodes[1].priority: must be <= 5",
        ),
        (
            ("spec", "workflow", "nodes", 1, "join"),
            3,
            "spec.workflow.nodes[1].join: must be one of [all, any], got integer",
        ),
    ],
)
def test_what_was_got_and_what_is_possible_is_told(
    place: tuple[str | int, ...], value: object, told: str
) -> None:
    assert told in [each.message for each in problems(changed(PLAN, place, value))]
