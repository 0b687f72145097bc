"""Components that are killed come back."""

from __future__ import annotations

import pytest

from tests.e2e.cluster.machine import Machine


@pytest.mark.parametrize("component", ["kube-apiserver", "kubelet", "containerd", "network-policy"])
def test_killed_component_is_reported_and_comes_back(running: Machine, component: str) -> None:
    running.cluster("kill", component)
    status = running.status()
    dead = [entry["name"] for entry in status["components"] if not entry["running"]]
    assert (status["ready"], dead) == (False, [component])
    running.cluster("start", component)
    assert running.status()["ready"]
