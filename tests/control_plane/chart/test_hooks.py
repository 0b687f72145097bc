"""What Helm runs for `helm test` and before an uninstall, with the rights that the chart gives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from bernstein.hooks.program import Failed
from bernstein.hooks.removal import Removal
from bernstein.hooks.removal import attempt as look
from bernstein.hooks.trial import Trial
from bernstein.hooks.trial import attempt as try_it
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.resource import Object
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.control_plane.conftest import RELEASE_NAMESPACE, Account, Tools, eventually, may
from tests.control_plane.controllers.conftest import MakeWorld, make_world, node
from tests.control_plane.controllers.kubelet import Pod, waits
from tests.control_plane.controllers.world import QUIET, World, stage
from tests.control_plane.objects import AGENT_SESSIONS
from tests.documents import documents

__all__ = ["make_world", "node"]


def objects(tools: Tools, hook: str, *values: str) -> list[Object]:
    shown = f"--show-only=templates/hooks/{hook}.yaml"
    return documents(
        tools.template("-n", RELEASE_NAMESPACE, shown, *(f"--set={each}" for each in values))
    )


def rights(made: list[Object]) -> set[tuple[str, str]]:
    """(verb, resource) of all of them."""
    return {
        (verb, resource)
        for each in made
        for rule in each.get("rules", ())
        for verb in rule["verbs"]
        for resource in rule["resources"]
    }


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    return await make_world()


async def account_of(
    tools: Tools, account: Account, made: list[Object], allowed: tuple[str, str], namespace: str
) -> ConnectionInfo:
    """What Helm makes before the Job is there; its account, once it has this right."""
    before = [each for each in made if each["kind"] != "Job"]
    tools.kubectl("apply", "-f-", stdin=yaml.safe_dump_all(before))
    (name,) = (each["metadata"]["name"] for each in made if each["kind"] == "ServiceAccount")
    connection = account(RELEASE_NAMESPACE, name)
    async with Client(connection) as client:
        await eventually(lambda: may(client, *allowed, namespace))
    return connection


def remove(tools: Tools, made: list[Object]) -> None:
    tools.kubectl("delete", "--ignore-not-found", "-f-", stdin=yaml.safe_dump_all(made))


async def tried(
    world: World,
    tools: Tools,
    account: Account,
    said: list[str],
    seconds: float = 120,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """As the hook does it, in this world's namespace."""
    made = objects(tools, "test", f"test.namespace={world.namespace}")
    allowed = ("create", "plans.bernstein.dev")
    connection = await account_of(tools, account, made, allowed, world.namespace)
    operator = f"{RELEASE_NAMESPACE}/bernstein-operator"
    trial = Trial(world.namespace, "bernstein-test", "bernstein:dev", operator, seconds=seconds)
    try:
        async with Client(connection) as client:
            await try_it(client, trial, said.append, clock)
    finally:
        remove(tools, made)


async def test_a_trial_goes_through_starts_no_agent_and_leaves_nothing(
    world: World, tools: Tools, account: Account
) -> None:
    await world.start()
    said: list[str] = []

    await tried(world, tools, account, said)

    assert said[-1] == "All is deleted again. Bernstein works"
    assert not [job for job in world.kubelet.ran if "-begin-" not in job], "nothing costs anything"
    for resource in (PROJECTS, PLANS, TASKS, AGENT_SESSIONS):
        assert await world.all(resource) == {}


async def test_a_trial_tells_that_the_image_cannot_be_pulled(
    world: World, tools: Tools, account: Account
) -> None:
    unknown, passed = "bernstein:dev: not found", [0.0]
    world.kubelet.on("probe", waits("probe-work", "ImagePullBackOff", unknown))
    await world.start()

    trying = asyncio.create_task(tried(world, tools, account, [], 120, lambda: passed[-1]))
    await world.until(PROJECTS, "bernstein-test", lambda p: unknown in str(p["status"]))
    passed.append(121.0)
    with pytest.raises(Failed) as failed:
        await trying

    assert failed.value.reason == "NotInTime"
    assert unknown in failed.value.message
    assert await world.all(PROJECTS) == {}


async def test_a_trial_tells_that_nobody_looks_at_its_namespace(
    world: World, tools: Tools, account: Account
) -> None:
    with pytest.raises(Failed) as failed:
        await tried(world, tools, account, [], seconds=2)

    assert failed.value.reason == "OperatorSilent"


def test_a_trial_has_rights_on_projects_and_plans_of_its_own_name(tools: Tools) -> None:
    made = objects(tools, "test")
    (role,) = (each for each in made if each["kind"] == "Role")

    assert rights(made) == {
        (verb, kind) for verb in ("create", "get", "delete") for kind in ("projects", "plans")
    } | {("patch", "plans")}
    named = [rule for rule in role["rules"] if rule["verbs"] != ["create"]]
    assert all(rule["resourceNames"] == ["bernstein-test"] for rule in named)
    assert not [each for each in made if each["kind"].startswith("Cluster")]


