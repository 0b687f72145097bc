"""An agent that splits its Task gives no part of it more time than the Task has itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.project import Project
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.api.signals import LONGEST_ESTIMATE_MINUTES, LONGEST_TIMEOUT_SECONDS
from bernstein.api.task import Task
from bernstein.api.vocabulary import ROLES, SCOPES
from bernstein.checks.spec import SIGNAL_TIMEOUT
from bernstein.core.documents.values import Json
from bernstein.core.plans.subtasks.objects import objects_of
from bernstein.core.plans.subtasks.written import parts, problems
from bernstein.core.routing.limits import timeout_seconds
from tests.unit.core import objects
from tests.unit.core.plans.subtasks.test_said import ONE, file
from tests.unit.core.plans.subtasks.test_said import wrong as wrong_of_step

PROJECT = objects.project()
TESTS: dict[str, Any] = {"type": "test_passes", "command": "make test"}


def manager(**spec: Any) -> Task:
    return objects.task(role="manager", **spec)


def wrong(parent: Task, *listed: Json, project: Project = PROJECT) -> list[str]:
    found = problems({"subtasks": [*listed]}, parent.spec, project.spec, MOST_SUBTASKS)
    return [each.located for each in found]


def made_of(parent: Task, *listed: Json) -> list[Task]:
    """The Tasks into which it is split."""
    its = {f"t{n}": part for n, part in enumerate(parts({"subtasks": [*listed]}, parent.spec))}
    return [Task.model_validate(each) for each in objects_of(parent, objects.plan(), its)]


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (
            {"estimated_minutes": 10080, "role": "security", "scope": "large"},
            "subtasks[0].estimated_minutes: its session could take 40320 minutes, one of the task "
            "that is split 60 minutes: ask for less",
        ),
        (
            {"scope": "large"},
            "subtasks[0].scope: its session could take 180 minutes, one of the task that is split "
            "60 minutes: ask for less",
        ),
        (
            {"estimated_minutes": 31},
            "subtasks[0].estimated_minutes: its session could take 62 minutes, one of the task "
            "that is split 60 minutes: ask for less",
        ),
    ],
)
def test_what_asks_for_more_time_than_the_task_has_is_refused_with_both_figures(
    says: dict[str, Any], told: str
) -> None:
    assert wrong(manager(scope="small"), {"title": "One", **says}) == [told]


@pytest.mark.parametrize("says", [{"role": "security"}, {"estimated_minutes": 30}, {}])
def test_as_much_time_as_the_task_has_is_taken(says: dict[str, Any]) -> None:
    assert wrong(manager(scope="small"), {"title": "One", "scope": "small", **says}) == []


def test_the_estimate_of_the_task_gives_its_parts_time_as_well() -> None:
    part: Json = {"title": "One", "scope": "large"}

    assert wrong(manager(scope="small", estimatedMinutes=45), part) == []
    assert wrong(manager(scope="small", estimatedMinutes=44), part) != []


@pytest.mark.parametrize(
    ("own", "has"), [("small", "small"), ("medium", "medium"), ("large", "medium")]
)
def test_one_that_says_no_scope_has_none_that_is_larger_than_that_of_the_task(
    own: str, has: str
) -> None:
    parent = manager(scope=own)

    assert wrong(parent, {"title": "One"}) == []
    assert [task.spec.scope for task in made_of(parent, {"title": "One"})] == [has]


@pytest.mark.parametrize(
    ("own", "seconds", "is_taken"),
    [
        ([], SIGNAL_TIMEOUT, True),
        ([], SIGNAL_TIMEOUT + 1, False),
        ([{**TESTS, "timeout_seconds": 5}], SIGNAL_TIMEOUT, True),
        ([TESTS, {**TESTS, "timeout_seconds": 600}], 600, True),
        ([TESTS, {**TESTS, "timeout_seconds": 600}], 601, False),
    ],
)
def test_its_signals_take_no_longer_than_those_of_the_task_or_the_default(
    own: list[dict[str, Any]], seconds: int, is_taken: bool
) -> None:
    parent = manager(completion_signals=own)
    signals: list[Json] = [TESTS, {**TESTS, "timeout_seconds": seconds}]

    found = wrong(parent, {"title": "One", "completion_signals": signals})

    assert (found == []) is is_taken, found
    where = "subtasks[0].completion_signals[1].timeout_seconds: at most"
    assert all(each.startswith(where) for each in found)


def test_each_that_asks_for_too_much_is_told_at_once() -> None:
    slow: Json = {**TESTS, "timeout_seconds": 86400}

    found = wrong(
        manager(),
        {"title": "a", "estimated_minutes": 200},
        {"title": "b"},
        {"title": "c", "scope": "large", "role": "qa", "completion_signals": [slow]},
    )

    assert [each.partition(":")[0] for each in found] == [
        "subtasks[0].estimated_minutes",
        "subtasks[2].completion_signals[0].timeout_seconds",
    ]
    assert found[1].endswith("at most 2 minutes (120 s), got 86400 s")


def test_people_choose_for_themselves_how_long_the_parts_of_a_step_may_take() -> None:
    slow = {**TESTS, "timeout_seconds": 86400}
    part = {**ONE, "scope": "large", "estimated_minutes": 600, "completion_signals": [slow]}

    assert wrong_of_step(file(part, scope="small")) == []


MINUTES = st.none() | st.integers(1, 200) | st.integers(1, LONGEST_ESTIMATE_MINUTES)


@pytest.mark.parametrize(
    "also", [{"role": "nobody"}, {"priority": 9}, {"title": 5}, {"files": "src"}, {"what": "else"}]
)
def test_it_is_told_together_with_what_else_is_wrong(also: dict[str, Any]) -> None:
    said = {"title": "t", "scope": "large", **also}
    found = wrong(manager(scope="small"), {"title": "fine"}, said)

    (field,) = also
    assert any(field in each and "subtasks[1]" in each for each in found[:-1])
    assert found[-1].startswith("subtasks[1].scope: its session could take 180 minutes")


def test_a_scope_that_is_none_asks_for_no_time() -> None:
    found = wrong(manager(scope="small"), {"title": "t", "scope": "huge"}, "no mapping")

    assert not any("could take" in each for each in found)
    assert len(found) == 2


SECONDS = st.integers(10, 86400)
PROJECTS = st.fixed_dictionaries(dict.fromkeys(SCOPES, SECONDS)).map(
    lambda seconds: objects.project(limits={"timeoutSeconds": seconds})
)
PARENTS = st.builds(
    lambda scope, minutes: manager(scope=scope, estimatedMinutes=minutes),
    st.sampled_from(SCOPES),
    MINUTES,
)
SIGNALS = st.builds(
    lambda seconds: {**TESTS, "timeout_seconds": seconds},
    st.integers(1, 200) | st.integers(1, LONGEST_TIMEOUT_SECONDS),
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(ROLES),
        "scope": st.sampled_from(SCOPES),
        "estimated_minutes": MINUTES.filter(bool),
        "completion_signals": st.lists(SIGNALS, max_size=2),
    },
)


@given(PARENTS, PROJECTS | st.just(PROJECT), st.lists(PARTS, min_size=1, max_size=3))
def test_no_part_of_what_is_taken_has_more_time_than_the_task(
    parent: Task, project: Project, said: list[dict[str, Any]]
) -> None:
    listed = [{"title": f"t{n}", **part} for n, part in enumerate(said)]
    most = timeout_seconds(parent, project)

    made = made_of(parent, *listed)
    longer = any(timeout_seconds(task, project) > most for task in made)
    slower = any(
        (signal.timeout_seconds or 0) > SIGNAL_TIMEOUT
        for task in made
        for signal in task.spec.completion_signals
    )

    assert bool(wrong(parent, *listed, project=project)) == (longer or slower)
