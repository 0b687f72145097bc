"""The chart's admission policy `connections`: who gets into pods of ours.

No pod here has a node. Whom admission lets through is told that by the API server.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable

import pytest

from bernstein.kube.client import Client
from bernstein.kube.resource import JOBS, PODS, Object
from tests.control_plane.chart.test_policies_off import only_watching
from tests.control_plane.conftest import Person, Tools, eventually
from tests.control_plane.objects import job

POLICY = "nobody connects to Pods of Bernstein"
POD = "/api/v1/namespaces/{namespace}/pods/{pod}"
WAYS: dict[str, tuple[str, ...]] = {
    "exec": ("exec", "{pod}", "--", "cat", "/run/secrets/token"),
    "attach": ("attach", "{pod}"),
    # kubectl itself looks first whether the pod runs.
    "port-forward": ("create", "--raw", f"{POD}/portforward?ports=8080", "-f", "-"),
    "proxy": ("get", "--raw", f"{POD}/proxy/"),
    "proxy to a port": ("get", "--raw", f"{POD}:8080/proxy/"),
    "proxy by TLS": ("get", "--raw", POD.replace("{pod}", "https:{pod}:8443") + "/proxy/"),
}

Connect = Callable[..., Awaitable[str]]


@pytest.fixture
def connect(tools: Tools, namespace: str) -> Connect:
    """(way, pod, who, more) -> what kubectl says of it."""

    async def told(way: str, pod: str, who: str = "", *more: str) -> str:
        words = [word.format(pod=pod, namespace=namespace) for word in WAYS[way]]
        as_who = (f"--as=system:serviceaccount:{namespace}:{who}",) if who else ()
        call = (*words[:1], "-n", namespace, *as_who, *more, *words[1:])
        done = await asyncio.to_thread(tools.run, "kubectl", *call, stdin="{}")
        assert done.returncode != 0, done.stdout
        return done.stderr

    return told


async def running(client: Client, pod: Object, namespace: str) -> str:
    """The pod of a Job, once it is there, as if its node had started it."""
    selector = f"batch.kubernetes.io/job-name={pod['metadata']['name']}"
    await client.create(JOBS, pod)

    async def there() -> bool:
        return bool((await client.list(PODS, namespace, label_selector=selector)).items)

    await eventually(there)
    made = (await client.list(PODS, namespace, label_selector=selector)).items[0]
    return str(made["metadata"]["name"])


def agent_job(namespace: str) -> Object:
    """With a sidecar that holds a credential."""
    made = job(namespace, "agent")
    template = made["spec"]["template"]
    (main,) = template["spec"]["containers"]
    template["metadata"]["labels"] = {
        **template["metadata"]["labels"],
        "bernstein.dev/job": "agent",
    }
    template["spec"]["initContainers"] = [
        {**copy.deepcopy(main), "name": "pusher", "restartPolicy": "Always"}
    ]
    main["name"] = "agent"
    return made


@pytest.mark.parametrize("way", WAYS)
async def test_nobody_gets_into_a_pod_of_a_check_or_a_landing(
    operator: Client, person: Person, namespace: str, connect: Connect, way: str
) -> None:
    await person("edit")
    pod = await running(operator, job(namespace), namespace)

    async def is_refused() -> bool:
        return POLICY in await connect(way, pod)

    await eventually(is_refused)
    assert POLICY in await connect(way, pod, "edit")


async def test_without_the_policy_all_of_them_are_open(
    operator: Client, admin: Client, person: Person, namespace: str, connect: Connect
) -> None:
    await person("edit")
    pod = await running(operator, job(namespace), namespace)

    async def is_refused(way: str = "exec") -> bool:
        return POLICY in await connect(way, pod, "edit")

    async def is_open() -> bool:
        return not await is_refused()

    await eventually(is_refused)
    async with only_watching(admin, "connections"):
        await eventually(is_open)
        assert [way for way in WAYS if await is_refused(way)] == []
    await eventually(is_refused)


async def test_of_an_agents_pod_its_own_container_alone_is_open(
    operator: Client, person: Person, namespace: str, connect: Connect
) -> None:
    await person("edit")
    pod = await running(operator, agent_job(namespace), namespace)

    async def is_refused() -> bool:
        return POLICY in await connect("exec", pod, "", "-c", "pusher")

    await eventually(is_refused)
    for way in ("exec", "attach"):
        assert POLICY in await connect(way, pod, "edit", "-c", "pusher")
        for more in ((), ("-c", "agent")):
            assert POLICY not in await connect(way, pod, "edit", *more)
    for way in ("port-forward", "proxy"):
        assert POLICY in await connect(way, pod, "edit")


async def test_pods_of_others_are_open_as_before(
    operator: Client, admin: Client, person: Person, namespace: str, connect: Connect
) -> None:
    await person("edit")
    ours = await running(operator, job(namespace), namespace)
    plain = copy.deepcopy(job(namespace, "plain", labels={"app": "mine"}))
    plain["spec"]["template"]["metadata"] = {}
    theirs = await running(admin, plain, namespace)

    async def is_refused() -> bool:
        return POLICY in await connect("exec", ours)

    await eventually(is_refused)
    for way in WAYS:
        assert POLICY not in await connect(way, theirs, "edit")
