"""What people and scripts are told of a step that is split."""

from __future__ import annotations

from bernstein.api.plan import PlanSpec
from bernstein.core.outlines import outline as outlines
from bernstein.core.outlines.graph import drawn
from bernstein.core.outlines.markdown import markdown
from bernstein.core.outlines.record import graph_record, outline_record
from bernstein.core.outlines.words import summary

PARTS = [
    {"title": "The endpoint", "estimatedMinutes": 70},
    {"title": "Its page", "role": "docs", "priority": 4},
]
STEP = {"title": "Big", "model": "opus", "subtasks": PARTS}
SPEC = PlanSpec.model_validate({"name": "p", "stages": [{"name": "s", "steps": [STEP]}]})
OUTLINE = outlines.of_file(SPEC)


def test_people_see_each_with_its_role_and_time() -> None:
    (step,) = SPEC.stages[0].steps

    assert outlines.minutes(step) == "1 h 10 min for the longest subtask"
    assert outlines.split_into(step) == (
        "The endpoint (backend, 1 h 10 min)",
        "Its page (docs, 30 min assumed)",
    )
    told = markdown(OUTLINE)
    assert "Split into:\n\n- `The endpoint (backend, 1 h 10 min)`" in told
    assert summary(SPEC, OUTLINE.estimate).startswith("1 stage, 1 step, 2 subtasks, about 1 h 10")


def test_scripts_see_what_each_of_them_gets() -> None:
    (step,) = outline_record(OUTLINE)["stages"][0]["steps"]

    assert step["estimated_minutes"] == 70
    titles = [(part["title"], part["role"], part["model"]) for part in step["subtasks"]]
    assert titles == [("The endpoint", "backend", "opus"), ("Its page", "docs", "opus")]
    assert [part["priority"] for part in step["subtasks"]] == [2, 4]


def test_a_drawing_has_the_time_of_the_longest() -> None:
    drawing = drawn(OUTLINE)

    assert [node.time for node in drawing.nodes] == ["1 h 10 min"]
    assert [node["minutes"] for node in graph_record(OUTLINE, drawing)["nodes"]] == [70]
