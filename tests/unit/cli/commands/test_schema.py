"""`bernstein schema`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from typer.testing import CliRunner

from bernstein.api.meta import API_VERSION, MADE_BY_PEOPLE
from bernstein.cli.main import app
from bernstein.core.plans.validation.whole import Whole
from bernstein.crds import KINDS
from tests.unit.core.plans.validation.workflow_files import CI_PIPELINE

EXAMPLE = Path(__file__).parents[4] / "docs/examples/rate-limit-api"


def schema(runner: CliRunner, *of: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(runner.invoke(app, ["schema", *of]).stdout)
    Draft7Validator.check_schema(found)
    return found


@pytest.mark.parametrize(("of", "file"), [("plan-file", "plan.yaml"), ("plan", "plan-cr.yaml")])
def test_the_example_is_what_the_schema_says(runner: CliRunner, of: str, file: str) -> None:
    data = yaml.safe_load((EXAMPLE / file).read_text())
    validator = Draft7Validator(schema(runner, of))

    assert [*validator.iter_errors(data)] == []
    data["stagess"] = data.get("stages")
    (problem,) = validator.iter_errors(data)
    assert "stagess" in problem.message


def test_without_a_word_it_is_that_of_plan_files(runner: CliRunner) -> None:
    found = schema(runner)

    assert found == schema(runner, "plan-file")
    assert found["$schema"].endswith("draft-07/schema#")


def test_it_knows_the_fields_of_plan_files_that_validation_knows(runner: CliRunner) -> None:
    whole = Whole(roles=(), project=None, in_cluster=False)
    plan = schema(runner)
    stage, work = plan["properties"]["stages"]["items"], {"stages", "phases", "nodes", "version"}
    step = stage["properties"]["steps"]["items"]
    signal = step["properties"]["completion_signals"]["items"]
    phase = plan["properties"]["phases"]["items"]
    node = plan["properties"]["nodes"]["additionalProperties"]
    edge = node["properties"]["depends_on"]["items"]["anyOf"][1]

    assert set(plan["properties"]) == set(whole.table) | work
    assert set(stage["properties"]) == set(whole.stages.table)
    assert set(step["properties"]) == set(whole.stages.step_table)
    assert set(signal["properties"]) == {*whole.work.signal_table, "type"}
    assert set(phase["properties"]) == set(whole.nodes.phase_table)
    assert set(node["properties"]) == set(whole.nodes.table)
    assert set(edge["properties"]) == set(whole.nodes.edge_table)
    assert set(node["properties"]["retry"]["properties"]) == set(whole.nodes.retry_table)


def test_the_documented_workflow_is_what_the_schema_says(runner: CliRunner) -> None:
    validator = Draft7Validator(schema(runner))
    data = yaml.safe_load(CI_PIPELINE)

    assert [*validator.iter_errors(data)] == []
    data["nodes"]["deploy"]["effort"] = "medium"
    assert [*validator.iter_errors(data)] == []


@pytest.mark.parametrize(
    ("change", "validator"),
    [
        ({"stages": [{"name": "a", "steps": [{"title": "t"}]}]}, "oneOf"),
        ({"nodes": {"a": {"phase": "p"}}}, "required"),
        ({"nodes": {"A B": {"phase": "p", "role": "qa"}}}, "pattern"),
        ({"nodes": {"a": {"phase": "p", "role": "qa", "name": "a"}}}, "additionalProperties"),
        ({"nodes": {"a": {"phase": "p", "role": "qa", "depends_on": [1]}}}, "anyOf"),
        ({"nodes": {}}, "minProperties"),
    ],
)
def test_a_wrong_workflow_is_marked(
    runner: CliRunner, change: dict[str, Any], validator: str
) -> None:
    data = yaml.safe_load(CI_PIPELINE) | change

    assert [e.validator for e in Draft7Validator(schema(runner)).iter_errors(data)] == [validator]


@pytest.mark.parametrize("kind", MADE_BY_PEOPLE)
def test_a_schema_of_objects_has_nothing_of_kubernetes_in_it(runner: CliRunner, kind: str) -> None:
    found = schema(runner, kind.lower())

    assert found["properties"]["kind"] == {"const": kind}
    assert "x-kubernetes" not in json.dumps(found)


def test_of_every_kind_it_is_known_whether_people_write_it() -> None:
    """A new kind is in `MADE_BY_PEOPLE`, or here: the operator alone makes its objects."""
    assert {kind.name for kind in KINDS} - {*MADE_BY_PEOPLE} == {"AgentSession", "Approval"}


def test_a_role_of_ones_own_is_what_the_schema_says(runner: CliRunner) -> None:
    validator = Draft7Validator(schema(runner, "agentrole"))
    data = {"apiVersion": API_VERSION, "kind": "AgentRole", "metadata": {"name": "sre"}}

    assert validator.is_valid(data | {"spec": {"prompt": "x", "model": "opus"}})
    assert not validator.is_valid(data | {"spec": {"prompt": 1}})
    assert not validator.is_valid(data | {"spec": {"system_prompt": "x"}})


def test_a_word_that_is_no_kind_is_answered_with_those_that_are(runner: CliRunner) -> None:
    answer = runner.invoke(app, ["schema", "role"])

    assert answer.exit_code == 2
    assert "'plan-file', 'plan', 'task', 'project', 'agentrole'" in " ".join(answer.output.split())


def test_a_budget_may_be_written_in_every_way(runner: CliRunner) -> None:
    of_file = Draft7Validator(schema(runner)["properties"]["budget"])
    spec = schema(runner, "plan")["properties"]["spec"]
    of_object = Draft7Validator(spec["properties"]["budget"])

    assert all(of_file.is_valid(each) for each in (5, 5.5, "$5.50"))
    assert all(of_object.is_valid(each) for each in (5, "5.50", "$5.50"))
    assert not any(of_object.is_valid(each) for each in (5.5, "5 EUR", -1))


def test_a_plan_file_may_say_when_people_decide(runner: CliRunner) -> None:
    policy = Draft7Validator(schema(runner)["properties"]["approval"])

    assert policy.is_valid({"plan": "AboveCost", "above_usd": 5.5, "result": "HighRisk"})
    assert not any(map(policy.is_valid, ({"result": "always"}, {"aboveUsd": 5}, "review")))


def test_a_line_break_in_a_title_is_marked(runner: CliRunner) -> None:
    validator = Draft7Validator(schema(runner, "plan-file"))

    def problems(title: str) -> list[str]:
        plan = {"name": "x", "stages": [{"name": "a", "steps": [{"title": title}]}]}
        return [error.validator for error in validator.iter_errors(plan)]

    assert problems("Grüße 👩\u200d💻") == []
    assert problems("one\ntwo") == problems("one\u202etwo") == ["pattern"]
