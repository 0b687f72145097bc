"""What people and scripts are told of a workflow: drawings, records, Markdown."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec
from bernstein.api.plans.workflow import Node
from bernstein.core.drawing import dot, mermaid
from bernstein.core.drawing.model import Edge
from bernstein.core.outlines import nodes
from bernstein.core.outlines import outline as outlines
from bernstein.core.outlines.graph import drawn
from bernstein.core.outlines.markdown import markdown
from bernstein.core.outlines.record import graph_record, outline_record
from bernstein.core.outlines.words import summary
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.estimate import estimate
from tests.unit.cli import courses
from tests.unit.core.drawing.drawings import WORDS
from tests.unit.core.plans.validation.workflow_files import CI_PIPELINE, node, spec_of, workflow

LOOP = "until status == 'done' of run-tests, at most 3 runs"


def ci_pipeline() -> outlines.Outline:
    data = plan_file.parse(CI_PIPELINE)
    assert isinstance(data, dict)
    return outlines.of_file(spec_of(data))


def test_phases_are_groups_conditions_labels_and_a_loop_a_way_back() -> None:
    found = drawn(ci_pipeline())

    assert [(g.title, g.members) for g in found.groups] == [
        ("plan", ("decompose",)),
        ("implement", ("build-api", "fix-bugs")),
        ("verify", ("run-tests",)),
        ("merge", ("deploy",)),
    ]
    assert found.edges == (
        Edge("decompose", "build-api"),
        Edge("build-api", "run-tests"),
        Edge("run-tests", "fix-bugs", "status == 'failed'"),
        Edge("run-tests", "deploy", "status == 'done'"),
        Edge("fix-bugs", "run-tests", f"{LOOP} of fix-bugs", is_loop=True),
    )
    assert found.critical == ("decompose", "build-api", "run-tests", "deploy")


def test_the_version_of_its_definition_is_told_where_it_has_one() -> None:
    def told(**more: str) -> list[tuple[str, ...]]:
        found = outlines.of_file(spec_of(workflow() | more))
        return [fact.values for fact in found.facts if fact.label == "version"]

    assert told(version="2.1") == [("2.1",)]


def test_a_node_that_runs_again_by_itself_leads_to_itself() -> None:
    retry = {"max_attempts": 2, "until": "result == 'ok'"}

    found = drawn(outlines.of_file(spec_of(workflow(make=node(retry=retry)))))

    told = "until result == 'ok', at most 2 runs"
    assert found.edges == (Edge("make", "make", told, is_loop=True),)


def test_a_phase_without_nodes_is_not_drawn() -> None:
    found = drawn(outlines.of_file(spec_of(workflow())))

    assert [group.title for group in found.groups] == ["build"]


def test_the_minutes_are_those_of_the_longest_chain_with_each_node_once() -> None:
    held = spec_of(
        workflow(
            a=node(estimated_minutes=10),
            b=node(estimated_minutes=40),
            c=node(depends_on=["a", "b"], estimated_minutes=5, retry={"max_attempts": 9}),
        )
    )
    found = outlines.of_file(held)
    record = graph_record(found, drawn(found))

    assert record["critical_path"] == ["b", "c"]
    assert record["estimate"]["minutes"] == 45
    assert summary(held, estimate(held)).startswith("2 phases, 3 nodes, about 45 min, about $")
    assert "one run per node" in record["estimate"]["basis"]


def test_of_the_cluster_each_node_has_its_state_run_task_and_decisions() -> None:
    tasks = [courses.task("fix-bugs", state="InProgress")]
    held = outlines.of_plan(courses.mended(), tasks, None)

    record = outline_record(held)

    by_name = {each["name"]: each for each in record["workflow"]["nodes"]}
    assert record["stages"] == []
    assert [*by_name] == ["decompose", "build-api", "run-tests", "fix-bugs", "deploy"]
    fixing, deploying = by_name["fix-bugs"], by_name["deploy"]
    assert (fixing["state"], fixing["run"]) == ("running", 1)
    assert (fixing["task"], fixing["status"]) == ("ci-pipeline-fix-bugs-i1", "in_progress")
    assert fixing["retry"] == {"max_attempts": 3, "until": "status == 'done'"}
    assert fixing["depends_on"] == [
        {
            "source": "run-tests",
            "condition": "status == 'failed'",
            "satisfied": True,
            "run": 1,
            "values": 'status = "failed"',
        }
    ]
    assert deploying["depends_on"][0]["satisfied"] is None
    drawing = graph_record(held, drawn(held))
    assert [(n["id"], n["state"], n["run"]) for n in drawing["nodes"]][3] == (
        *("fix-bugs", "running", 1),
    )
    assert drawing["edges"][-1] == {
        "source": "fix-bugs",
        "target": "run-tests",
        "label": f"{LOOP} of fix-bugs",
        "is_loop": True,
    }


def test_every_field_of_a_node_is_in_the_record() -> None:
    (found,) = outline_record(outlines.of_file(spec_of(workflow())))["workflow"]["nodes"]

    assert set(Node.model_fields) <= found.keys()


def test_a_workflow_that_cannot_run_is_not_sound() -> None:
    circle = workflow(a=node(depends_on=["b"]), b=node(depends_on=["a"]))

    assert outlines.is_sound(spec_of(workflow()))
    assert not outlines.is_sound(spec_of(circle))


def test_any_of_several_is_said_and_of_one_it_means_nothing() -> None:
    both = node(depends_on=["a", {"source": "b", "condition": "status == 'failed'"}], join="any")
    held = spec_of(workflow(a=node(), b=node(), c=both, d=node(depends_on=["a"], join="any")))
    assert held.workflow is not None

    *_, c, d = held.workflow.nodes

    assert nodes.sources(c) == ("any of: a", "b if status == 'failed'")
    assert nodes.sources(d) == ("a",)


def test_markdown_tells_of_phases_and_nodes() -> None:
    told = markdown(ci_pipeline())

    assert "\n## 2. `implement`\n\nA person must let it begin.\n" in told
    assert "\nOnly `qa`, `security`.\n" in told
    assert f"| `run-tests if status == 'failed'` | `{LOOP}` |" in told
    assert "```mermaid\ngraph TD\n" in told


# --- whatever is in it ----------------------------------------------------------------------------

TEXTS = st.builds(lambda words: f"'{words}'", st.text(st.characters(codec="utf-8"), max_size=20))
CONDITIONS = st.builds("status == {}".format, TEXTS | st.sampled_from(["'|'", "'`'", "'<!--'"]))


@given(WORDS.filter(bool), WORDS.filter(bool), CONDITIONS)
def test_no_words_break_a_drawing_or_a_page(phase: str, title: str, condition: str) -> None:
    edge = {"source": "a", "condition": condition}
    held = PlanSpec.model_validate(
        {
            "name": "p",
            "workflow": {
                "phases": [{"name": phase}],
                "nodes": [
                    {"name": "a", "phase": phase, "title": title},
                    {
                        "name": "b",
                        "phase": phase,
                        "dependsOn": [edge],
                        "retry": {"until": condition},
                    },
                ],
            },
        }
    )
    found = outlines.of_file(held)
    drawing = drawn(found)

    rows: list[Any] = [*mermaid.rows(drawing)]
    arrows = [row for row in rows if re.match(r" +n\d+ (?:-->|==>|-\.->)", row)]
    assert len(arrows) == 2
    assert all(re.fullmatch(r' +n\d+ \S+?\|"[^"|]*"\| n\d+', row) for row in arrows), arrows
    assert sum("->" in row and row.startswith("    n") for row in dot.rows(drawing)) == 2
    page = markdown(found)
    tables = [row for row in page.splitlines() if row.startswith("| `")]
    assert len(tables) == 2
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in tables), tables
    json.dumps(outline_record(found))
