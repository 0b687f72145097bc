"""Who reaches the product's own pods: the chart limits it, unless a value says otherwise.

One test takes a policy of the chart away for a while, so that all tests of it stand in this module,
which is one worker's.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator

import pytest

from tests.background import wait_for
from tests.cluster.processes.process import wait_until
from tests.demo import manifests
from tests.e2e.conftest import MakeWorld, Object, World, does, writing
from tests.e2e.reach import API, SERVER, by_a_check, probe, stranger
from tests.stack import SYSTEM, Stack

METRICS = f"bernstein-operator-metrics.{SYSTEM}.svc:8080"


@pytest.fixture
def namespace(stack: Stack) -> Iterator[str]:
    name = f"outside-{uuid.uuid4().hex[:6]}"
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list([manifests.namespace(name)]))
    yield name
    stack.kubectl("delete", "namespace", name, "--wait=false")


def said_by_a_stranger(stack: Stack, namespace: str) -> list[str]:
    stack.kubectl(
        "apply",
        "-f",
        "-",
        stdin=manifests.as_list([stranger(namespace, probe(API, SERVER, METRICS))]),
    )

    def succeeded() -> bool:
        text = stack.kubectl("-n", namespace, "get", "pod", "stranger", "-o", "json")
        return bool(json.loads(text)["status"]["phase"] == "Succeeded")

    assert wait_until(succeeded, timeout=60, interval=0.5)
    return stack.kubectl("-n", namespace, "logs", "stranger").splitlines()


def said_by_an_agent(here: World, name: str = "look") -> list[str]:
    """Of a Project that does not limit its agents."""
    here.task(name, cli="probe")
    task = here.closed(name)
    return here.on_server("show", f"{task['status']['delivery']['sha']}:said.txt").splitlines()


def probing(spec: Object) -> None:
    """Gives the Project an agent that says what it can connect to."""
    command = ["sh", "-c", f"{probe(API, SERVER, METRICS)} > said.txt"]
    agent = {"name": "probe", "adapter": "generic", "image": "bernstein-toolchain:dev"}
    spec["agents"].append({**agent, "command": command})


def metrics_by_the_api_server(stack: Stack) -> str:
    """What the operator's port serves to its own node, which no policy keeps away."""
    service = f"/api/v1/namespaces/{SYSTEM}/services/bernstein-operator-metrics:metrics"
    return stack.kubectl("get", "--raw", f"{service}/proxy/metrics")


def test_by_default_no_pod_reaches_the_operator(
    stack: Stack, namespace: str, world: MakeWorld
) -> None:
    values = stack.run("helm", "get", "values", "bernstein", "-n", SYSTEM, "-o", "json")
    assert "networkPolicy" not in json.loads(values), "it is installed as it is by default"

    by_a_stranger = said_by_a_stranger(stack, namespace)
    by_an_agent = said_by_an_agent(world([], probing))

    assert by_a_stranger == [f"reached {API}", f"not {SERVER}", f"not {METRICS}"]
    assert by_an_agent == [f"reached {API}", f"reached {SERVER}", f"not {METRICS}"]
    assert "leader_election_master_status" in metrics_by_the_api_server(stack), "it listens"


def test_pod_of_a_session_reaches_the_server_but_no_metrics(world: MakeWorld) -> None:
    here = world(
        [does("good", writing("new.py", "X = 1\n"))],
        lambda spec: spec.update(network={"policy": "Unmanaged"}),
    )

    assert by_a_check(here, SERVER, METRICS) == [f"reached {SERVER}", f"not {METRICS}"]


@contextlib.contextmanager
def without_the_operators_policy(stack: Stack) -> Iterator[None]:
    """As the chart leaves it with `networkPolicy.enabled: false`."""
    what = ("networkpolicy", "bernstein-operator", "-n", SYSTEM)
    policy = json.loads(stack.kubectl("get", *what, "-o", "json"))
    kept = {key: policy["metadata"][key] for key in ("annotations", "labels", "name", "namespace")}
    stack.kubectl("delete", *what)
    try:
        yield
    finally:
        stack.kubectl("create", "-f", "-", stdin=json.dumps(policy | {"metadata": kept}))


def test_every_pod_reaches_the_operator_only_where_its_policy_is_taken_away(
    stack: Stack, namespace: str, world: MakeWorld
) -> None:
    stays = stranger(namespace, "sleep 600")
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list([stays]))
    stack.kubectl("-n", namespace, "wait", "pod/stranger", "--for=condition=Ready")

    def says() -> str:
        asked = ("exec", "stranger", "--", "sh", "-c", probe(METRICS))
        return stack.kubectl("-n", namespace, *asked).strip()

    here = world([], probing)
    with without_the_operators_policy(stack):
        wait_for(lambda: says() == f"reached {METRICS}", 120)
        assert said_by_an_agent(here, "first")[-1] == f"reached {METRICS}"

    wait_for(lambda: says() == f"not {METRICS}", 120)
    assert said_by_an_agent(here, "then")[-1] == f"not {METRICS}"
