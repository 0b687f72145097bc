"""What the code of agents can connect to, from the pods that run it."""

from __future__ import annotations

import copy
import json
import shlex
from typing import Any

import pytest

from tests.background import wait_for
from tests.demo import manifests
from tests.demo.manifests import GitServer
from tests.e2e.conftest import MakeWorld, Object, World, condition, does, git_server, writing
from tests.e2e.reach import API, SERVER, by_a_check, probe, stranger
from tests.stack import SYSTEM, Stack


def address_of_git(spec: Object) -> str:
    return str(spec["repositories"][0]["url"]).split("/")[2]


@pytest.mark.verification
@pytest.mark.parametrize("policy", ["Managed", "Unmanaged"])
def test_a_check_reaches_the_git_server_and_nothing_else(world: MakeWorld, policy: str) -> None:
    """Unless the Project manages its network itself: then the same command reaches everything."""
    here = world(
        [does("good", writing("new.py", "X = 1\n"))],
        lambda spec: spec.update(network={"policy": policy}),
    )
    git = address_of_git(here.project["spec"])

    said = by_a_check(here, git, API, SERVER)

    others = "not" if policy == "Managed" else "reached"
    assert said == [f"reached {git}", f"{others} {API}", f"{others} {SERVER}"]


@pytest.mark.verification
def test_a_check_reaches_what_the_project_adds(world: MakeWorld) -> None:
    server: Object = {
        "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SYSTEM}}}],
        "ports": [{"port": 8052}],
    }
    here = world(
        [does("good", writing("new.py", "X = 1\n"))],
        lambda spec: spec.update(network={"checks": [server]}),
    )

    assert by_a_check(here, API, SERVER) == [f"not {API}", f"reached {SERVER}"]


def of_the_cluster(here: World, other: GitServer) -> dict[str, int]:
    """The API server, a kubelet and a Service of somebody else, each with the port on which it
    listens, which a policy sees."""
    (node,) = json.loads(here.stack.kubectl("get", "nodes", "-o", "json"))["items"][:1]
    told = {each["type"]: each["address"] for each in node["status"]["addresses"]}
    kubelet = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    api = ("-n", "default", "get", "endpoints", "kubernetes", "-o", "json")
    (port,) = json.loads(here.stack.kubectl(*api))["subsets"][0]["ports"]
    return {
        API: port["port"],
        f"{told['InternalIP']}:{kubelet}": kubelet,
        other.url().split("/")[2]: manifests.GIT_PORT,
    }


@pytest.mark.verification
def test_by_the_port_of_a_git_server_outside_no_check_reaches_what_is_in_the_cluster(
    stack: Stack, world: MakeWorld
) -> None:
    """Policies see ports: of a repository at https://git.example.com:6443 that of an API server.

    Pods with a check's rules are asked, since nothing is to be had at such a url.
    """
    here = world([])
    with git_server(stack) as other:
        places = of_the_cluster(here, other)
        for number, (place, port) in enumerate(places.items()):
            name = f"outside-{number}"
            spec = copy.deepcopy(here.project["spec"])
            spec["repositories"][0]["url"] = f"https://git.example.com:{port}/app.git"
            here.apply(
                {**here.project, "metadata": {"name": name}, "spec": {**spec, "network": {}}}
            )
            policy = here.await_("networkpolicy", f"bernstein-{name}-checks", bool)
            limited = {"app": f"limited-{number}"}
            here.apply(
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "NetworkPolicy",
                    "metadata": {"name": limited["app"]},
                    "spec": {**policy["spec"], "podSelector": {"matchLabels": limited}},
                },
                stranger(here.namespace, probe(place), limited["app"], limited),
                stranger(here.namespace, probe(place), f"stranger-{number}"),
            )

        for number, place in enumerate(places):
            said = [ended(here, f"{who}-{number}") for who in ("limited", "stranger")]
            assert said == [f"not {place}", f"reached {place}"]


def ended(here: World, pod: str) -> str:
    here.await_("pod", pod, lambda p: p.get("status", {}).get("phase") == "Succeeded")
    return here.kubectl("logs", pod).strip()


