"""Code that says what it can connect to, where it runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from tests.e2e.conftest import Object, World, state
from tests.stack import SYSTEM

API, SERVER = "kubernetes.default.svc:443", f"bernstein-server.{SYSTEM}.svc:8052"
PROBE = """
import socket, sys
for place in sys.argv[1:]:
    host, _, port = place.rpartition(":")
    address = socket.gethostbyname(host)
    try:
        socket.create_connection((address, int(port)), 3).close()
    except OSError:
        print("not", place)
    else:
        print("reached", place)
"""
"""Says which places it can connect to; fails when a name cannot be looked up."""


def probe(*places: str) -> str:
    return shlex.join(["python3", "-c", PROBE, *places])


def by_a_check(world: World, *places: str) -> list[str]:
    """What a check's command says; it fails on purpose, so that the verdict tells."""
    signal = {"type": "test_passes", "command": f"{probe(*places)}; exit 1"}
    world.task("good", maxRetries=0, completionSignals=[signal])
    task = world.await_("task", "good", lambda t: state(t) == "Failed")
    (told,) = (c for c in task["status"]["verification"]["checks"] if c["kind"] == "signal")
    assert told["verdict"] == "Failed", told
    exit_code, *said = str(told["excerpt"]).splitlines()
    assert exit_code == "exit code 1"
    return said


def stranger(
    namespace: str, command: str, name: str = "stranger", labels: Mapping[str, str] | None = None
) -> Object:
    """A pod of nobody's session that runs the command; `labels` may be those that policies ask
    for."""
    container = {
        "name": "probe",
        "image": "bernstein-toolchain:dev",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", command],
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
        "metadata": {"name": name, "namespace": namespace, "labels": {**(labels or {})}},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [container],
        },
    }
