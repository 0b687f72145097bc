"""The example's CronJob has tokens of an app made in a real pod, and may do nothing besides."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from bernstein.core import labels
from tests.background import wait_for
from tests.demo import certificate, manifests
from tests.demo.certificate import Certificate
from tests.demo.manifests import GitServer
from tests.e2e.conftest import Object, World
from tests.e2e.forges.inside.container import Container, needs_root, running
from tests.e2e.refs import app_server
from tests.stack import Stack, dns_peers
from tests.unit.docs.pages import ROOT

EXAMPLE = ROOT / "docs/examples/github-app/minter.yaml"
IMAGE = "bernstein:dev"
APPS = {"github-app-works": "1234567", "github-app-delivers": "1234568"}
"""The Secret of each one's key, and its id."""
MINTED = {
    "git-read": "1234567-contents-read",
    "git-work": "1234567-contents-write",
    "git-deliver": "1234568-contents-write",
    "forge-token": "1234568-",
}
"""How the token of each Secret begins."""
ACCOUNT = "github-app-minter"
PATCHES = "token for https://kubernetes.default.svc"


@pytest.fixture(scope="module")
def here(stack: Stack) -> Iterator[World]:
    """A namespace with the example as it stands, but for addresses, and with two Secrets that are
    none of the minter's business."""
    namespace = f"minter-{uuid.uuid4().hex[:6]}"
    world = World(stack, GitServer(namespace, Certificate("", "", ""), {}), namespace, "")
    issued = certificate.issue([f"forge.{namespace}.svc"])
    stack.kubectl("apply", "-f", "-", stdin=json.dumps(manifests.namespace(namespace)))
    world.apply(*forge(issued, namespace), secret("other", token="somebody-s"))
    world.kubectl("rollout", "status", "deployment/forge", "--timeout=120s")
    world.apply(*example(stack, namespace))
    yield world
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


def secret(name: str, **content: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": content}


def forge(issued: Certificate, namespace: str) -> list[Object]:
    """What plays it, the keys of both apps for it and for the minter, and its authority."""
    served = {"tls.crt": issued.certificate, "tls.key": issued.key}
    keys = []
    for name, app in APPS.items():
        key = generate_private_key(65537, 2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        keys.append(secret(name, **{"private-key.pem": pem.decode()}))
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        served[f"{app}.pem"] = public.decode()
    script = {"serve.py": Path(str(app_server.__file__)).read_text()}
    container = {
        "name": "forge",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "/script/serve.py"],
        "readinessProbe": {"tcpSocket": {"port": app_server.PORT}, "periodSeconds": 1},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {"name": "script", "mountPath": "/script"},
            {"name": "served", "mountPath": str(app_server.FOLDER)},
        ],
    }
    spec = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [
            {"name": "script", "configMap": {"name": "forge-script"}},
            {"name": "served", "secret": {"secretName": "forge-served", "defaultMode": 0o444}},
        ],
    }
    own = {"app": "forge"}
    return [
        *keys,
        secret("forge-served", **served),
        config_map("forge-script", script),
        config_map("forge-ca", {"ca.crt": issued.ca}),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "forge"},
            "spec": {
                "selector": {"matchLabels": own},
                "template": {"metadata": {"labels": own}, "spec": spec},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "forge"},
            "spec": {"selector": own, "ports": [{"port": app_server.PORT}]},
        },
    ]


