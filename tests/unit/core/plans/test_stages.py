"""Steps and stages that are told apart, and the order that dependencies give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.plans.validation import validate_file
from tests.unit.core.plans.plan_files import errors, plan, stage


def test_titles_are_unique_in_the_whole_plan() -> None:
    same = [{"title": "Same"}, {"goal": " Same "}]
    data = plan(stages=[{"name": "a", "steps": same}, {"name": "b", "steps": same}])

    (problem,) = validate_file(data).errors

    assert problem.message == "Duplicate task title: 'Same'"
    assert problem.located == "Duplicate task title: 'Same' (at stages[0].steps[1])"


def test_stage_names_are_unique() -> None:
    first, second = stage("a"), stage("a") | {"steps": [{"title": "Other"}]}

    assert errors(plan(stages=[first, second])) == ["Duplicate stage name: 'a'"]


def test_a_stage_depends_on_stages_that_exist() -> None:
    data = plan(stages=[stage("x", depends_on=["y"])])

    assert errors(data) == ["Stage 'x' depends on unknown stage 'y'"]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([stage("a", depends_on=["b"]), stage("b", depends_on=["a"])], "a -> b -> a"),
        ([stage("a", depends_on=["a"])], "a -> a"),
        ([stage("a", depends_on=["b"]), stage("b")], "a -> b -> a"),
        ([stage("a"), stage("b", depends_on=["c"]), stage("c")], "b -> c -> b"),
    ],
)
def test_a_cycle_is_named_and_the_implicit_dependency_counts(
    stages: list[dict[str, Any]], message: str
) -> None:
    assert errors(plan(stages=stages)) == [f"Cycle detected: {message}"]


def test_of_stages_that_hang_together_only_a_shortest_cycle_is_told() -> None:
    names = [f"s{n}" for n in range(40)]
    dense = [stage(n, depends_on=[other for other in names if other != n]) for n in names]

    assert errors(plan(stages=dense)) == ["Cycle detected: s0 -> s1 -> s0"]


def test_every_knot_of_stages_is_told_by_its_own_cycle() -> None:
    stages = [
        stage("a", depends_on=["b"]),
        stage("b", depends_on=["c"]),
        stage("c", depends_on=["a", "d"]),
        stage("d", depends_on=["c"]),
        stage("free", depends_on=["a"]),
        stage("x", depends_on=["y", "a"]),
        stage("y", depends_on=["x"]),
        stage("self", depends_on=["self"]),
    ]

    assert errors(plan(stages=stages)) == [
        "Cycle detected: c -> d -> c",
        "Cycle detected: x -> y -> x",
        "Cycle detected: self -> self",
    ]


def test_a_file_of_very_many_stages_in_a_circle_is_judged() -> None:
    stages = [stage(f"s{n}", depends_on=[f"s{(n + 1) % 3_000}"]) for n in range(3_000)]

    found = errors(plan(stages=stages))

    assert [message[:32] for message in found] == [
        "Cycle detected: s0 -> s1 -> s2 -",
        "stages: must have at most 40 ite",
    ]


def test_an_empty_depends_on_is_no_dependency() -> None:
    data = plan(stages=[stage("a", depends_on=["b"]), stage("b", depends_on=[])])

    assert errors(data) == []


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.sets(st.sampled_from("abcde")))))
def test_a_plan_has_a_cycle_error_exactly_when_its_stages_have_no_order(
    shape: list[tuple[str, set[str] | None]],
) -> None:
    names = list(dict(shape))
    stages = [
        stage(name, depends_on=None if upstream is None else sorted(upstream & set(names)))
        for name, upstream in dict(shape).items()
    ]

    found = [m for m in errors(plan(stages=stages)) if m.startswith("Cycle detected: ")]

    assert bool(found) is not _can_be_ordered(dict(shape), names)


def _can_be_ordered(shape: dict[str, set[str] | None], names: list[str]) -> bool:
    waiting = {
        name: ({names[index - 1]} if index else set()) if shape[name] is None else shape[name]
        for index, name in enumerate(names)
    }
    done: set[str] = set()
    while ready := [n for n, needs in waiting.items() if (needs or set()) & set(names) <= done]:
        done |= set(ready)
        waiting = {n: needs for n, needs in waiting.items() if n not in done}
    return not waiting
