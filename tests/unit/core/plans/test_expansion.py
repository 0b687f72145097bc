"""A Plan's Tasks."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import Plan, PlanStatus, Step, parse
from bernstein.api.task import parse as parse_task
from bernstein.core.plans import expansion
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.rows import names_by_stage
from tests.unit.core.plans.plan_files import RATE_LIMIT


def plan_of(data: object, *, name: str | None = None) -> Plan:
    assert isinstance(data, dict)
    obj = plan_file.plan_object(data, name=name, namespace="team")
    obj["metadata"]["uid"] = "0b0c7c4e-0000-4000-8000-000000000000"
    return parse(obj)


def stage(name: str, *titles: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "steps": [{"title": title} for title in titles]} | fields


def expanded(*stages: dict[str, Any], **fields: Any) -> dict[str, dict[str, Any]]:
    plan = plan_of({"name": "p", "stages": list(stages)} | fields)
    return {task["metadata"]["name"]: task for task in expansion.expand(plan, "web")}


def test_every_step_becomes_a_task_that_waits_for_the_stages_before() -> None:
    plan = plan_of(plan_file.parse(RATE_LIMIT))

    tasks = expansion.expand(plan, "default")

    by_stage = names_by_stage(plan)
    assert [task["metadata"]["name"] for task in tasks] == [
        name for stage in ("design", "implement", "verify") for name in by_stage[stage]
    ]
    assert [task["spec"].get("dependsOnStages", []) for task in tasks] == [
        [],
        [],
        *[["design"]] * 3,
        *[["implement"]] * 2,
    ]


def test_a_stage_without_depends_on_waits_for_the_one_before_and_an_empty_one_for_none() -> None:
    tasks = expanded(stage("a", "x"), stage("b", "y"), stage("c", "z", depends_on=[]))

    assert tasks["p-b-y"]["spec"]["dependsOnStages"] == ["a"]
    assert "dependsOnStages" not in tasks["p-c-z"]["spec"]


def test_a_stage_may_wait_for_several() -> None:
    tasks = expanded(
        stage("a", "x"),
        stage("b", "y", depends_on=[]),
        stage("c", "z", depends_on=["b", "a", "b"]),
    )

    assert tasks["p-c-z"]["spec"]["dependsOnStages"] == ["b", "a"]


def test_a_task_is_owned_by_its_plan_and_labelled() -> None:
    metadata = expanded(stage("First stage", "x"))["p-first-stage-x"]["metadata"]

    assert metadata["namespace"] == "team"
    assert metadata["labels"] == {
        "app.kubernetes.io/managed-by": "bernstein",
        "bernstein.dev/plan": "p",
        "bernstein.dev/stage": "first-stage",
    }
    assert metadata["ownerReferences"] == [
        {
            "apiVersion": "bernstein.dev/v1alpha1",
            "kind": "Plan",
            "name": "p",
            "uid": "0b0c7c4e-0000-4000-8000-000000000000",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_a_task_carries_what_its_step_and_its_plan_say() -> None:
    step = {
        "title": "Build",
        "description": "All of it",
        "role": "qa",
        "priority": 1,
        "scope": "small",
        "complexity": "high",
        "model": "opus",
        "effort": "medium",
        "estimated_minutes": 7,
        "mode": "batch",
        "files": ["src/**"],
        "changes": "none",
        "completion_signals": [{"type": "path_exists", "path": "a"}],
    }
    plan = plan_of(
        {
            "name": "Make it fast",
            "constraints": ["No sleep"],
            "context_files": ["README.md"],
            "stages": [{"name": "s", "description": "Guards", "steps": [step]}],
        },
        name="p",
    )

    (task,) = expansion.expand(plan, "web")

    assert task["spec"] == {
        "title": "Build",
        "goal": "Make it fast",
        "projectRef": "web",
        "stage": "s",
        "stageDescription": "Guards",
        "description": "All of it",
        "role": "qa",
        "priority": 1,
        "scope": "small",
        "complexity": "high",
        "model": "opus",
        "effort": "normal",
        "estimatedMinutes": 7,
        "mode": "batch",
        "files": ["src/**"],
        "changes": "none",
        "completionSignals": [{"type": "path_exists", "path": "a"}],
        "constraints": ["No sleep"],
        "contextFiles": ["README.md"],
        "maxRetries": 3,
    }
    assert parse_task(task).spec.title == "Build"


def test_the_older_name_of_a_title_is_the_title_of_its_task() -> None:
    made = plan_of({"name": "p", "stages": [stage("s", "Do it")]})
    (only,) = made.spec.stages
    older = only.model_copy(update={"steps": (Step(goal="Build it"),)})
    plan = made.model_copy(update={"spec": made.spec.model_copy(update={"stages": (older,)})})

    (task,) = expansion.expand(plan, "web")

    assert task["spec"]["title"] == "Build it"


def test_a_steps_agent_is_chosen_before_the_plans() -> None:
    stages = {"name": "s", "steps": [{"title": "x", "cli": "demo"}, {"title": "y"}]}

    tasks = expanded(stages, cli="codex")

    assert tasks["p-s-x"]["spec"]["cli"] == "demo"
    assert tasks["p-s-y"]["spec"]["cli"] == "codex"


def test_expanding_again_gives_the_same_objects() -> None:
    plan = plan_of(plan_file.parse(RATE_LIMIT))

    assert expansion.expand(plan, "default") == expansion.expand(plan, "default")


def test_no_task_carries_the_label_that_argo_cd_tracks_by() -> None:
    tasks = expanded(stage("a", "x"))

    assert "app.kubernetes.io/instance" not in tasks["p-a-x"]["metadata"]["labels"]


def test_a_step_whose_task_is_there_keeps_its_name() -> None:
    plan = plan_of({"name": "web app", "stages": [stage("a", "x"), stage("b", "y")]})
    of_today = expansion.expand(plan, "web")
    older = of_today[0] | {"metadata": of_today[0]["metadata"] | {"name": "web-app-a-x"}}

    tasks = expansion.expand(plan, "web", [parse_task(older)])

    assert [task["metadata"]["name"] for task in of_today] == ["web-app--a-x", "web-app--b-y"]
    assert [task["metadata"]["name"] for task in tasks] == ["web-app-a-x", "web-app--b-y"]


def test_once_rows_say_which_steps_they_are_of_no_title_is_asked() -> None:
    plan = plan_of({"name": "p", "stages": [stage("a", "x"), stage("b", "y")]})
    rows = [
        {"name": name, "stage": where, "step": 0} for name, where in (("mine", "a"), ("own", "b"))
    ]
    mapped = plan.model_copy(update={"status": PlanStatus.model_validate({"tasks": rows})})
    other = parse_task(expansion.expand(plan, "web")[0])

    assert names_by_stage(mapped, [other]) == {"a": ("mine",), "b": ("own",)}
    assert expansion.expand(mapped, "web")[1]["metadata"]["name"] == "own"


def test_a_task_that_an_older_release_made_with_names_is_made() -> None:
    plan = plan_of({"name": "p", "stages": [stage("a", "x", "w"), stage("b", "y")]})
    *first, last = expansion.expand(plan, "web")
    spec = {key: value for key, value in last["spec"].items() if key != "dependsOnStages"}

    def is_made(*names: str) -> bool:
        older = parse_task(last | {"spec": spec | {"dependsOn": list(names)}})
        tasks = {task.metadata.name: task for task in (*map(parse_task, first), older)}
        return expansion.is_made(last, tasks, plan)

    assert is_made("p-a-x", "p-a-w")
    assert not is_made("p-a-x")
