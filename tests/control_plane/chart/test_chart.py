"""The chart, rendered and installed by the real Helm."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bernstein import crds
from bernstein.cli.commands.doctor.installation import POLICY_NAMES
from bernstein.controllers.__main__ import arguments as operator_arguments
from bernstein.controllers.settings import CLUSTER_DNS, PRIVATE
from bernstein.server import settings
from tests.background import wait_for
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools
from tests.documents import documents

EVERYTHING = """
image: {repository: registry.example.com/bernstein, digest: "sha256:DIGEST", pullPolicy: Always}
imagePullSecrets: [{name: pull}]
fullnameOverride: orchestra
admissionPolicies:
  podFields:
    [affinity, nodeSelector, preemptionPolicy, priorityClassName, schedulerName, tolerations,
     topologySpreadConstraints]
operator:
  replicas: 3
  logLevel: debug
  nodeSelector: {kubernetes.io/os: linux}
  tolerations: [{key: a, operator: Exists, effect: NoSchedule}]
  priorityClassName: system-cluster-critical
  podAnnotations: {example.com/a: "1"}
server:
  tls: {existingSecret: server-certificate}
  podAnnotations: {example.com/a: "1"}
metrics: {scrapeAnnotations: false}
networkPolicy:
  ingressFrom: [{namespaceSelector: {matchLabels: {name: monitoring}}}]
""".replace("DIGEST", "0" * 64)
UNUSUAL = """
image: {repository: "Registry.Example.com:5000/team/my_app--x", tag: v1.2_RC}
imagePullSecrets: [{name: pull.secret-1}]
operator:
  priorityClassName: system-cluster-critical
  resources:
    requests: {cpu: 0.1, memory: 100M}
    limits: {cpu: 1, memory: 1e9, ephemeral-storage: 1.5Gi}
server:
  tls: {extraNames: ["*.example.com", bernstein], validityDays: 30}
  resources:
    requests: {cpu: ".1", memory: "1e8"}
    limits: {memory: 1G}
networkPolicy:
  ingressFrom:
    - ipBlock: {cidr: 192.0.2.0/24, except: [192.0.2.128/25]}
    - ipBlock: {cidr: "2001:db8::/32"}
    - podSelector: {matchExpressions: [{key: app, operator: In, values: [prometheus]}]}
      namespaceSelector: {}
