"""Who reaches the product's own pods, where the chart limits it (`networkPolicy.enabled`)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest

from tests.cluster.processes.process import wait_until
from tests.demo import manifests
from tests.e2e.conftest import MakeWorld, Object, does, writing
from tests.e2e.reach import API, SERVER, by_a_check, probe
from tests.stack import SYSTEM, Stack

METRICS = f"bernstein-operator-metrics.{SYSTEM}.svc:8080"


@pytest.fixture
def namespace(stack: Stack) -> Iterator[str]:
    name = f"outside-{uuid.uuid4().hex[:6]}"
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list([manifests.namespace(name)]))
    yield name
    stack.kubectl("delete", "namespace", name, "--wait=false")


def stranger(namespace: str) -> Object:
    """A pod of nobody's session that says once what it can connect to."""
    container = {
        "name": "probe",
        "image": "bernstein-toolchain:dev",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", probe(API, SERVER, METRICS)],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stranger", "namespace": namespace},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [container],
        },
    }


def test_pod_of_no_session_reaches_neither_server_nor_metrics(stack: Stack, namespace: str) -> None:
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list([stranger(namespace)]))

    def succeeded() -> bool:
        text = stack.kubectl("-n", namespace, "get", "pod", "stranger", "-o", "json")
        return bool(json.loads(text)["status"]["phase"] == "Succeeded")

    assert wait_until(succeeded, timeout=60, interval=0.5)
    said = stack.kubectl("-n", namespace, "logs", "stranger").splitlines()
    assert said == [f"reached {API}", f"not {SERVER}", f"not {METRICS}"]


def test_pod_of_a_session_reaches_the_server_but_no_metrics(world: MakeWorld) -> None:
    here = world(
        [does("good", writing("new.py", "X = 1\n"))],
        lambda spec: spec.update(network={"policy": "Unmanaged"}),
    )

    assert by_a_check(here, SERVER, METRICS) == [f"reached {SERVER}", f"not {METRICS}"]
