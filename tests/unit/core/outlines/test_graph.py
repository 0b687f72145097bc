"""What there is to draw of a plan."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec
from bernstein.core.drawing.model import Drawing, Edge
from bernstein.core.drawing.wiring import wired
from bernstein.core.outlines import outline as outlines
from bernstein.core.outlines.graph import TONES, drawn
from bernstein.core.outlines.record import graph_record
from bernstein.core.plans.estimate import minutes
from bernstein.core.serializers import STATUSES


def spec(*stages: dict[str, Any], **more: Any) -> PlanSpec:
    return PlanSpec.model_validate({"name": "p", "stages": stages} | more)


def stage(name: str, *times: int, **more: Any) -> dict[str, Any]:
    steps = [{"title": f"{name}{n}", "estimatedMinutes": time} for n, time in enumerate(times)]
    return {"name": name, "steps": steps} | more


def drawing(spec: PlanSpec) -> Drawing:
    return drawn(outlines.of_file(spec))


def test_stages_are_groups_and_what_they_depend_on_edges() -> None:
    found = drawing(spec(stage("a", 1, 2), stage("b", 3), stage("c", 4, dependsOn=["a", "b"])))

    assert [(g.title, g.members) for g in found.groups] == [
        ("a", ("step 1.1", "step 1.2")),
        ("b", ("step 2.1",)),
        ("c", ("step 3.1",)),
    ]
    assert found.edges == (
        Edge("stage 1", "stage 2"),
        Edge("stage 1", "stage 3"),
        Edge("stage 2", "stage 3"),
    )


def test_a_step_that_waits_for_a_repository_has_an_edge_from_all_of_that() -> None:
    held = spec(
        {"name": "serve", "steps": [{"title": "a"}, {"title": "b", "repo": "web"}], "repo": "api"},
        stage("other", 5, dependsOn=[]),
        {
            "name": "show",
            "dependsOn": [],
            "steps": [{"title": "c", "repo": "web", "dependsOnRepo": "api"}],
        },
        repos=[{"path": "api"}, {"path": "web"}],
    )

    found = drawing(held)

    assert found.groups[-1].members == ("step 1.1", "step 2.1")
    assert (found.groups[-1].title, found.groups[-1].framed) == ("the repository api", False)
    assert found.edges == (Edge("repository api", "step 3.1"),)
    assert found.critical == ("step 1.1", "step 3.1")


def test_the_minutes_of_the_critical_path_are_those_of_the_estimate() -> None:
    held = spec(
        stage("a", 10, 40, 20), stage("b", 5), stage("c", 90, dependsOn=[]), stage("d", 1, 2)
    )
    record = graph_record(outlines.of_file(held), drawing(held))

    by_id = {node["id"]: node["minutes"] for node in record["nodes"]}
    assert record["critical_path"] == ["step 3.1", "step 4.2"]
    assert sum(by_id[each] for each in record["critical_path"]) == minutes(held) == 92
    assert [n["id"] for n in record["nodes"] if n["is_critical"]] == record["critical_path"]


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.lists(st.integers(0, 7), max_size=4)),
        min_size=1,
        max_size=40,
    )
)
def test_steps_are_drawn_in_an_order_in_which_they_can_be_done(
    shapes: list[tuple[int, list[int]]],
) -> None:
    stages = [
        stage(
            f"s{number}", *range(1, size + 1), dependsOn=[f"s{n}" for n in {*before} if n < number]
        )
        for number, (size, before) in enumerate(shapes)
    ]
    held = spec(*stages)
    found = drawing(held)

    first: dict[str, set[str]] = {}
    for line in wired(found).lines:
        first.setdefault(line.target, set()).add(line.source)
    place = {each: at for at, each in enumerate(TopologicalSorter(first).static_order())}
    assert list(found.critical) == sorted(found.critical, key=lambda each: place.get(each, 0))
    times = {node.id: int(node.time.removesuffix(" min")) for node in found.nodes}
    assert sum(times[each] for each in found.critical) == minutes(held)


def test_every_status_of_a_task_has_its_tone() -> None:
    assert {*TONES} < {*STATUSES}
    assert {*STATUSES} - {*TONES} == {"planned", "open"}
