"""Plans that no cluster can hold are refused before anything is made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanSpec
from bernstein.core.plans import size
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.validation import validate_file
from tests.unit.core import objects
from tests.unit.core.plans.plan_files import spec_of

EMOJI = "\N{VIOLIN}"


def plan(stages: int, steps: int, **more: Any) -> dict[str, Any]:
    """A plan file; fields that begin with `stage_` or `step_` go there."""

    def fields(prefix: str) -> dict[str, Any]:
        return {k.removeprefix(prefix): v for k, v in more.items() if k.startswith(prefix)}

    made: list[dict[str, Any]] = [
        {
            "name": f"{fields('stage_').get('name', 'stage')} {n}",
            "depends_on": [] if not more.get("edges") else None,
            "steps": [{"title": f"{n}.{m}", **fields("step_")} for m in range(steps)],
        }
        for n in range(stages)
    ]
    for number, stage in enumerate(made):
        if stage["depends_on"] is None:
            stage["depends_on"] = [other["name"] for other in made[:number]]
    top = {k: v for k, v in more.items() if not k.startswith(("stage_", "step_")) and k != "edges"}
    return {"name": "large", "stages": made, **top}


def refusals(data: dict[str, Any]) -> list[str]:
    return [error.message for error in validate_file(data).errors]


def test_the_largest_plan_of_short_steps_is_taken() -> None:
    assert refusals(plan(40, 50)) == []
    assert refusals(plan(40, 50, edges=True)) == []


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (plan(40, 50, constraints=["x" * 1024] * 50), "Tasks take"),
        (plan(40, 27, stage_name=EMOJI * 290), "with its status the plan takes"),
        (plan(40, 50, step_description="x" * 400), "with its status the plan takes"),
    ],
)
def test_what_a_cluster_cannot_hold_is_refused_with_what_helps(
    data: dict[str, Any], says: str
) -> None:
    (message,) = refusals(data)

    assert message.startswith("stages: ")
    assert says in message
    assert message.endswith("make several plans of it")


def across(repositories: int, steps: int) -> dict[str, Any]:
    """A stage with so many steps in each of so many repositories."""
    data = plan(repositories, steps, repos=[{"path": f"repo{n}"} for n in range(repositories)])
    for number, stage in enumerate(data["stages"]):
        stage["repo"] = f"repo{number}"
    return data


def test_where_repositories_are_what_takes_the_room_that_is_told() -> None:
    (message,) = refusals(across(16, 1))

    assert "its 16 repositories take 1.7 MB of that" in message
    assert "shorten" not in message


def test_a_plan_may_work_in_ten_repositories_at_once() -> None:
    assert refusals(across(10, 20)) == []


@pytest.mark.parametrize(("signals", "refused"), [(200, False), (201, True)])
def test_as_many_different_signals_as_can_judge_a_plan_are_taken(
    signals: int, refused: bool
) -> None:
    data = plan(8, 30)
    steps = [step for stage in data["stages"] for step in stage["steps"]]
    for number, step in enumerate(steps):
        path = f"src/{number % signals}.py"
        step["completion_signals"] = [{"type": "path_exists", "path": path}]

    messages = refusals(data)

    if refused:
        assert "201 different completion signals, at most 200 are possible" in messages[0]
        assert "let steps share signals" in messages[0]
    else:
        assert messages == []


@pytest.mark.parametrize("number", [29, 30])
def test_patterns_have_so_many_characters_together_and_no_more_are_read(number: int) -> None:
    data = plan(1, number)
    for index, step in enumerate(data["stages"][0]["steps"]):
        pattern = f"{index:02}" + "x" * 1000 + "("
        step["completion_signals"] = [
            {"type": "file_contains", "path": "a", "contains": pattern, "regex": True}
        ]

    messages = refusals(data)

    broken = [message for message in messages if "invalid regular expression" in message]
    total = [m for m in messages if "regular expressions have 30090 characters, at most" in m]
    assert (len(broken), len(total)) == (29, number - 29)


@pytest.mark.parametrize(("characters", "refused"), [(8192, False), (8193, True)])
def test_a_step_has_as_many_characters_of_patterns_as_a_task_may(
    characters: int, refused: bool
) -> None:
    data = plan(1, 2)
    lengths = [1024] * (characters // 1024) + [characters % 1024] * bool(characters % 1024)
    data["stages"][0]["steps"][1]["completion_signals"] = [
        {"type": "file_contains", "path": "a", "contains": "x" * length, "regex": True}
        for length in lengths
    ]

    messages = refusals(data)

    place = "stages[0].steps[1].completion_signals: its regular expressions have 8193 characters"
    assert [message.startswith(place) for message in messages] == [True] * refused


@pytest.mark.parametrize(
    "data",
    [
        plan(10, 20, constraints=["x" * 300] * 3, step_files=["a.py", "b/*.py"]),
        plan(10, 20, edges=True, step_description=EMOJI * 100),
    ],
)
def test_the_size_of_tasks_is_known_before_they_are_made(data: dict[str, Any]) -> None:
    spec = spec_of(data)
    subject: Plan = objects.plan().model_copy(update={"spec": spec})

    texts = (json.dumps(task["spec"], ensure_ascii=False) for task in expand(subject, "p"))
    made = sum(len(text.encode()) for text in texts)

    assert 0.8 < size._of_tasks(spec) / made < 3, "names of Tasks may be shorter than it counts"


def test_a_plan_without_steps_of_its_own_size_is_no_problem() -> None:
    assert list(size.too_large(PlanSpec.model_validate(spec_of(plan(1, 1))))) == []
