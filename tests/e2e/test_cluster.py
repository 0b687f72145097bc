"""The local cluster itself: what pods get, what survives, and what `down` leaves behind.

It runs in a network namespace and a cache of its own, beside whatever cluster the other tests
use; only the builds are shared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest

from tests.cluster import image_archive
from tests.cluster.audit import position, writes
from tests.cluster.binaries import ensure_binaries
from tests.cluster.layout import cluster_id
from tests.cluster.packages import NODE, ensure_packages
from tests.cluster.paths import REPOSITORY, binaries_root, runtime_folder
from tests.cluster.process import wait_until

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a local node needs root"),
]

IMAGE = "probe:1"
SHIM_SOCKETS = Path("/run/containerd/s")
RESTRICTED: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


@dataclass(frozen=True)
class Machine:
    """A network namespace and a cache folder, and the command line in them."""

    namespace: str
    cache: Path

    def inside(
        self, *command: str, stdin: str | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["nsenter", f"--net=/run/netns/{self.namespace}", *command],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            timeout=300,
            check=False,
            env={**os.environ, "XDG_CACHE_HOME": str(self.cache)},
        )
        assert not check or done.returncode == 0, f"{command}: {done.stderr}"
        return done

    def cluster(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.inside(sys.executable, "-m", "tests.cluster", *arguments, check=check)

    def up(self) -> float:
        """Seconds that it took."""
        begin = time.monotonic()
        self.cluster("up", "--provider", "local")
        return time.monotonic() - begin

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.cluster("status", "--json").stdout))

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        kubeconfig = self.cache / "bernstein" / "clusters" / "local" / "state" / "kubeconfig"
        program = str(ensure_binaries().path("kubectl"))
        return self.inside(program, f"--kubeconfig={kubeconfig}", *arguments, stdin=stdin).stdout

    def apply(self, *objects: dict[str, Any]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(listed))

    def pod(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self.kubectl("get", "pod", name, "-o", "json")))

    def wait_phase(self, name: str, *phases: str) -> dict[str, Any]:
        assert wait_until(
            lambda: self.pod(name)["status"]["phase"] in phases, timeout=60, interval=0.3
        ), self.pod(name)["status"]
        return self.pod(name)

    def inventory(self) -> set[str]:
        """All that a cluster could leave behind, on the machine and in the namespace."""
        processes = [
            f"process {entry.name}"
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and str(self.cache).encode() in _read(entry / "cmdline")
        ]
        mounts = [
            line.split()[4]
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if str(self.cache) in line or "/run/bernstein/local-" in line
        ]
        rules = self.inside("nft", "list", "ruleset").stdout.splitlines()
        links = self.inside("ip", "-oneline", "link").stdout.splitlines()
        routes = self.inside("ip", "route", "show", "table", "all").stdout.splitlines()
        folders = [
            str(path)
            for pattern in (
                "run/bernstein/local-*",
                "run/netns/cni-*",
                "sys/fs/cgroup/bernstein-local-*",
                "sys/fs/cgroup/*/bernstein-local-*",
                "var/lib/cni/results/bernstein-local-*",
            )
            for path in Path("/").glob(pattern)
        ]
        logs = [
            str(link)
            for link in Path("/var/log/containers").glob("*")
            if str(link.readlink()).startswith(str(self.cache))
        ]
        listening = Path("/proc/net/unix").read_text()
        dead = [f"dead {path}" for path in SHIM_SOCKETS.glob("*") if str(path) not in listening]
        return {*processes, *mounts, *rules, *links, *routes, *folders, *logs, *dead}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    ensure_packages(NODE)
    ensure_binaries()
    # The paths of pytest's own temporary folders are too long for the sockets in it.
    with TemporaryDirectory(prefix="bernstein-") as folder:
        cache = Path(folder)
        (cache / "bernstein").mkdir()
        (cache / "bernstein" / "kubernetes").symlink_to(binaries_root())
        made = Machine(f"bernstein-test-{uuid4().hex[:8]}", cache)
        subprocess.run(["ip", "netns", "add", made.namespace], check=True)
        try:
            made.inside("ip", "link", "set", "lo", "up")
            yield made
            made.cluster("down", "--all")
        finally:
            subprocess.run(["ip", "netns", "delete", made.namespace], check=True)


@pytest.fixture(scope="module")
def untouched(machine: Machine) -> set[str]:
    """What there was before any cluster."""
    return machine.inventory()


@pytest.fixture(scope="module")
def archive(machine: Machine) -> Path:
    path = machine.cache / "probe.tar"
    probe = ensure_binaries().path("probe").read_bytes()
    image_archive.write(path, IMAGE, [("/probe", probe)], ["/probe"])
    return path


@pytest.fixture
def running(machine: Machine, untouched: set[str], archive: Path) -> Machine:
    """The machine with a cluster that is up, and the probe's image in it."""
    machine.up()
    machine.cluster("load", str(archive))
    return machine


