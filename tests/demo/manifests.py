"""The objects of the example as plain dictionaries, as `kubectl apply` takes them."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.demo import certificate
from tests.demo.certificate import Certificate

Object = dict[str, Any]

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/rate-limit-api"
ACCOUNTS = ("read", "work", "deliver")
GIT_PORT = 8443
LLM_PORT = 8099
OSV_PORT = 8443
REPOSITORY = "rate-limit-api"
AGENT_CONFIG = "demo-scenario"


@dataclass(frozen=True, slots=True)
class GitServer:
    """Where the git server runs, its certificate and one password per account."""

    namespace: str
    certificate: Certificate
    passwords: Mapping[str, str]
    name: str = "git-server"

    @classmethod
    def new(cls, namespace: str) -> GitServer:
        """A server with passwords and a certificate of its own."""
        host = f"git-server.{namespace}"
        names = ["git-server", host, f"{host}.svc", f"{host}.svc.cluster.local"]
        passwords = {account: secrets.token_urlsafe(18) for account in ACCOUNTS}
        return cls(namespace, certificate.issue(names), passwords)

    def url(self, repository: str = REPOSITORY) -> str:
        """Address inside the cluster."""
        return f"https://{self.name}.{self.namespace}.svc:{GIT_PORT}/git/{repository}.git"


@dataclass(frozen=True, slots=True)
class Agents:
    """Which agents the Project offers."""

    scenario: str = field(default_factory=lambda: (EXAMPLE / "scenario.yaml").read_text())
    """Script of the demo agent."""
    llm_url: str | None = None
    """Endpoint for codex (`http://HOST:8099/v1`); None: the Project has no codex."""


def namespace(name: str) -> Object:
    """A namespace where only pods of the restricted profile may run."""
    labels = {
        f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")
    }
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }


def git_server(
    server: GitServer, seeds: Mapping[str, Mapping[str, str]] | None = None
) -> list[Object]:
    """The git server with its accounts; `seeds` maps more repositories to their files' texts."""
    where = {"namespace": server.namespace}
    volumes = [
        {"name": "users", "secret": {"secretName": "git-users", "defaultMode": 0o440}},
        {"name": "tls", "secret": {"secretName": "git-tls", "defaultMode": 0o440}},
        {"name": "repositories", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
    ]
    mounts = [
        {"name": "users", "mountPath": "/etc/git-server/users", "readOnly": True},
        {"name": "tls", "mountPath": "/etc/git-server/tls", "readOnly": True},
        {"name": "repositories", "mountPath": "/srv/git"},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    objects = [
        _secret("git-users", where, server.passwords),
        _secret(
            "git-tls",
            where,
            {"tls.crt": server.certificate.certificate, "tls.key": server.certificate.key},
        ),
    ]
    for seed, files in (seeds or {}).items():
        keys = {path: f"file-{number}" for number, path in enumerate(sorted(files))}
        texts = {key: files[path] for path, key in keys.items()}
        objects.append(_config_map(f"git-seed-{seed}", where, texts))
        items = [{"key": key, "path": path} for path, key in keys.items()]
        source = {"name": f"git-seed-{seed}", "items": items}
        volumes.append({"name": f"seed-{seed}", "configMap": source})
        mounts.append({"name": f"seed-{seed}", "mountPath": f"/etc/git-server/seeds/{seed}"})
    container = {
        "image": "bernstein-git-server:dev",
        "ports": [{"containerPort": GIT_PORT}],
        "readinessProbe": {
            "httpGet": {"path": "/healthz", "port": GIT_PORT, "scheme": "HTTPS"},
            "periodSeconds": 1,
        },
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": mounts,
    }
    return [
        *objects,
        _deployment(server.name, where, container, volumes),
        _service(server.name, where, GIT_PORT),
    ]


def accounts(server: GitServer, namespace: str) -> list[Object]:
    """What a Project needs to use the server: three Secrets and the certificate authority."""
    where = {"namespace": namespace}
    return [
        *(
            _secret(
                f"git-{account}",
                where,
                {"username": account, "password": password},
                kind="kubernetes.io/basic-auth",
            )
            for account, password in server.passwords.items()
        ),
        _config_map("git-ca", where, {"ca.crt": server.certificate.ca}),
    ]


def project(server: GitServer, namespace: str, agents: Agents | None = None) -> list[Object]:
    """The Project `default` with its agents' settings."""
    agents = agents or Agents()
    where = {"namespace": namespace}
    small = {"cpu": "100m", "memory": "256Mi", "ephemeralStorage": "512Mi"}
    offered: list[Object] = [
        {
            "name": "demo",
            "adapter": "demo",
            "image": "bernstein-agent-demo:dev",
            "configMap": AGENT_CONFIG,
            "resources": small,
        }
    ]
    objects = [_config_map(AGENT_CONFIG, where, {"scenario.yaml": agents.scenario})]
    if agents.llm_url is not None:
        offered.append(
            {
                "name": "codex",
                "adapter": "codex",
                "image": "bernstein-agent-codex:dev",
                "models": {"opus": "gpt-5.5", "sonnet": "gpt-5.5", "haiku": "gpt-5.5"},
                "baseUrl": agents.llm_url,
                "apiKey": {"name": "model-key", "key": "api-key"},
                "resources": {**small, "memory": "768Mi"},
            }
        )
        objects.append(_secret("model-key", where, {"api-key": "sk-stub"}))
    spec = {
        "repositories": [
            {
                "name": "api",
                "url": server.url(),
                "credentials": {a: {"secretName": f"git-{a}"} for a in ACCOUNTS},
                "ca": {"name": "git-ca", "key": "ca.crt"},
            }
        ],
        "agents": offered,
        "defaultAgent": "demo",
        "toolchain": {"image": "bernstein-toolchain:dev", "resources": small},
        "merge": {"strategy": "direct"},
        "network": {"git": [_only(server)]},
    }
    return [
        *objects,
        {
            "apiVersion": "bernstein.dev/v1alpha1",
            "kind": "Project",
            "metadata": {**where, "name": "default"},
            "spec": spec,
        },
    ]


def _only(server: GitServer) -> Object:
    """A rule of NetworkPolicy for nothing but the git server's pods."""
    namespace = {"matchLabels": {"kubernetes.io/metadata.name": server.namespace}}
    pods = {"matchLabels": {"app": server.name}}
    return {
        "to": [{"namespaceSelector": namespace, "podSelector": pods}],
        "ports": [{"port": GIT_PORT}],
    }


def stub_llm(
    namespace: str,
    scenarios: str,
    name: str = "stub-llm",
    certificate: Certificate | None = None,
) -> list[Object]:
    """The scripted LLM endpoint; `scenarios` is the text of its script. With a certificate it
    speaks TLS."""
    where = {"namespace": namespace}
    container: Object = {
        "image": "bernstein-stub-llm:dev",
        "ports": [{"containerPort": LLM_PORT}],
        "readinessProbe": {
            "httpGet": {"path": "/__stub/healthz", "port": LLM_PORT},
            "periodSeconds": 1,
        },
        "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "volumeMounts": [{"name": "scenarios", "mountPath": "/etc/stub-llm", "readOnly": True}],
    }
    volumes: list[Object] = [{"name": "scenarios", "configMap": {"name": f"{name}-scenarios"}}]
    secrets: list[Object] = []
    if certificate is not None:
        pair = {"tls.crt": certificate.certificate, "tls.key": certificate.key}
        secrets.append(_secret(f"{name}-tls", where, pair))
        secret = {"secretName": f"{name}-tls", "defaultMode": 0o440}
        volumes.append({"name": "tls", "secret": secret})
        container["volumeMounts"].append({"name": "tls", "mountPath": "/etc/stub-llm-tls"})
        container["readinessProbe"]["httpGet"]["scheme"] = "HTTPS"
        script = "/etc/stub-llm/scenarios.yaml"
        anywhere = "0.0.0.0"  # noqa: S104 - of its pod
        serve = ("python3", "-m", "tests.stub_llm", "--host", anywhere, "--scenarios", script)
        container["command"] = [*serve, "--tls", "/etc/stub-llm-tls"]
    return [
        *secrets,
        _config_map(f"{name}-scenarios", where, {"scenarios.yaml": scenarios}),
        _deployment(name, where, container, volumes),
        _service(name, where, LLM_PORT),
    ]


def osv(namespace: str, certificate: Certificate) -> list[Object]:
    """A database of weaknesses that answers over TLS."""
    where, name = {"namespace": namespace}, "osv"
    program = Path(__file__).parents[1] / "programs" / "osv.py"
    container: Object = {
        "image": "bernstein-toolchain:dev",
        "command": ["python3", "/etc/osv/osv.py", "/etc/osv-tls", str(OSV_PORT)],
        "ports": [{"containerPort": OSV_PORT}],
        "readinessProbe": {"tcpSocket": {"port": OSV_PORT}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "volumeMounts": [
            {"name": "program", "mountPath": "/etc/osv", "readOnly": True},
            {"name": "tls", "mountPath": "/etc/osv-tls"},
        ],
    }
    pair = {"tls.crt": certificate.certificate, "tls.key": certificate.key}
    volumes: list[Object] = [
        {"name": "program", "configMap": {"name": "osv"}},
        {"name": "tls", "secret": {"secretName": "osv-tls", "defaultMode": 0o440}},
    ]
    return [
        _secret("osv-tls", where, pair),
        _config_map("osv", where, {"osv.py": program.read_text()}),
        _deployment(name, where, container, volumes),
        _service(name, where, OSV_PORT),
    ]


def llm_url(namespace: str, run: str = "", name: str = "stub-llm") -> str:
    """Address of the scripted endpoint; requests of different `run` are kept apart."""
    prefix = f"/{run}" if run else ""
    return f"http://{name}.{namespace}.svc:{LLM_PORT}{prefix}/v1"


def demo(namespace_name: str, agents: Agents | None = None) -> tuple[GitServer, list[Object]]:
    """All of the example but its Plan, in one namespace."""
    server = GitServer.new(namespace_name)
    return server, [
        namespace(namespace_name),
        *git_server(server),
        *accounts(server, namespace_name),
        *project(server, namespace_name, agents),
    ]


def as_list(objects: Sequence[Object]) -> str:
    """One document for `kubectl apply -f -`."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _secret(name: str, where: Object, data: Mapping[str, str], kind: str = "Opaque") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {**where, "name": name},
        "type": kind,
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
    }


def _config_map(name: str, where: Object, data: Mapping[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**where, "name": name},
        "data": dict(data),
    }


def _service(name: str, where: Object, port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**where, "name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": port}]},
    }


def _deployment(name: str, where: Object, container: Object, volumes: list[Object]) -> Object:
    container = {
        "name": name,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        **container,
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "fsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # Nothing here needs to end slowly.
        "terminationGracePeriodSeconds": 5,
        "containers": [container],
        "volumes": volumes,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**where, "name": name},
        "spec": {
            "replicas": 1,
            # Its repositories live in the pod: never two at a time.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
        },
    }
