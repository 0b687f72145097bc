"""A machine for one cluster: a network namespace and a cache of its own, beside whatever cluster
the other tests use; only the builds are shared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.machine.paths import REPOSITORY
from tests.cluster.processes.process import wait_until

IMAGE = "probe:1"
SHIM_SOCKETS = Path("/run/containerd/s")


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
            lambda: self.pod(name)["status"]["phase"] in phases, timeout=120, interval=0.3
        ), self.pod(name)["status"]
        return self.pod(name)

    def wait_answer(self, *hosts: str) -> None:
        """Until somebody listens there: a container runs before its program does."""
        probe = str(ensure_binaries().path("probe"))
        for host in hosts:
            self.inside(probe, "get", f"http://{host}", "60")

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
