"""Argo CD syncs a Project and its Plans from git, shows how they are, and changes nothing twice."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Object
from tests.control_plane.controllers.kubelet import after, succeed, works
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, PROJECTS, TASKS, valid
from tests.platform.gitops.argocd import ArgoCD
from tests.platform.gitops.repository import Repository
from tests.platform.gitops.synced import Synced
from tests.platform.gitops.test_examples import EXAMPLES
from tests.unit.docs.pages import ROOT

OURS = (PROJECTS, PLANS, TASKS, AGENT_SESSIONS, JOBS, CONFIG_MAPS)


def project(**spec: object) -> Object:
    return in_git(valid("Project", "", "default", gates={"enabled": False}, **spec))


def plan(name: str, *steps: str, **spec: object) -> Object:
    return in_git(valid("Plan", "", name, name=name, stages=[stage("a", *steps)], **spec))


def in_git(obj: Object) -> Object:
    """Where it goes is Argo CD's business."""
    metadata = {k: v for k, v in obj["metadata"].items() if k != "namespace"}
    return {**obj, "metadata": metadata}


async def versions(world: World) -> dict[tuple[str, str], str]:
    return {
        (resource.kind, name): obj["metadata"]["resourceVersion"]
        for resource in OURS
        for name, obj in (await world.all(resource)).items()
    }


async def test_a_second_sync_changes_nothing_and_prunes_nothing_of_ours(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository
) -> None:
    may_end = asyncio.Event()
    world.kubelet.on("agent", after(may_end, succeed))
    await world.start()
    app = await Synced.made(admin, argocd, repository, world.namespace)
    revision = repository.commit(project=project(), web=plan("web", "one", "two"))

    first = await app.sync(revision)
    assert first["phase"] == "Succeeded", first
    await app.shows("web", "Progressing", "Running: ")
    may_end.set()
    await app.healthy("Healthy")
    await app.shows("web", "Healthy", "Delivered: verified and merged")

    await world.at_rest()
    before = await versions(world)
    second = await app.sync(revision)
    assert second["phase"] == "Succeeded", second
    done = {r["name"]: (r["status"], r["message"]) for r in second["syncResult"]["resources"]}
    assert done.keys() == {"default", "web"}
    assert all(status == "Synced" for status, _ in done.values())
    assert all(message.endswith("unchanged") for _, message in done.values()), done
    await app.in_sync()
    assert await versions(world) == before


async def test_health_is_what_is_true_of_each_plan(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository
) -> None:
    world.kubelet.on("agent", works(outcome="AgentFailed", message="I gave up"))
    await world.start()
    app = await Synced.made(admin, argocd, repository, world.namespace)
    revision = repository.commit(
        project=project(),
        fails=plan("fails", "one"),
        rests=plan("rests", "one", suspend=True),
        asks=plan("asks", "one", approval={"plan": "Always"}),
        nothing=plan("nothing", "one", projectRef="another"),
    )

    assert (await app.sync(revision))["phase"] == "Succeeded"

    await app.shows("rests", "Suspended", "Suspended: ")
    await app.shows("asks", "Suspended", "AwaitingApproval: ")
    await app.shows("nothing", "Degraded", "ProjectNotFound: ")
    await app.shows("fails", "Degraded", "TaskFailed: ")
    await app.healthy("Degraded")
    await app.in_sync()


async def test_a_changed_plan_is_refused_and_says_what_to_do(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository
) -> None:
    await world.start()
    app = await Synced.made(admin, argocd, repository, world.namespace)
    first = repository.commit(project=project(), web=plan("web", "one", suspend=True))
    assert (await app.sync(first))["phase"] == "Succeeded"

    changed = await app.sync(repository.commit(web=plan("web", "another", suspend=True)))

    assert changed["phase"] == "Failed"
    (web,) = (r for r in changed["syncResult"]["resources"] if r["name"] == "web")
    page = (ROOT / "docs/how-to/argo-cd.md").read_text()
    (told,) = re.findall(r'^Plan.bernstein.dev "rate-limits" is invalid.*$', page, re.MULTILINE)
    assert told.replace("rate-limits", "web") in web["message"]


def test_the_applications_of_the_examples_are_taken(accounts: ArgoCD) -> None:
    accounts.tools.kubectl(
        *("create", "--dry-run=server", "--validate=strict"),
        *("-f", str(EXAMPLES / "argocd")),
    )


async def test_the_plan_before_stays_and_is_no_difference(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository
) -> None:
    await world.start()
    app = await Synced.made(admin, argocd, repository, world.namespace)
    kept = {
        "argocd.argoproj.io/sync-options": "Prune=false",
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    }
    before, now = plan("web-1", "one", suspend=True), plan("web-2", "another", suspend=True)
    before["metadata"]["annotations"] = kept
    gone = plan("gone", "one", suspend=True)
    first = repository.commit(project=project(), web=before, gone=gone)
    assert (await app.sync(first))["phase"] == "Succeeded"
    await app.shows("web-1", "Suspended")

    second = await app.sync(repository.commit(web=now, gone=None))

    assert second["phase"] == "Succeeded", second
    await app.in_sync()
    await world.gone(PLANS, "gone")
    assert set(await world.all(PLANS)) == {"web-1", "web-2"}


async def test_a_plan_that_is_called_by_its_text_is_another_one_once_that_changes(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository, tmp_path: Path
) -> None:
    await world.start()
    app = await Synced.made(admin, argocd, repository, world.namespace)
    plans = Path(shutil.copytree(EXAMPLES / "plans", tmp_path / "plans"))
    assert (await app.sync(repository.copy(plans)))["phase"] == "Succeeded"
    (first,) = await world.all(PLANS)

    file = plans / "rate-limits.yaml"
    file.write_text(file.read_text().replace("the middleware", "the middleware, with tests"))
    assert (await app.sync(repository.copy(plans)))["phase"] == "Succeeded"

    found = await world.all(PLANS)
    assert first in found
    assert len(found) == 2
    assert all(name.startswith("rate-limits-") for name in found)
    await app.in_sync()


async def test_what_git_says_is_set_back_and_what_it_does_not_say_stays(
    admin: Client, argocd: ArgoCD, world: World, repository: Repository
) -> None:
    await world.start()
    repository.commit(project=project(), web=plan("web", "one", budget="5", suspend=True))
    await Synced.made(
        admin, argocd, repository, world.namespace, automated={"prune": True, "selfHeal": True}
    )
    await world.until(PLANS, "web", lambda p: p["status"]["phase"] == "Suspended")

    await world.change(PLANS, "web", maxAgents=2, budget="9")

    found = await world.until(PLANS, "web", lambda p: p["spec"]["budget"] == "5")
    assert found["spec"]["maxAgents"] == 2