"""


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Values as Kubernetes takes them, but few people spell them."""
    path = tmp_path_factory.mktemp("unusual") / "values.yaml"
    path.write_text(UNUSUAL)
    return str(path)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Values that turn on all that is off by default."""
    path = tmp_path_factory.mktemp("everything") / "values.yaml"
    path.write_text(EVERYTHING)
    return str(path)


def rendered(tools: Tools, *arguments: str) -> list[dict[str, Any]]:
    return documents(tools.template("-n", RELEASE_NAMESPACE, *arguments))


def of_kind(objects: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [o for o in objects if o["kind"] == kind]


def test_the_chart_passes_helms_own_checks(tools: Tools, everything: str, unusual: str) -> None:
    for arguments in ((), ("-f", everything), ("-f", unusual)):
        tools.helm("lint", "--strict", str(CHART), *arguments)


def test_the_api_server_takes_all_that_is_rendered(
    tools: Tools, chart: None, everything: str, unusual: str
) -> None:
    for arguments in (
        (),
        ("-f", everything),
        ("-f", unusual),
        ("--set", "networkPolicy.enabled=false"),
    ):
        # What hooks make lies in a namespace of theirs, which a dry run does not make.
        text = tools.template("-n", RELEASE_NAMESPACE, "--no-hooks", *arguments)
        taken = tools.run(
            *("kubectl", "apply", "--server-side", "--dry-run=server", "--force-conflicts"),
            *("--validate=strict", "-f-"),
            stdin=text,
        )
        assert taken.returncode == 0, taken.stderr
        assert "Warning" not in taken.stderr


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ("operator.replica=2", "additional properties 'replica' not allowed"),
        ("unknown=1", "additional properties 'unknown' not allowed"),
        ("operator.replicas=0", "minimum: got 0, want 1"),
        ("operator.replicas=two", "got string, want integer"),
        ("operator.logLevel=loud", "value must be one of"),
        ("image.pullPolicy=Sometimes", "value must be one of"),
        ("image.repository=", "minLength"),
        ("operator.resources.limits.memory=lots", "does not match pattern"),
        ("server.tls.validityDays=0", "minimum: got 0, want 20"),
        ("admissionPolicies.podFields={hostNetwork}", "value must be one of"),
        ("admissionPolicies.podFields={tolerations,tolerations}", "are equal"),
        ("fullnameOverride=Bad_Name", "does not match pattern"),
        ("image.repository=REG/Upper", "does not match pattern"),
        ("image.repository=registry.example.com/bernstein:v1", "does not match pattern"),
        ("imagePullSecrets[0].name=A_b", "does not match pattern"),
        ("operator.priorityClassName=Bad_Name!", "does not match pattern"),
        ("server.priorityClassName=a..b", "does not match pattern"),
        ("operator.resources.requests.cpu=1Q", "does not match pattern"),
        ("server.tls.existingSecret=Bad Name", "does not match pattern"),
        ("server.tls.extraNames={a..b}", "does not match pattern"),
        ("server.tls.extraNames={*.*.example.com}", "does not match pattern"),
        ("server.tls.existingSecret=a,server.tls.extraNames={b.example.com}", "take them away"),
        ("server.tls.existingSecret=a,server.tls.validityDays=30", "take them away"),
        ("networkPolicy.ingressFrom[0].podSelector.bogus=1", "'bogus' not allowed"),
        ("networkPolicy.ingressFrom[0].namespaceSelector.matchLabels.a=1", "want string"),
        ("networkPolicy.ingressFrom[0].ipBlock.except={192.0.2.0/25}", "missing property 'cidr'"),
        ("networkPolicy.ingressFrom[0].ipBlock.cidr=anywhere", "does not match pattern"),
        ("dns.peers={anywhere}", "got string, want object"),
        ("watch.namespaces={A_b}", "does not match pattern"),
        ("watch.namespaces={a,a}", "are equal"),
        ("internalRanges={0.0.0.0/0}", "does not match pattern"),
        ("dns.peers[0].podSelector.matchExpressions[0].key=a", "not allowed"),
        ("dns.peers[0].ipBlock.except={192.0.2.0/25}", "missing property 'cidr'"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_clear_words(
    tools: Tools, values: str, complaint: str
) -> None:
    refused = tools.run("helm", "template", "bernstein", str(CHART), "--set", values)

    assert refused.returncode != 0
    assert complaint in refused.stderr
    assert re.split(r"[.=[]", values)[0] in refused.stderr


def test_a_peer_is_either_addresses_or_pods(tools: Tools) -> None:
    peer = "networkPolicy.ingressFrom[0]"
    both = f"{peer}.ipBlock.cidr=192.0.2.0/24,{peer}.podSelector.matchLabels.app=a"

    refused = tools.run("helm", "template", "bernstein", str(CHART), "--set", both)

    assert "maxProperties: got 2, want 1" in refused.stderr


def test_the_crds_of_the_chart_are_the_projects_and_stay_after_it(tools: Tools) -> None:
    found = of_kind(rendered(tools), "CustomResourceDefinition")

    assert {o["metadata"]["name"]: o for o in found} == {
        d["metadata"]["name"]: d for d in map(crds.definition, crds.KINDS)
    }
    for definition in found:
        assert definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert not of_kind(rendered(tools, "--set", "crds.install=false"), "CustomResourceDefinition")


@pytest.mark.parametrize("component", ["operator", "server"])
def test_pods_meet_the_restricted_standard(
    tools: Tools, namespace: str, everything: str, component: str
) -> None:
    # The namespace's default service account is made a moment after the namespace.
    tools.kubectl("wait", "--for=create", "serviceaccount/default", "-n", namespace)
    tools.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    for arguments in ((), ("-f", everything)):
        template = _deployment(tools, component, *arguments)["spec"]["template"]
        template["spec"]["serviceAccountName"] = "default"
        pod = {"apiVersion": "v1", "kind": "Pod", **template}
        pod["metadata"] = {"name": component, "namespace": namespace}
        tools.kubectl("create", "--dry-run=server", "-f-", stdin=json.dumps(pod))


def _deployment(tools: Tools, component: str, *arguments: str) -> dict[str, Any]:
    return next(
        o
        for o in of_kind(rendered(tools, *arguments), "Deployment")
        if o["metadata"]["name"].endswith(component)
    )


@pytest.mark.parametrize("component", ["operator", "server"])
def test_containers_cannot_write_their_root_and_have_limits_and_probes(
    tools: Tools, component: str
) -> None:
    (container,) = _deployment(tools, component)["spec"]["template"]["spec"]["containers"]

    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    paths = {p: container[p]["httpGet"]["path"] for p in ("livenessProbe", "readinessProbe")}
    assert paths == {"livenessProbe": "/healthz", "readinessProbe": "/readyz"}


def test_the_server_understands_its_arguments(tools: Tools) -> None:
    (container,) = _deployment(tools, "server")["spec"]["template"]["spec"]["containers"]

    read = settings.read(container["args"], {})

    assert read.port == container["ports"][0]["containerPort"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert read.tls_cert is not None
    assert str(read.tls_cert.parent) in mounts


def test_the_operator_understands_its_arguments(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    (container,) = _deployment(tools, "operator")["spec"]["template"]["spec"]["containers"]
    monkeypatch.setattr("sys.argv", ["operator", *container["args"]])

    read = operator_arguments()

    assert read.http_port == container["ports"][0]["containerPort"]
    assert read.lease_name == "bernstein-operator"
    assert read.dns_peers == CLUSTER_DNS
    assert read.internal == PRIVATE
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(read.callback_ca.parent) in mounts


def test_the_operator_is_told_where_the_clusters_dns_is(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = '[{"ipBlock": {"cidr": "169.254.20.10/32"}}]'
    deployment = _deployment(tools, "operator", "--set-json", f"dns.peers={node}")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    monkeypatch.setattr("sys.argv", ["operator", *container["args"]])

    (peer,) = operator_arguments().dns_peers

    assert peer.dump() == {"ipBlock": {"cidr": "169.254.20.10/32"}}


def test_the_operator_is_told_which_addresses_are_the_clusters(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = _deployment(tools, "operator", "--set-json", 'internalRanges=["10.96.0.0/12"]')
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    monkeypatch.setattr("sys.argv", ["operator", *container["args"]])

    assert operator_arguments().internal == ("10.96.0.0/12",)


def test_operator_and_server_are_told_where_to_work(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = ("--set", "watch.namespaces={team-a,team-b}")
    told = {}
    for component in ("operator", "server"):
        deployment = _deployment(tools, component, *watched)
        (told[component],) = deployment["spec"]["template"]["spec"]["containers"]
    monkeypatch.setattr("sys.argv", ["operator", *told["operator"]["args"]])

    assert operator_arguments().watch == ["team-a", "team-b"]
    assert settings.read(told["server"]["args"], {}).namespaces == ("team-a", "team-b")


@pytest.mark.parametrize("peers", ["[]", "[{}]", '[{"podSelector": {"matchLabels": {}}}]'])
def test_dns_that_is_nowhere_is_refused(tools: Tools, peers: str) -> None:
    """A NetworkPolicy would take it for everywhere."""
    value = ("--set-json", f"dns.peers={peers}")

    refused = tools.run("helm", "template", "bernstein", str(CHART), *value)

    assert refused.returncode != 0
    assert "got 0, want 1" in refused.stderr


@pytest.mark.parametrize("component", ["operator", "server"])
def test_a_renewed_certificate_reaches_the_process(tools: Tools, component: str) -> None:
    """A file that is mounted alone (`subPath`) would stay as it was."""
    (container,) = _deployment(tools, component)["spec"]["template"]["spec"]["containers"]

    assert not [mount for mount in container["volumeMounts"] if "subPath" in mount]


def test_the_operator_cannot_see_the_servers_key(tools: Tools) -> None:
    volumes = _deployment(tools, "operator")["spec"]["template"]["spec"]["volumes"]

    (mounted,) = [volume["secret"] for volume in volumes if "secret" in volume]
    assert mounted["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


@pytest.mark.parametrize(("watched", "count"), [("[]", 10), ('["a", "b"]', 14)])
def test_no_role_has_a_wildcard_and_one_has_one_secret(
    tools: Tools, watched: str, count: int
) -> None:
    objects = rendered(tools, "--set-json", f"watch.namespaces={watched}")
    roles = of_kind(objects, "ClusterRole") + of_kind(objects, "Role")
    assert len(roles) == count

    for role in roles:
        for rule in role["rules"]:
            for key in ("apiGroups", "resources", "verbs"):
                assert "*" not in rule[key], role["metadata"]["name"]
            assert not {"pods/exec", "nodes"} & set(rule["resources"])
            if "secrets" in rule["resources"]:
                assert role["kind"] == "Role"
                assert role["metadata"]["name"] == "bernstein-certificates"
                assert rule["resourceNames"] == ["bernstein-server-certificate"]
                assert rule["verbs"] == ["get", "patch"]


def test_every_policy_denies_and_all_but_two_fail_closed(tools: Tools) -> None:
    objects = rendered(tools)
    policies = of_kind(objects, "ValidatingAdmissionPolicy")
    bindings = of_kind(objects, "ValidatingAdmissionPolicyBinding")

    assert {p["metadata"]["name"] for p in policies} == {b["spec"]["policyName"] for b in bindings}
    open_ = {p["metadata"]["name"] for p in policies if p["spec"]["failurePolicy"] != "Fail"}
    assert open_ == {"bernstein-connections", "bernstein-tokens"}, "they are asked about all Pods"
    assert all(b["spec"]["validationActions"] == ["Deny"] for b in bindings)
    assert len(policies) == len(POLICY_NAMES)


def test_policies_are_typed_correctly(tools: Tools, chart: None) -> None:
    """The control plane checks their expressions against the schemas and leaves warnings."""

    def ours() -> list[dict[str, Any]]:
        found = json.loads(tools.kubectl("get", "validatingadmissionpolicies", "-o", "json"))
        return [p for p in found["items"] if p["metadata"]["name"].startswith("bernstein-")]

    wait_for(lambda: all(_is_checked(policy) for policy in ours()))
    assert len(ours()) == len(POLICY_NAMES)
    for policy in ours():
        checking = policy["status"]["typeChecking"]
        assert not checking.get("expressionWarnings"), policy["metadata"]["name"]


def _is_checked(policy: dict[str, Any]) -> bool:
    seen = policy.get("status", {}).get("observedGeneration")
    return bool(seen == policy["metadata"]["generation"])


def test_an_existing_secret_is_used_instead(tools: Tools, everything: str) -> None:
    objects = rendered(tools, "-f", everything, "--no-hooks")

    assert not of_kind(objects, "Secret")
    for component in ("operator", "server"):
        volumes = _deployment(tools, component, "-f", everything)["spec"]["template"]["spec"][
            "volumes"
        ]
        names = {v["secret"]["secretName"] for v in volumes if "secret" in v}
        assert names == {"server-certificate"}


def test_the_image_is_the_one_that_was_chosen(tools: Tools, everything: str) -> None:
    for arguments, image in (
        ((), "bernstein:dev"),
        (("--set", "image.tag=v1"), "bernstein:v1"),
        (("-f", everything), f"registry.example.com/bernstein@sha256:{'0' * 64}"),
    ):
        (container,) = _deployment(tools, "operator", *arguments)["spec"]["template"]["spec"][
            "containers"
        ]
        assert container["image"] == image
        assert f"--image={image}" in container["args"]


def test_the_notes_say_what_to_do_next_and_what_is_off(tools: Tools, chart: None) -> None:
    notes = tools.helm("get", "notes", "bernstein", "-n", RELEASE_NAMESPACE)
    assert "deployment -l app.kubernetes.io/instance=bernstein" in notes
    assert "networkPolicy.ingressFrom" in notes, "where Prometheus may come from"
    assert "WARNING" not in notes

    off = tools.helm(
        *("upgrade", "--dry-run=client", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE),
        *("--set", "admissionPolicies.enabled=false,crds.install=false"),
    )
    assert "WARNING: the admission policies are off" in off
    assert "apply the files of crds/" in off
