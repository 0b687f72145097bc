"""The audit log tells of every write."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.control_plane.audit import position, writes
from tests.e2e.cluster.machine import Machine


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
