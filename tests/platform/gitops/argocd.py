"""Argo CD as processes of this machine: its application controller and repo server, with Redis.

They work on a real API server with the rights and accounts of Argo CD's own installation. Its API
server is not run: tests write what that would, Applications and operations.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.background import wait_for
from tests.cluster.binaries.programs import GITOPS
from tests.cluster.machine.packages import program
from tests.control_plane.conftest import Tools
from tests.platform.gitops import customizations

NAMESPACE = "argocd"
CONTROLLER, SERVER = "argocd-application-controller", "argocd-server"
"""Its accounts."""
IN_CLUSTER = "https://kubernetes.default.svc"
START_SECONDS = 60.0
_LABELS = {"app.kubernetes.io/part-of": "argocd"}
_KUSTOMIZE = """\
#!/bin/sh
# What Argo CD calls of kustomize, by the one in kubectl.
case "$1" in
version) echo "v5.7.1" ;;
build) shift && exec {kubectl} kustomize "$@" ;;
*) exit 64 ;;
esac
"""


def free_ports(number: int) -> list[int]:
    """Ports that differ: each is held until all are chosen."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@dataclass
class ArgoCD:
    folder: Path
    tools: Tools
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def install(self) -> None:
        """What its manifests bring: kinds, settings, accounts and a project."""
        crds = GITOPS.ensure().parent / "manifests" / "crds"
        for kind in ("application", "appproject"):
            self._apply_file(crds / f"{kind}-crd.yaml")
        wait_for(self._knows_applications)
        for obj in _installation():
            self.tools.kubectl("apply", "--server-side", "-f-", stdin=json.dumps(obj))

    def _knows_applications(self) -> bool:
        """At first a CRD has no conditions, which `kubectl wait` takes for an error."""
        kinds = ("crd/applications.argoproj.io", "crd/appprojects.argoproj.io")
        established = ("wait", "--for=condition=Established", "--timeout=10s")
        return self.tools.run("kubectl", *established, *kinds).returncode == 0

    def remove(self) -> None:
        self.tools.kubectl("delete", "namespace", NAMESPACE, "--timeout=60s")
        self.tools.kubectl("delete", "clusterrolebinding", NAMESPACE)

    def start(self) -> None:
        """Returns when its parts answer."""
        redis, repositories, *metrics = free_ports(4)
        self._run(
            *(program("redis-server"), "--port", str(redis), "--bind", "127.0.0.1"),
            *("--save", "", "--appendonly", "no", "--dir", str(self.folder)),
        )
        self._run(
            *(str(GITOPS.ensure()), "argocd-repo-server", "--disable-tls"),
            *("--address", "127.0.0.1", "--port", str(repositories)),
            *("--metrics-address", "127.0.0.1", "--metrics-port", str(metrics[0])),
            *("--redis", f"127.0.0.1:{redis}", "--revision-cache-expiration", "1s"),
        )
        self._await_port(repositories)
        self._run(
            *(str(GITOPS.ensure()), CONTROLLER, "--namespace", NAMESPACE),
            *("--kubeconfig", str(self._kubeconfig()), "--metrics-port", str(metrics[1])),
            *("--repo-server", f"127.0.0.1:{repositories}", "--repo-server-plaintext"),
            *("--redis", f"127.0.0.1:{redis}", "--app-resync", "2"),
            *("--persist-resource-health", "--self-heal-timeout-seconds", "1"),
        )

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def _run(self, *command: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self._environment(),
                    cwd=self.folder,
                )
            )

    def _environment(self) -> Mapping[str, str]:
        programs, data = self.folder / "bin", self.folder / "data"
        programs.mkdir(exist_ok=True)
        data.mkdir(exist_ok=True)
        kustomize = programs / "kustomize"
        if not kustomize.exists():
            kustomize.write_text(_KUSTOMIZE.format(kubectl=self.tools.folder / "kubectl"))
            kustomize.chmod(kustomize.stat().st_mode | stat.S_IXUSR)
        return {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PATH": f"{programs}:{self.tools.folder}:{os.environ['PATH']}",
            "KUBECONFIG": str(self.folder / "kubeconfig"),
            "ARGOCD_FAKE_IN_CLUSTER": "true",
            "ARGOCD_GPG_ENABLED": "false",
            "ARGOCD_TLS_DATA_PATH": str(data),
            "ARGOCD_SSH_DATA_PATH": str(data),
            "ARGOCD_ASK_PASS_SOCK": str(self.folder / "askpass.sock"),
            # The tests' repositories belong to whoever runs the tests.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }

    def _kubeconfig(self) -> Path:
        """With the account that its controller has."""
        path = self.folder / "kubeconfig"
        shutil.copyfile(self.tools.kubeconfig, path)
        token = self.tools.kubectl(
            *("create", "token", CONTROLLER, "-n", NAMESPACE, "--duration=2h")
        ).strip()
        own = Tools(self.tools.folder, path)
        own.kubectl("config", "set-credentials", CONTROLLER, f"--token={token}")
        own.kubectl("config", "set-context", "--current", f"--user={CONTROLLER}")
        return path

    def _await_port(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            if time.monotonic() > deadline or self.processes[-1].poll() is not None:
                raise RuntimeError(self.log()[-2000:])
            time.sleep(0.1)

    def _apply_file(self, path: Path) -> None:
        self.tools.kubectl("apply", "--server-side", "-f", str(path))


def application(name: str, repository: Path, path: str, namespace: str) -> dict[str, Any]:
    """One that is synced when it is asked to be."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "project": "default",
            "source": {"repoURL": f"file://{repository}", "path": path, "targetRevision": "main"},
            "destination": {"server": IN_CLUSTER, "namespace": namespace},
        },
    }


@contextlib.contextmanager
def installed(folder: Path, tools: Tools) -> Iterator[ArgoCD]:
    """Its kinds and accounts are there; nothing of it runs before `start`."""
    argocd = ArgoCD(folder, tools)
    argocd.install()
    try:
        yield argocd
    finally:
        argocd.stop()
        argocd.remove()


def _installation() -> list[dict[str, Any]]:
    def of(kind: str, name: str, version: str = "v1", **more: Any) -> dict[str, Any]:
        metadata = {"name": name, "namespace": NAMESPACE, "labels": _LABELS}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}

    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        of("ConfigMap", "argocd-cm", data=customizations.data()),
        of("Secret", "argocd-secret", stringData={"server.secretkey": "of tests"}),
        of("ServiceAccount", CONTROLLER),
        of("ServiceAccount", SERVER),
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": NAMESPACE},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [
                {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}
                for name in (CONTROLLER, SERVER)
            ],
        },
        of(
            "AppProject",
            "default",
            "argoproj.io/v1alpha1",
            spec={
                "sourceRepos": ["*"],
                "destinations": [{"namespace": "*", "server": "*"}],
                "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
            },
        ),
    ]