def policies(made: list[Object]) -> dict[str, str]:
    """When Helm deletes what it makes in the namespace of the test, and that itself."""
    return {
        each["kind"]: each["metadata"]["annotations"]["helm.sh/hook-delete-policy"]
        for each in made
        if each["metadata"].get("namespace") != RELEASE_NAMESPACE
    }


def test_helm_deletes_nothing_of_a_namespace_but_what_it_has_made_for_the_test(
    tools: Tools,
) -> None:
    beside = {"Secret": "hook-succeeded", "Role": "hook-succeeded", "RoleBinding": "hook-succeeded"}

    assert policies(objects(tools, "test")) == {"Namespace": "hook-succeeded"} | beside
    for chosen in ("test.namespace=bernstein-test", "watch.namespaces={bernstein-test}"):
        assert policies(objects(tools, "test", chosen)) == beside, "that is somebody's"


def test_the_release_s_own_namespace_is_never_made_by_the_test(tools: Tools) -> None:
    made = documents(
        tools.template("-n", "bernstein-test", "--show-only=templates/hooks/test.yaml")
    )

    assert "Namespace" not in {each["kind"] for each in made}


# --- before an uninstall


async def removal(world: World, tools: Tools, account: Account, way: str, said: list[str]) -> None:
    made = objects(tools, "removal", f"uninstall.whileAtWork={way}")
    verb = "patch" if way == "cancel" else "list"
    allowed = (verb, "plans.bernstein.dev")
    connection = await account_of(tools, account, made, allowed, world.namespace)
    try:
        async with Client(connection) as client:
            here = Removal((world.namespace,), cancel=way == "cancel", seconds=120)
            await look(client, here, said.append)
    finally:
        remove(tools, made)


async def _shop(world: World) -> None:
    """A Plan of one step; agents go on until they are asked to end, as the recorder has them do."""

    async def until_asked(pod: Pod) -> None:
        await pod.start()
        await world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
        await pod.end("Succeeded", await pod.deliver(stopped="Cancelled"))

    world.kubelet.on("agent", until_asked)
    await world.project(gates=QUIET)
    await world.start()
    await world.plan("shop", [stage("build", "page")])


async def test_what_is_at_work_keeps_an_uninstall_back_until_it_is_cancelled(
    world: World, tools: Tools, account: Account
) -> None:
    await _shop(world)
    await world.task("alone")
    (page,) = [name for name in await _at_work(world, 2) if name != "alone"]
    said: list[str] = []

    with pytest.raises(Failed) as refused:
        await removal(world, tools, account, "refuse", said)

    message = refused.value.message
    for named in (
        "Plan {}/shop (Running)",
        f"Task {{}}/{page} (InProgress)",
        "Task {}/alone (InProgress)",
        "AgentSession {}/alone-s1 (Working)",
    ):
        assert named.format(world.namespace) in message

    await removal(world, tools, account, "cancel", said)

    assert said[-1] == "Nothing is at work: Bernstein may go"
    assert (await world.get(PLANS, "shop"))["status"]["phase"] == "Cancelled"
    for name in ("alone", page):
        await world.task_in(name, "Cancelled")
    await removal(world, tools, account, "refuse", said)


async def test_an_agent_that_began_before_a_suspension_is_cancelled_with_its_plan(
    world: World, tools: Tools, account: Account
) -> None:
    await _shop(world)
    (page,) = await _at_work(world, 1)
    await world.change(PLANS, "shop", suspend=True)
    await world.until(PLANS, "shop", _is_suspended)
    said: list[str] = []

    with pytest.raises(Failed) as refused:
        await removal(world, tools, account, "refuse", said)
    assert f"Plan {world.namespace}/shop " in refused.value.message

    await removal(world, tools, account, "cancel", said)

    assert said[-1] == "Nothing is at work: Bernstein may go"
    await world.task_in(page, "Cancelled")


def _is_suspended(plan: Object) -> bool:
    return bool((plan["status"].get("waiting") or {}).get("reason") == "Suspended")


async def _at_work(world: World, count: int) -> list[str]:
    found: list[str] = []

    async def there() -> bool:
        tasks = await world.all(TASKS)
        found[:] = [n for n, t in tasks.items() if t["status"].get("state") == "InProgress"]
        return len(found) == count

    await eventually(there, seconds=120)
    return found


@pytest.mark.parametrize(("way", "more"), [("refuse", set()), ("cancel", {"patch"})])
def test_who_looks_before_an_uninstall_may_list_and_cancel_only_where_it_is_told_to(
    tools: Tools, way: str, more: set[str]
) -> None:
    made = objects(tools, "removal", f"uninstall.whileAtWork={way}")
    (job,) = (each for each in made if each["kind"] == "Job")

    listed = {("list", kind) for kind in ("plans", "tasks", "agentsessions")}
    assert rights(made) == listed | {(v, kind) for v in more for kind in ("plans", "tasks")}
    args: list[Any] = job["spec"]["template"]["spec"]["containers"][0]["args"]
    assert ("--cancel" in args) is (way == "cancel")


def test_a_release_that_ignores_what_runs_has_no_hook(tools: Tools) -> None:
    text = tools.template("--set=uninstall.whileAtWork=ignore")

    assert "pre-delete" not in text
