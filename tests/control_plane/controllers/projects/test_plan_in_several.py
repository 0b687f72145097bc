"""A Plan in two repositories: a ref, a landing and a verdict in each, and one end."""

from __future__ import annotations

import json
from typing import Any

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure
from bernstein.core import labels
from bernstein.kube.resource import JOBS, Object
from tests.control_plane.controllers.kubelet import ends, exited, succeed
from tests.control_plane.controllers.projects.test_repositories import repositories
from tests.control_plane.controllers.remote import MAIN, sha
from tests.control_plane.controllers.world import QUIET, World, condition, stage
from tests.control_plane.objects import PLANS, TASKS

PAGES = "refs/heads/pages"


async def begins(world: World) -> None:
    """A Plan whose first step works in the first repository and whose second in the other one."""
    world.kubelet.remote.refs[PAGES] = sha("first page")
    listed = repositories("web")
    listed[1]["branch"] = "pages"
    await world.project(gates=QUIET, repositories=listed)
    await world.start()
    build = stage("build", "one", "two")
    build["steps"][1]["repo"] = "site"
    first = listed[0]["name"]
    await world.plan("shop", [build], repos=[{"path": first}, {"path": "web", "name": "site"}])


def rows(plan: Object) -> list[Any]:
    return [row.get("delivery", {}).get("state") for row in plan["status"]["repositories"]]


async def test_each_repository_lands_its_own_and_its_pods_know_no_other(world: World) -> None:
    await begins(world)

    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    remote = world.kubelet.remote
    assert rows(plan) == ["Merged", "Merged"]
    shas = [row["delivery"]["sha"] for row in plan["status"]["repositories"]]
    assert shas == [remote.refs[MAIN], remote.refs[PAGES]]
    tasks = (await world.all(TASKS)).values()
    assert sorted(task["spec"]["repo"] for task in tasks) == ["app", "web"]
    for name, job in (await world.all(JOBS)).items():
        told, where = json.dumps(job), job["metadata"]["labels"].get(labels.REPOSITORY, "app")
        other = {"app": "git.example/web.git", "web": repositories()[0]["url"]}[where]
        assert other not in told, name


async def test_one_that_is_refused_is_named_and_merged_alone_once_it_is_asked_for(
    world: World,
) -> None:
    declined = dump(Failure("BranchProtected", "hook declined"))
    refused = ends("Failed", land=exited(1, declined))
    world.kubelet.on("shop-land-*w1", refused, succeed)
    await begins(world)

    plan = await world.stalled(PLANS, "shop", "BranchProtected")
    assert condition(plan, "Stalled")["message"].startswith("repository 'web': ")
    assert rows(plan)[0] == "Merged"
    before = world.kubelet.remote.refs[MAIN]

    asks = {"id": "r-1", "verb": "Remerge", "by": "kubernetes-admin", "reason": "it may be pushed"}
    await world.change(PLANS, "shop", requests=[asks])

    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    assert rows(plan) == ["Merged", "Merged"]
    assert world.kubelet.remote.refs[MAIN] == before
