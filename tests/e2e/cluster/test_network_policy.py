"""NetworkPolicy holds, from a pod's first packet on."""

from __future__ import annotations

from typing import Any

from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.processes.process import wait_until
from tests.e2e.cluster.machine import IMAGE, Machine, pod


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

    running.wait_answer(
        *(f"{hosts['named']}:{p}" for p in (8080, 8081)), f"{hosts['unnamed']}:8080"
    )
    running.apply(pod("sure", "get", urls["service"], "60"))  # of name and service, too
    running.wait_phase("sure", "Succeeded")

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
    running.wait_answer(f"{address}:8080")
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

    assert wait_until(lambda: "FailedCreatePodSandBox" in events(), timeout=120, interval=0.3)
    assert "the network policy engine does not answer" in events()
    assert running.pod("patient")["status"]["phase"] == "Pending"
    running.cluster("start", "network-policy")
    running.wait_phase("patient", "Succeeded")
