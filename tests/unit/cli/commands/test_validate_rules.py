"""`bernstein validate` refuses what the API server refuses by schemas and rules of the kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from tests.control_plane.api.rule_examples import PAIRS, STATIC, Rule, placed
from tests.control_plane.objects import valid

MADE_BY_PEOPLE = ("Project", "Plan", "Task")


def validated(
    runner: CliRunner, folder: Path, *objects: dict[str, Any]
) -> list[tuple[bool, list[dict[str, str]]]]:
    """Of each whether it is valid, and what is wrong with it."""
    for number, each in enumerate(objects):
        (folder / f"{number:03}.json").write_text(json.dumps(each))
    result = runner.invoke(app, ["validate", "--json", str(folder)])
    assert result.exit_code in (0, 2), result.output
    return [(f["valid"], f["errors"]) for f in json.loads(result.stdout)["files"]]


@pytest.mark.parametrize("rule", [r for r in STATIC if r.kind in MADE_BY_PEOPLE], ids=str)
def test_what_a_rule_refuses_is_refused(runner: CliRunner, tmp_path: Path, rule: Rule) -> None:
    pair = PAIRS[rule.message]
    objects = [placed(rule, "default", value) for value in (pair.good, *pair.bad)]

    good, *bad = validated(runner, tmp_path, *objects)

    assert good == (True, [])
    assert len(bad) == len(pair.bad)
    for (taken, errors), value in zip(bad, pair.bad, strict=True):
        assert not taken, value
        assert errors, value


def agent(name: str = "a", **fields: Any) -> dict[str, Any]:
    return {"name": name, "adapter": "demo", "image": "i", **fields}


def reaching(cidr: str) -> dict[str, Any]:
    return {"checks": [{"to": [{"ipBlock": {"cidr": cidr}}]}]}


@pytest.mark.parametrize(
    ("kind", "spec", "told"),
    [
        (
            "Project",
            {"agents": [agent(adapter="genric")]},
            "spec.agents[0].adapter: invalid value 'genric', must be one of ",
        ),
        ("Project", {"agents": [agent(adapter="genric")]}, "did you mean 'generic'?"),
        (
            "Project",
            {"agents": [agent(), agent("b"), agent()]},
            "spec.agents[2]: 'a' stands there twice",
        ),
        ("Project", {"protectedPaths": ["a", "a"]}, "spec.protectedPaths[1]: 'a' stands there twi"),
        (
            "Project",
            {"network": reaching("git.example.com")},
            "spec.network.checks[0].to[0].ipBlock.cidr: must be addresses such as 192.0.2.0/24",
        ),
        (
            "Project",
            {"gates": {"pipeline": [{"name": "lnt"}]}},
            "spec.gates.pipeline[0].command: a gate that is not built in needs a command, or "
            "plugin: Python, did you mean 'lint'?",
        ),
        ("Task", {"title": "a\nb"}, "spec.title: must be a single line"),
        ("Task", {"files": ["a\tb"]}, "spec.files[0]: must be a single line"),
        (
            "Task",
            {"dependsOn": [f"t{n}" for n in range(51)]},
            "spec.dependsOn: must have at most 50 items",
        ),
    ],
)
def test_what_only_the_schema_refuses_is_refused(
    runner: CliRunner, tmp_path: Path, kind: str, spec: dict[str, Any], told: str
) -> None:
    ((taken, errors),) = validated(runner, tmp_path, valid(kind, "default", **spec))

    assert not taken
    assert [told in error["message"] for error in errors] == [True]


def test_a_rule_is_told_with_its_place(runner: CliRunner, tmp_path: Path) -> None:
    path = tmp_path / "project.json"
    path.write_text(json.dumps(valid("Project", "default", defaultAgent="codex")))

    result = runner.invoke(app, ["validate", str(path)])

    assert result.exit_code == 2
    assert "    spec.defaultAgent: defaultAgent is not one of agents\n" in result.stderr


@pytest.mark.parametrize(
    ("made_from", "taken"), [("a" * 35, True), ("a" * 36, False), ("A", False)]
)
def test_a_name_that_the_api_server_makes_is_judged_with_what_it_adds(
    runner: CliRunner, tmp_path: Path, made_from: str, taken: bool
) -> None:
    task = {**valid("Task", ""), "metadata": {"generateName": made_from}}

    ((valid_, errors),) = validated(runner, tmp_path, task)

    assert valid_ is taken
    assert ["metadata.name has at most 40" in e["message"] for e in errors] == [True] * (not taken)


def test_rules_wait_until_the_fields_are_right(runner: CliRunner, tmp_path: Path) -> None:
    """An adapter that nobody knows takes no command, either: that would be no help."""
    project = valid("Project", "", agents=[agent(adapter="genric", command=["agent"])])

    ((_, errors),) = validated(runner, tmp_path, project)

    assert [error["path"] for error in errors] == ["spec.agents[0].adapter"]


def test_fields_are_called_what_they_are_called_in_objects(
    runner: CliRunner, tmp_path: Path
) -> None:
    """The same checks judge plan files, whose fields have other names."""
    signals: dict[str, Any] = {"completionSignals": [{"type": "llm_judge", "timeoutSeconds": 5}]}
    steps = [{"title": "a", **signals}, {"title": "a"}]
    policy = {"plan": "AboveCost"}
    stages = [{"name": "s", "steps": steps}]
    plan = valid("Plan", "", stages=stages, approval=policy)

    (_, errors), (_, of_task) = validated(runner, tmp_path, plan, valid("Task", "", **signals))

    told = [(error["path"], error["message"]) for error in (*errors, *of_task)]
    signal = "spec.stages[0].steps[0].completionSignals[0].timeoutSeconds"
    own = "spec.completionSignals[0].timeoutSeconds"
    assert told == [
        (signal, f"{signal}: llm_judge takes no 'timeoutSeconds'"),
        ("spec.approval.aboveUsd", "spec.approval: plan: AboveCost needs the field 'aboveUsd'"),
        ("spec.stages[0].steps[1]", "Duplicate task title: 'a'"),
        (own, f"{own}: llm_judge takes no 'timeoutSeconds'"),
    ]
