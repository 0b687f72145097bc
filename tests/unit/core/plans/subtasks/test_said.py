"""What a step says of its subtasks is judged as what an agent leaves: in the same words, at the
place where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.core.documents import values
from bernstein.core.documents.values import Json, Problem
from bernstein.core.plans.estimate import critical_steps, estimate
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.fields import file_form
from bernstein.core.plans.file import content_digest, plan_object
from bernstein.core.plans.size import room_for_parts
from bernstein.core.plans.subtasks.rows import with_rows
from bernstein.core.plans.subtasks.written import parts, problems
from bernstein.core.plans.validation import validate_file, validate_plan
from bernstein.core.roles.known import BUILT_IN
from bernstein.core.tasks import declared
from tests.unit.core import objects
from tests.unit.core.plans.subtasks.test_rows import parent
from tests.unit.core.plans.subtasks.test_written import ENTRIES, FULL

PROJECT = objects.project().spec
PLACE = "stages[0].steps[0].subtasks"


def file(*entries: Any, **step: Any) -> dict[str, Any]:
    steps = [{"title": "Big", **step, "subtasks": [*entries]}]
    return {"name": "p", "stages": [{"name": "s", "steps": steps}]}


def wrong(data: dict[str, Any], **project: Any) -> list[str]:
    spec = objects.project(**project).spec if project else PROJECT
    return [error.located for error in validate_file(data, spec).errors]


def spec_of(data: dict[str, Any]) -> PlanSpec:
    return PlanSpec.model_validate(plan_object(data)["spec"])


ONE: dict[str, Any] = {"title": "One"}


@pytest.mark.parametrize("entries", [(ONE,), (FULL,), ({"goal": "g"}, {"title": "t"})])
def test_what_a_subtask_may_say_is_taken(entries: tuple[Any, ...]) -> None:
    data = file(*entries)

    assert wrong(data) == []
    assert validate_plan(spec_of(data), PROJECT, BUILT_IN) == ()


def test_the_document_and_the_step_say_the_same() -> None:
    (said,) = spec_of(file(FULL)).stages[0].steps[0].subtasks

    assert (said,) == parts({"subtasks": [FULL]}, objects.task().spec)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (file(), f"{PLACE}: must be a list of at least one subtask"),
        (file("x"), f"{PLACE}[0]: subtask must be a mapping"),
        (file({}), f"{PLACE}[0]: subtask must have a 'title' or 'goal' field"),
        (file({**ONE, "cli": "demo"}), f"{PLACE}[0].cli: a subtask does not say that"),
        (file({**ONE, "subtasks": [ONE]}), f"{PLACE}[0].subtasks: a subtask does not say that"),
        (file({**ONE, "role": "wizard"}), f"{PLACE}[0].role: invalid value 'wizard'"),
        (file({**ONE, "depends_on": ["x"]}), "subtasks wait for nothing: stages do that"),
        (file(ONE, ONE), "Duplicate task title: 'One'"),
        (file(ONE, changes="none"), "stages[0].steps[0].changes: what is split is expected"),
        (
            file({**ONE, "files": ["docs"]}, files=["src"]),
            f"{PLACE}[0].files[0]: 'docs' is none of the files of the task that is split",
        ),
        (
            file({**ONE, "completion_signals": [{"type": "path_exists"}]}),
            f"{PLACE}[0].completion_signals[0]: missing required field 'path'",
        ),
        (file(*({"title": f"t{n}"} for n in range(MOST_SUBTASKS + 1))), f"{PLACE}: at most 20"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(data: dict[str, Any], said: str) -> None:
    assert [each for each in wrong(data) if said in each]


def test_the_project_says_how_many_there_may_be_and_whether_any() -> None:
    two = file(ONE, {"title": "Two"})

    assert wrong(two, limits={"subtasks": {"count": 1}}) == [f"{PLACE}: at most 1, got 2"]
    assert wrong(two, limits={"subtasks": {"depth": 0}}) == [
        f"{PLACE}: the Project lets nothing be split"
    ]


def test_nothing_is_split_where_each_task_is_delivered_by_itself() -> None:
    project = objects.project(merge={"strategy": "direct", "per": "Task"}).spec

    (found,) = validate_plan(spec_of(file(ONE)), project, BUILT_IN)
    assert found.located.startswith(f"{PLACE}: nothing is split in a Plan")


@given(st.lists(ENTRIES, min_size=1, max_size=4), st.lists(st.sampled_from(["src", "a"])))
def test_it_is_judged_as_a_document_is(entries: list[Json], files: list[str]) -> None:
    read = values.parsed(json.dumps({"subtasks": entries}).encode())
    if isinstance(read, Problem):
        return
    assert isinstance(read, dict)
    listed = read["subtasks"]
    assert isinstance(listed, list)
    # What a person may write for longer is an agent's to ask for as long as the Task has itself.
    task = objects.task(files=files, title="Big", role="manager", scope="large").spec
    data = file(*listed, files=files)

    refused = bool(problems(read, task, PROJECT, MOST_SUBTASKS))

    assert bool(wrong(data)) == refused
    if not refused:
        spec = spec_of(data)
        assert spec.stages[0].steps[0].subtasks == parts(read, task)
        assert validate_plan(spec, PROJECT, BUILT_IN) == ()
        assert spec_of(file_form(spec)) == spec


def test_a_task_file_says_none() -> None:
    (found,) = declared.problems({"title": "x", "subtasks": [ONE]}).errors

    assert found.located.startswith("subtasks: only a step of a plan is split")


# --- what comes of it -----------------------------------------------------------------------------


def test_the_task_of_the_step_says_them_as_they_are() -> None:
    plan = objects.plan(stages=spec_of(file(ONE, FULL)).dump()["stages"])
    (made,) = expand(plan, "default")

    assert [each["title"] for each in made["spec"]["subtasks"]] == ["One", "The endpoint"]
    assert "priority" not in made["spec"]["subtasks"][0]


def test_a_plan_that_says_none_has_the_digest_that_it_had() -> None:
    step = {"title": "Big"}
    data = {"name": "p", "stages": [{"name": "s", "steps": [step]}]}

    assert "subtasks" not in PlanSpec.model_validate(data).dump()["stages"][0]["steps"][0]
    assert content_digest(data) == "458d907ee9c54bdfa30b8d5abb24435f"
    assert content_digest(plan_object(file(ONE))["spec"]) != content_digest(data)


def test_it_takes_as_long_as_the_longest_and_costs_what_all_do() -> None:
    three = [{"title": str(n), "estimated_minutes": n, "scope": "small"} for n in (5, 40, 10)]
    spec = spec_of(file(*three, estimated_minutes=1, scope="large"))
    alone = {"name": "p", "stages": [{"name": "s", "steps": three}]}

    found, each = estimate(spec), estimate(spec_of(alone))
    assert (found.minutes, found.cost_usd) == (40, each.cost_usd)
    assert critical_steps(spec) == ((0, 0),)


def test_what_agents_do_has_the_model_of_the_step_and_its_own_rest() -> None:
    said = file({**ONE, "scope": "small"}, model="opus", description="All", priority=1)
    (work,) = spec_of(said).assigned

    assert work.path == f"{PLACE}[0]"
    assert (work.given.model, work.given.scope, work.given.priority) == ("opus", "small", 1)
    assert work.given.description is None


# --- their rows -----------------------------------------------------------------------------------


def whole(steps: int, entries: int, **entry: Any) -> dict[str, Any]:
    listed = [{"title": f"t{n}", **entry} for n in range(entries)]
    each = [{"title": f"s{n}", "subtasks": listed} for n in range(steps)]
    stages = [
        {"name": f"n{n}", "steps": each[n : n + 50], "depends_on": []} for n in range(0, steps, 50)
    ]
    return {"name": "p", "stages": stages}


@pytest.mark.parametrize(("entries", "fits"), [(19, True), (20, False)])
def test_a_plan_has_so_many_steps_and_subtasks_together(entries: int, fits: bool) -> None:
    found = wrong(whole(100, entries))

    told = [each for each in found if "are 2100 Tasks, at most 2000 are possible" in each]
    assert len(told) == (0 if fits else 1)
    assert (found == []) == fits


def test_what_they_say_counts_for_the_size_of_the_plan() -> None:
    (found,) = wrong(whole(50, 5, description="x" * 5000))

    assert "with its status the plan takes" in found


def test_their_regular_expressions_count_as_those_of_steps() -> None:
    signal = {"type": "file_contains", "path": "a", "contains": "x" * 1000, "regex": True}
    found = wrong(file({**ONE, "completion_signals": [signal] * 9}))

    assert found == [
        f"{PLACE}[0].completion_signals: its regular expressions have 9000 characters, at most "
        "8192 are possible: shorten them, or make several steps"
    ]


def test_there_is_room_for_their_rows_that_nobody_else_takes() -> None:
    before = objects.plan()
    step = {"title": "Do work", "model": "sonnet", "subtasks": [ONE, {"title": "Two"}]}
    row = {"name": "work", "stage": "build", "step": 0}
    status = before.status.model_validate({**before.status.model_dump(), "tasks": [row]})
    plan = objects.plan(stages=[{"name": "build", "steps": [step]}], status=status)

    own = parent("a", "b", subtasks=step["subtasks"])
    found = with_rows(objects.plan_snapshot(plan, own), plan.status)

    assert [each.name for each in found.tasks] == ["work", "a", "b"]
    rest = room_for_parts(plan)
    assert room_for_parts(plan.model_copy(update={"status": found})) == rest
