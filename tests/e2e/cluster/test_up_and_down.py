"""Bringing the cluster up again, beside others, and down: the last file, so that what every other
test left has to go as well.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.cluster.layout import cluster_id
from tests.cluster.machine.paths import runtime_folder
from tests.e2e.cluster.machine import Machine, pod


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