def pod(name: str, *arguments: str, **spec: Any) -> dict[str, Any]:
    """A pod that runs the probe once."""
    container = {"name": "main", "image": IMAGE, "args": list(arguments)}
    defaults = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 20,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    metadata = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**defaults, **spec}}


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


def server(name: str, *ports: int) -> dict[str, Any]:
    """A pod that answers with its name."""
    containers: list[dict[str, Any]] = [
        {"name": f"at-{port}", "image": IMAGE, "args": ["serve", f":{port}", name]}
        for port in ports
    ]
    containers[0]["ports"] = [{"name": "first", "containerPort": ports[0]}]
    return pod(name, containers=containers)


def attempt(name: str, role: str, url: str) -> dict[str, Any]:
    """A pod whose first act is one request, not repeated."""
    made = pod(name, "get", url, "0")
    made["metadata"]["labels"]["role"] = role
    return made


def outcomes(machine: Machine, *attempts: dict[str, Any]) -> list[str]:
    """What became of each attempt: the answer, or the last words of the error."""
    machine.apply(*attempts)
    names = [made["metadata"]["name"] for made in attempts]

    def ended() -> bool:
        phases = machine.kubectl("get", "pods", *names, "-o", "jsonpath={..status.phase}").split()
        return len(phases) == len(names) and set(phases) <= {"Succeeded", "Failed"}

    assert wait_until(ended, timeout=60, interval=0.3), machine.kubectl("get", "pods", *names)
    return [machine.kubectl("logs", name).strip()[-len(LATE) :] for name in names]


LATE = "(Client.Timeout exceeded while awaiting headers)"


def policy(name: str, selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": {"podSelector": {"matchLabels": selector}, **spec},
    }


