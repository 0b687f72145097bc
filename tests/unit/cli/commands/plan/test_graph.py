"""`bernstein plan graph`: in each of its forms, of files and of the cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from bernstein.cli.main import app
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import splits
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import AT, plan, running_tasks
from tests.unit.kube.apiserver import ApiServer

TEXT = """\
rate-limit-api

  design
┃  Pick rate-limit algorithm (token bucket vs sliding window)  architect  30 min
   Document Redis key schema                                   docs       30 min

  implement, after design
┃  Add RateLimiter middleware                                  backend    30 min
   Wire middleware into FastAPI app                            backend    30 min
   Write rate-limiter unit tests                               qa         30 min

  verify, after implement
┃  Run full test suite                                         qa         30 min
   Update API reference                                        docs       30 min

3 stages, 7 steps, about 1 h 30 min, about $4.11 of a budget of $5.00
(critical path; tokens by scope and complexity, one attempt per step, list prices)
┃ critical path: design → implement → verify
"""
NAMES = {"n1": "D1", "n2": "D2", "n3": "I1", "n4": "I2", "n5": "I3", "n6": "V1", "n7": "V2"}
LINES = [f"D{d} --> I{i}" for d in (1, 2) for i in (1, 2, 3)]
LINES += [f"I{i} --> V{v}" for i in (1, 2, 3) for v in (1, 2)]


def test_the_documented_example_is_drawn_as_text(runner: CliRunner, good: str) -> None:
    answer = runner.invoke(app, ["plan", "graph", good])

    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, TEXT, "")


def test_the_documented_example_is_drawn_for_mermaid_line_by_line(
    runner: CliRunner, good: str
) -> None:
    answer = runner.invoke(app, ["plan", "graph", good, "--format", "mermaid"])

    rows = [row.split() for row in answer.stdout.splitlines()]
    arrows = [row for row in rows if row[1:2] in (["-->"], ["==>"])]
    drawn = [f"{NAMES[source]} --> {NAMES[target]}" for source, _, target in arrows]
    assert sorted(drawn) == sorted(LINES)


@pytest.mark.parametrize("form", ["text", "mermaid", "dot"])
def test_an_option_of_the_group_is_the_same(runner: CliRunner, good: str, form: str) -> None:
    said = ["--format", form]

    answers = {
        runner.invoke(app, ["plan", *words, *said]).stdout
        for words in (["graph", good], ["--graph", good], [f"--graph={good}"])
    }

    (told,) = answers
    assert told.startswith({"text": "rate-", "mermaid": "graph TD\n", "dot": "digraph "}[form])


def test_the_option_without_a_plan_is_answered_as_the_command_is(runner: CliRunner) -> None:
    answers = [runner.invoke(app, ["plan", word]) for word in ("graph", "--graph")]

    assert {a.exit_code for a in answers} == {2}
    assert answers[0].output == answers[1].output
    assert "Missing argument 'PLAN_OR_FILE'" in answers[0].output


def test_the_option_is_in_the_help_of_the_group(runner: CliRunner) -> None:
    helped = " ".join(runner.invoke(app, ["plan", "--help"]).stdout.split())

    assert "--graph PLAN_OR_FILE The same as `plan graph`." in helped


def test_another_format_is_answered_with_those_that_there_are(runner: CliRunner, good: str) -> None:
    answer = runner.invoke(app, ["plan", "graph", good, "--format", "svg"])

    assert answer.exit_code == 2
    assert "'svg' is not one of 'text', 'mermaid', 'dot'" in " ".join(answer.output.split())


def test_a_plan_that_viewers_of_mermaid_refuse_is_drawn_and_that_is_said(
    runner: CliRunner, tmp_path: Path
) -> None:
    stages = [
        {"name": f"s{s}", "steps": [{"title": f"{s}/{n}"} for n in range(45)]} for s in range(8)
    ]
    path = tmp_path / "large.yaml"
    path.write_text(yaml.safe_dump({"name": "large", "stages": stages}))

    large = runner.invoke(app, ["plan", "graph", str(path), "--format", "mermaid"])
    other = runner.invoke(app, ["plan", "graph", str(path), "--format", "dot"])

    assert (large.exit_code, other.exit_code, other.stderr) == (0, 0, "")
    assert large.stderr.startswith("! most viewers of Mermaid draw at most 500 lines")
    assert large.stdout.startswith("graph TD\n")


@pytest.fixture
def running(api: ApiServer) -> str:
    obj = plan(project="default").dump()
    name: str = obj["metadata"]["name"]
    api.put(PLANS, name, "team", **obj)
    for task in running_tasks():
        api.put(TASKS, task.metadata.name, "team", **task.dump())
    return name


async def test_of_a_plan_of_the_cluster_each_step_has_its_state(
    bernstein: Bernstein, running: str
) -> None:
    text = (await bernstein("plan", "graph", running)).out
    drawn = (await bernstein("plan", "--graph", running, "--format", "mermaid")).out

    assert "┃ ●  Add RateLimiter middleware " in text
    assert "  ✗  Write rate-limiter unit tests " in text
    assert "┃ ○  Run full test suite " in text
    assert "  ○  Update API reference " in text, "it has no Task yet"
    assert text.endswith("\n2 closed, 1 in progress, 1 done, 1 failed, 1 open\n")
    assert "backend · 30 min · in progress" in drawn
    assert "class n5 failed" in drawn


@pytest.fixture
def split(api: ApiServer) -> str:
    return splits.put(api)


async def test_subtasks_are_drawn_below_the_step_whose_task_was_split(
    bernstein: Bernstein, split: str
) -> None:
    text = (await bernstein("plan", "--graph", split)).out
    drawn = (await bernstein("plan", "graph", split, "--format", "mermaid")).out
    dotted = (await bernstein("plan", "graph", split, "--format", "dot")).out

    rows = [" ".join(row.split()) for row in text.splitlines()]
    first = rows.index("┃ ● Add RateLimiter middleware backend 30 min waiting for subtasks")
    assert rows[first + 1 : first + 5] == [
        f"● └ First part gnp.exe {AT}everyone qa 45 min waiting for subtasks",
        "● └ First of the first qa 30 min in progress",
        "✓ └ part-a-2 closed",
        "⊘ └ part-b cancelled",
    ]
    assert "n3 -.- n8" in drawn
    assert "n8 -.- n9" in drawn
    assert 'n11["part-b<br>cancelled"]' in drawn
    assert "n3 -> n8 [style=dotted, arrowhead=none];" in dotted


async def test_with_json_subtasks_stand_in_the_node_of_their_step(
    bernstein: Bernstein, split: str
) -> None:
    record = json.loads((await bernstein("--json", "plan", "graph", split)).out)

    assert [(p["id"], p["task"], p["status"]) for p in record["nodes"][2]["split_into"]] == [
        ("step 2.1.1", "part-a", "waiting_for_subtasks"),
        ("step 2.1.1.1", "part-a-1", "in_progress"),
        ("step 2.1.1.2", "part-a-2", "closed"),
        ("step 2.1.2", "part-b", "cancelled"),
    ]
    assert record["critical_path"] == ["step 1.1", "step 2.1", "step 3.1"]
    assert len(record["nodes"]) == 7


@pytest.mark.parametrize("form", ["mermaid", "dot"])
def test_the_estimate_stands_in_every_drawing(runner: CliRunner, good: str, form: str) -> None:
    told = runner.invoke(app, ["plan", "graph", good, "--format", form]).stdout

    assert "about 1 h 30 min, about" in told
    assert "(critical path" in told


async def test_with_json_it_is_what_scripts_read(bernstein: Bernstein, running: str) -> None:
    record = json.loads((await bernstein("--json", "plan", "graph", running)).out)

    assert record["critical_path"] == ["step 1.1", "step 2.1", "step 3.1"]
    assert record["edges"][0] == {
        "source": "stage 1",
        "target": "stage 2",
        "label": None,
        "is_loop": False,
    }
    assert record["groups"][0]["nodes"] == ["step 1.1", "step 1.2"]
    assert record["nodes"][2]["status"] == "in_progress"
    assert record["estimate"]["basis"].startswith("critical path; ")


def test_an_invalid_plan_is_refused(runner: CliRunner, broken: str) -> None:
    answer = runner.invoke(app, ["plan", "graph", broken])

    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "Cycle detected: a -> b -> a" in answer.stderr