LISTEN = "import socket, time; server = socket.create_server(('', 8000)); time.sleep(240)"


@pytest.mark.verification
@pytest.mark.parametrize("policy", ["Managed", "Unmanaged"])
def test_a_check_reaches_no_check_of_another_task(world: MakeWorld, policy: str) -> None:
    """It may connect to everything; the other one lets nobody in. Without our policies it is let
    in, so that the listener is known to listen."""
    network: Object = {"policy": policy}
    if policy == "Managed":
        network["checks"] = [{}]
    works = [
        does("good", writing("new.py", "X = 1\n")),
        does("listens", writing("other.py", "Y = 1\n")),
    ]
    here = world(works, lambda spec: spec.update(network=network))
    listens = shlex.join(["python3", "-c", LISTEN])
    here.task(
        "listens",
        maxRetries=0,
        files=["other.py"],
        completionSignals=[{"type": "test_passes", "command": listens, "timeoutSeconds": 600}],
    )
    wait_for(lambda: _listeners(here), 120)
    (listener,) = _listeners(here)

    said = by_a_check(here, f"{listener}:8000")

    assert said == [f"{'not' if policy == 'Managed' else 'reached'} {listener}:8000"]
    assert _listeners(here) == [listener], "it listened all the time"


def _listeners(here: World) -> list[str]:
    """Addresses of the pod that listens."""
    return [
        pod["status"]["podIP"]
        for pod in here.all("pods")
        if pod["metadata"]["labels"].get("bernstein.dev/task") == "listens"
        and pod["metadata"]["labels"].get("bernstein.dev/job") == "check"
        and _is_at_work(pod)
    ]


def _is_at_work(pod: Object) -> bool:
    containers = pod["status"].get("containerStatuses", ())
    return any("running" in container["state"] for container in containers)


@pytest.mark.parametrize("limited", [True, False])
def test_an_agent_that_is_limited_still_delivers(world: MakeWorld, limited: bool) -> None:
    """Checkout, recorder and pusher share its pod, and with it what may be reached."""
    agent: dict[str, Any] = {
        "name": "probe",
        "adapter": "generic",
        "image": "bernstein-toolchain:dev",
        # The server hears of it once the operator has seen it at work.
        "command": ["sh", "-c", f"sleep 8; {probe(API, SERVER)} > said.txt"],
    }

    def change(spec: Object) -> None:
        spec["agents"].append(agent)
        spec["network"] = {"agents": []} if limited else {}

    here = world([], change)
    here.task("look", cli="probe")
    task = here.closed("look")

    said = here.on_server("show", f"{task['status']['delivery']['sha']}:said.txt").splitlines()
    assert said == [f"{'not' if limited else 'reached'} {API}", f"reached {SERVER}"]
    session = here.get("agentsession", "look-s1")
    assert session["status"]["report"]["heartbeatTime"]


def _denying() -> Object:
    """What denies all pods of its namespace everything that nothing else opens."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny-everything"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }


def test_where_the_namespace_denies_everything_our_policies_open_what_work_needs(
    world: MakeWorld,
) -> None:
    def limited(spec: Object) -> None:
        spec["network"] = {"agents": []}

    here = world([does("work", writing("new.py", "X = 1\n"))], limited)
    here.apply(_denying())
    look = {"type": "test_passes", "command": f"{probe(API)} | grep '^not '"}
    here.task("work", completionSignals=[look])

    here.closed("work")
    assert "new.py" in here.files()


def test_where_the_namespace_denies_everything_agents_get_nowhere_by_default_and_it_is_said(
    world: MakeWorld,
) -> None:
    """What keeps agents out is not ours: only the Project can say what they need."""
    here = world([does("work", writing("new.py", "X = 1\n"))])
    here.apply(_denying())
    assert "agents" not in here.project["spec"]["network"]
    here.task("work")

    task = here.stalled("task", "work", "RepositoryUnreachable", seconds=240)

    _, _, remedy = condition(task, "Stalled")["message"].partition("Remedy:")
    assert "network.agents" in remedy
    assert task["status"].get("attempt", 0) == 0, "it costs nothing"
