"""What pods get: network, names, the restricted profile, and an end that is seen as it was."""

from __future__ import annotations

import json
from typing import Any

from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.processes.process import wait_until
from tests.e2e.cluster.machine import IMAGE, Machine, pod

RESTRICTED: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def test_pod_reaches_a_service_by_name_and_so_does_the_machine_by_address(
    running: Machine,
) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    url = "http://web.default.svc.cluster.local"
    running.apply(pod("web", "serve", ":8080", "hello"), service, pod("client", "get", url, "30"))
    running.wait_phase("client", "Succeeded")
    assert running.kubectl("logs", "client") == "hello"
    probe = str(ensure_binaries().path("probe"))
    address = running.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
    for host in (address, f"{running.pod('web')['status']['podIP']}:8080"):
        assert running.inside(probe, "get", f"http://{host}", "5").stdout == "hello"


def test_restricted_pod_ends_its_sidecars_in_reverse_order_with_their_messages(
    running: Machine,
) -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "restricted",
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    }
    common = {"image": IMAGE, "securityContext": RESTRICTED}
    sidecar = {**common, "restartPolicy": "Always", "args": ["wait", "1"]}
    spec: dict[str, Any] = {
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [{**sidecar, "name": "first"}, {**sidecar, "name": "second"}],
        "containers": [{**common, "name": "main", "args": ["run", "1"]}],
    }
    job = pod("sidecars", **spec)
    job["metadata"]["namespace"] = "restricted"
    running.apply(namespace)
    running.apply(job)

    def state() -> dict[str, Any]:
        text = running.kubectl("get", "pod", "sidecars", "-n", "restricted", "-o", "json")
        return dict(json.loads(text)["status"])

    assert wait_until(lambda: state()["phase"] == "Succeeded", timeout=60, interval=0.3), state()
    said = {
        status["name"]: json.loads(status["state"]["terminated"]["message"])
        for status in [*state()["initContainerStatuses"], *state()["containerStatuses"]]
    }
    assert said["main"]["ended"] < said["second"]["signalled"]
    assert said["second"]["ended"] < said["first"]["signalled"]


def test_pod_against_the_restricted_profile_is_refused(running: Machine) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": "strict", "labels": labels}
    running.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    refused = running.inside(
        str(ensure_binaries().path("kubectl")),
        f"--kubeconfig={running.status()['kubeconfig']}",
        *("-n", "strict", "create", "-f", "-"),
        stdin=json.dumps(pod("root", "run", "1")),
        check=False,
    )
    assert 'violates PodSecurity "restricted:latest"' in refused.stderr


def test_killed_container_is_seen_as_killed(running: Machine) -> None:
    running.apply(pod("victim", "wait", "0"))
    running.wait_phase("victim", "Running")
    running.cluster("kill-container", "victim", "main")
    status = running.wait_phase("victim", "Failed")["status"]["containerStatuses"][0]
    assert status["state"]["terminated"]["exitCode"] == 137


def test_killing_a_container_that_does_not_run_is_an_error(running: Machine) -> None:
    refused = running.cluster("kill-container", "nobody", "main", check=False)
    assert refused.returncode == 1
    assert "ContainerNotFound: no running container main in pod default/nobody" in refused.stderr
