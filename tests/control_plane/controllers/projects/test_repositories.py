"""A Project with two repositories: each Job of a Plan or Task knows the one that it works in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.pod import PROBE
from bernstein.core import labels
from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, condition, stage
from tests.control_plane.objects import PLANS, TASKS, valid


def row(name: str) -> dict[str, Any]:
    account = {each: {"secretName": f"{name}-{each}"} for each in ("read", "work", "deliver")}
    return {"name": name, "url": f"https://git.example/{name}.git", "credentials": account}


def repositories(*names: str) -> list[dict[str, Any]]:
    first = valid("Project", "")["spec"]["repositories"][0]
    return [first, *map(row, names)]


async def jobs_of(world: World) -> dict[str, str]:
    return {name: json.dumps(job) for name, job in (await world.all(JOBS)).items()}


async def test_a_plan_works_in_the_repository_that_it_names_from_begin_to_end(
    world: World,
) -> None:
    await world.project(repositories=repositories("web", "docs"))
    await world.start()
    await world.plan("shop", [stage("build", "one")], repos=[{"path": "web", "branch": "main"}])

    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    assert plan["status"]["integration"]["repository"] == "web"
    assert plan["status"]["delivery"]["sha"] == world.kubelet.remote.refs[MAIN]
    (task,) = (await world.all(TASKS)).values()
    assert task["spec"]["repo"] == "web"
    told = await jobs_of(world)
    assert told
    first = repositories()[0]
    for name, text in told.items():
        assert "git.example/web.git" in text, name
        assert first["url"] not in text, name
        assert "docs-read" not in text, name
        assert f'"{labels.REPOSITORY}": "web"' in text, name


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            {"path": "wep"},
            "repos[0].path: the Project has no repository 'wep', did you mean 'web'?",
        ),
        ({"path": "https://elsewhere.example/web.git"}, "repos[0].path: the Project has no "),
        ({"path": "ext::sh%20-c%20id"}, "repos[0].path: the Project has no "),
        ({"path": "--upload-pack=id"}, "repos[0].path: the Project has no "),
        ({"path": "web", "branch": "-x"}, "no repository 'web' with the branch '-x'"),
    ],
)
async def test_a_repository_that_the_project_does_not_have_is_a_problem_of_the_plan(
    entry: dict[str, str], problem: str, world: World
) -> None:
    await world.project(repositories=repositories("web"))
    await world.start()
    await world.plan("shop", [stage("build", "one")], repos=[entry])

    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Invalid")

    said = condition(plan, "Validated")
    assert said["reason"] == "PlanInvalid"
    assert problem in said["message"]
    assert not await world.all(TASKS)
    jobs = await world.all(JOBS)
    assert all(job["metadata"]["labels"][labels.JOB] == PROBE for job in jobs.values())


async def test_a_task_waits_for_a_person_where_its_repository_is_none(world: World) -> None:
    await world.project(repositories=repositories("web"))
    await world.start()
    await world.task("one", repo="elsewhere")

    await world.stalled(TASKS, "one", "RepositoryNotFound")

    assert not await jobs_of(world)