def config_map(name: str, data: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def example(stack: Stack, namespace: str) -> list[Object]:
    """With our image, the forge's address and authority, where DNS and the API server are, and each
    minute."""
    documents: list[Object] = list(yaml.safe_load_all(EXAMPLE.read_text()))
    for each in documents:
        if each["kind"] == "NetworkPolicy":
            dns, servers = each["spec"]["egress"]
            dns["to"] = json.loads(dns_peers(stack) or json.dumps(dns["to"]))
            servers["ports"].append({"port": api_port(stack), "protocol": "TCP"})
        for subject in each.get("subjects", ()):
            subject["namespace"] = namespace
    cron = documents[-1]
    cron["spec"]["schedule"] = "* * * * *"
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    pod["volumes"].append({"name": "forge-ca", "configMap": {"name": "forge-ca"}})
    where = f"https://forge.{namespace}.svc:{app_server.PORT}"
    for container in pod["containers"]:
        container["image"], container["imagePullPolicy"] = IMAGE, "IfNotPresent"
        container["volumeMounts"].append({"name": "forge-ca", "mountPath": "/forge-ca"})
        config = json.loads(container["args"][0])
        config |= {"url": f"{where}/team-a/app.git", "ca_file": "/forge-ca/ca.crt"}
        container["args"] = [json.dumps(config)]
    return documents


def api_port(stack: Stack) -> int:
    """The API server's own, which policies see behind its Service."""
    found = stack.kubectl("get", "endpoints", "kubernetes", "-n", "default", "-o", "json")
    return int(json.loads(found)["subsets"][0]["ports"][0]["port"])


def content(here: World, name: str) -> dict[str, str]:
    data = here.get("secret", name).get("data") or {}
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def may(here: World, verb: str, what: str) -> bool:
    user = f"--as=system:serviceaccount:{here.namespace}:{ACCOUNT}"
    return here.kubectl("auth", "can-i", verb, what, user, check=False).strip() == "yes"


def test_the_cronjob_fills_each_secret_with_the_token_of_its_account(here: World) -> None:
    for name, begins in MINTED.items():
        here.await_("secret", name, lambda s: labels.EXPIRES in s["metadata"]["annotations"])
        told = content(here, name)
        if name == "forge-token":
            assert set(told) == {"token"}
        else:
            assert set(told) == {"username", "password"}
            assert told["username"] == "x-access-token"
        assert told.get("password", told.get("token", "")).startswith(f"ghs_{begins}")

    asked = [json.loads(row) for row in here.kubectl("logs", "deploy/forge").splitlines()]
    assert {each["app"] for each in asked} == set(APPS.values())
    assert {tuple(each["repositories"]) for each in asked} == {("app",)}
    assert content(here, "other") == {"token": "somebody-s"}


def test_each_of_its_containers_finds_the_key_of_its_app_and_the_token_that_patches_alone(
    here: World,
) -> None:
    needs_root()
    keys = {name: content(here, name)["private-key.pem"].splitlines()[1] for name in APPS}
    hold = ("exec", "deploy/forge", "--")
    here.kubectl(*hold, "touch", str(app_server.HOLD))
    found = dict[str, Container]()

    def all_run() -> bool:
        pods = {
            pod["metadata"]["uid"]
            for pod in here.all("pods")
            if pod["metadata"]["labels"].get("app") == ACCOUNT
        }
        found.clear()
        found.update({each.name: each for each in running() if each.pod in pods})
        return {"works", "delivers"} <= found.keys()

    wait_for(all_run, 120)
    held = {name: each.holds(keys) for name, each in found.items()}
    here.kubectl(*hold, "rm", str(app_server.HOLD))

    token = {PATCHES: frozenset({"/run/secrets/kubernetes.io/serviceaccount"})}
    assert held == {
        "works": {"github-app-works": frozenset({"/app-key"}), **token},
        "delivers": {"github-app-delivers": frozenset({"/app-key"}), **token},
    }


def test_no_token_and_no_key_is_in_its_logs_or_its_end(here: World) -> None:
    here.await_("secret", "forge-token", lambda s: labels.EXPIRES in s["metadata"]["annotations"])
    pods = [pod for pod in here.all("pod") if pod["metadata"]["labels"].get("app") == ACCOUNT]
    assert pods
    for pod in pods:
        name = pod["metadata"]["name"]
        said = here.kubectl("logs", name, "--all-containers", check=False) + json.dumps(pod)
        assert "ghs_" not in said
        assert "PRIVATE KEY" not in said


def test_its_account_may_patch_these_secrets_and_nothing_else(here: World) -> None:
    assert all(may(here, "patch", f"secret/{name}") for name in MINTED)
    for verb in ("get", "list", "watch", "create", "update", "delete"):
        assert not any(may(here, verb, f"secret/{name}") for name in MINTED), verb
    for name in ("other", *APPS):
        assert not may(here, "patch", f"secret/{name}")
    for what in ("secrets", "pods", "configmaps", "jobs.batch", "projects.bernstein.dev"):
        for verb in ("get", "list", "create", "patch", "delete"):
            assert not may(here, verb, what), (verb, what)