def test_egress_policy_holds_from_the_first_packet(running: Machine) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "named"},
        "spec": {"selector": {"app": "named"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    running.apply(server("named", 8080, 8081), server("unnamed", 8080), service)
    hosts = {
        name: running.wait_phase(name, "Running")["status"]["podIP"]
        for name in ("named", "unnamed")
    }
    urls = {
        "service": "http://named.default.svc.cluster.local",
        "port": f"http://{hosts['named']}:8081",
        "pod": f"http://{hosts['unnamed']}:8080",
        "api": running.status()["server"].replace("https://", "http://"),
    }

    def tried(who: str, role: str) -> list[str]:
        return outcomes(running, *(attempt(f"{who}-{to}", role, urls[to]) for to in urls))

    free = tried("free", "free")
    dns = {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    to_named = {
        "to": [{"podSelector": {"matchLabels": {"app": "named"}}}],
        "ports": [{"port": 8080}],
    }
    types = ["Egress"]
    running.apply(policy("narrow", {"role": "narrow"}, policyTypes=types, egress=[dns, to_named]))
    narrow = tried("narrow", "narrow")
    running.kubectl("delete", "networkpolicy", "narrow")
    freed = tried("freed", "narrow")
    answers = ["named", "named", "unnamed", "status 400 Bad Request"]
    assert (free, freed) == (answers, answers)
    assert narrow == ["named", LATE, LATE, LATE]


def test_ingress_policy_lets_in_only_whom_it_names_and_the_node(running: Machine) -> None:
    running.apply(server("guarded", 8080))
    address = running.wait_phase("guarded", "Running")["status"]["podIP"]
    url = f"http://{address}:8080"
    rule = {
        "from": [{"podSelector": {"matchLabels": {"role": "friend"}}}],
        "ports": [{"port": "first"}],
    }
    running.apply(policy("guard", {"app": "guarded"}, ingress=[rule]))
    attempts = (attempt("friend", "friend", url), attempt("stranger", "stranger", url))
    assert outcomes(running, *attempts) == ["guarded", LATE]
    probe = str(ensure_binaries().path("probe"))
    assert running.inside(probe, "get", url, "0").stdout == "guarded"
    running.kubectl("delete", "networkpolicy", "guard")
    assert outcomes(running, attempt("admitted", "stranger", url)) == ["guarded"]


def test_the_kernel_takes_every_form_of_a_policy(running: Machine) -> None:
    labels = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    block = {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.1.2.0/24", "10.3.0.1/32"]}
    peers = [{"podSelector": labels, "namespaceSelector": {}}, {"ipBlock": block}]
    ports = [
        {"protocol": "SCTP"},
        {"protocol": "UDP", "port": 1000, "endPort": 2000},
        {"port": "first"},
    ]
    rules: dict[str, Any] = {
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers, "ports": ports}, {"from": peers}, {"ports": ports}, {}],
        "egress": [{"to": peers, "ports": ports}, {"to": peers}, {"ports": ports}, {}],
    }
    running.apply(policy("p" * 63, {"app": "formal"}, **rules))
    running.apply(server("formal", 8080))
    running.wait_phase("formal", "Running")
    kept = running.inside("nft", "list", "tables").stdout.split()
    (table,) = {word for word in kept if word.startswith("bernstein-local-")}
    rules_text = running.inside("nft", "list", "table", "inet", table).stdout
    assert f'return comment "default/{"p" * 63}"' in rules_text
    running.kubectl("delete", "networkpolicy", "p" * 63)


def test_no_pod_starts_without_the_engine_of_policies(running: Machine) -> None:
    running.cluster("kill", "network-policy")
    running.apply(pod("patient", "run", "0"))

    def events() -> str:
        return running.kubectl("get", "events", "--field-selector=involvedObject.name=patient")

    assert wait_until(lambda: "FailedCreatePodSandBox" in events(), timeout=30, interval=0.3)
    assert "the network policy engine does not answer" in events()
    assert running.pod("patient")["status"]["phase"] == "Pending"
    running.cluster("start", "network-policy")
    running.wait_phase("patient", "Succeeded")


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


@pytest.mark.parametrize("component", ["kube-apiserver", "kubelet", "containerd", "network-policy"])
def test_killed_component_is_reported_and_comes_back(running: Machine, component: str) -> None:
    running.cluster("kill", component)
    status = running.status()
    dead = [entry["name"] for entry in status["components"] if not entry["running"]]
    assert (status["ready"], dead) == (False, [component])
    running.cluster("start", component)
    assert running.status()["ready"]


def test_every_write_is_in_the_audit_log_and_no_read(running: Machine) -> None:
    log = Path(running.status()["audit_log"])
    since = position(log)
    metadata = {"name": "audited", "namespace": "default"}
    running.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    running.kubectl("get", "configmap", "audited")
    running.kubectl("delete", "configmap", "audited")
    seen = [write for write in writes(log, since) if write.name == "audited"]
    assert [(write.verb, write.user, write.code) for write in seen] == [
        ("create", "kubernetes-admin", 201),
        ("delete", "kubernetes-admin", 200),
    ]


def test_cluster_that_is_up_stays_as_it_is(running: Machine) -> None:
    before = running.status()["components"]
    running.up()
    assert running.status()["components"] == before


def test_second_node_in_the_same_network_is_refused(running: Machine) -> None:
    refused = running.cluster("up", "--provider", "local", "--name", "other", check=False)
    assert refused.returncode == 1
    assert "NodeInUse: another local cluster runs on this machine: local-" in refused.stderr
    running.cluster("down", "--provider", "local", "--name", "other")


def test_control_plane_runs_beside_the_node(running: Machine) -> None:
    running.cluster("up", "--provider", "control-plane")
    assert running.status()["provider"] == "local"
    assert running.status()["ready"]
    running.cluster("down", "--provider", "control-plane")


def test_cluster_without_end_is_replaced_and_its_containers_forgotten(running: Machine) -> None:
    running.apply(pod("old", "wait", "0"))
    running.wait_phase("old", "Running")
    for component in running.status()["components"]:
        os.kill(component["pid"], 9)
    running.up()
    status = running.status()
    assert status["ready"]
    assert running.kubectl("get", "pods", "--output", "name") == ""
    identity = cluster_id("local", running.cache / "bernstein" / "clusters" / "local")
    socket = runtime_folder(identity) / "containerd.sock"
    containers = running.inside(
        "ctr", "--address", str(socket), "--namespace", "k8s.io", "containers", "list", "--quiet"
    )
    assert containers.stdout == ""


def test_down_leaves_nothing_and_images_make_the_next_start_quick(
    running: Machine, untouched: set[str], archive: Path
) -> None:
    machine = running
    machine.cluster("up", "--provider", "control-plane")
    machine.apply(pod("left", "wait", "30"))
    machine.wait_phase("left", "Running")
    assert machine.inventory() > untouched
    machine.cluster("down", "--all")
    assert machine.inventory() == untouched
    assert machine.up() < 30
    assert "loaded already" in machine.cluster("load", str(archive)).stderr
    machine.apply(pod("again", "run", "0"))
    machine.wait_phase("again", "Succeeded")
