"""Whom a real kubelet evicts where inodes run out, by what the pod requests that takes them.

The kubelet's folder is a small file system with few inodes. It counts the files of a volume every
5 to 10 s, not every one to two minutes: what is made in between is nobody's.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.api.project import Resources
from bernstein.controllers.jobs.pod import Object, their_resources
from tests.cluster.processes.process import wait_until
from tests.e2e.cluster.machine import IMAGE, Machine, pod

INODES = 60_000
FEW, NONE, WITHOUT_END = "few", "none", "without-end"
MAKES = {
    FEW: "seq 2000 | xargs touch",
    NONE: "true",
    WITHOUT_END: "seq 10000000 | xargs -n 2000 sh -c 'touch \"$@\"; sleep 1' 2>/dev/null",
}
"""By pod: how it makes files. That there is no room for more ends none."""
PROGRAMS = [name for name in ("usr", "bin", "lib", "lib64") if Path("/", name).is_dir()]
"""Folders of the machine: the image of the probe has no shell."""
EVICTION: Object = {
    "evictionHard": {"nodefs.inodesFree": "20%"},
    "evictionPressureTransitionPeriod": "1s",
    "volumeStatsAggPeriod": "5s",
}


@pytest.fixture
def small(running: Machine) -> Iterator[Machine]:
    """The machine with a kubelet that has few inodes."""
    state = running.cache / "bernstein" / "clusters" / "local" / "state"
    config = state / "kubelet.json"
    options = f"nr_inodes={INODES},size=512m"
    try:
        running.cluster("kill", "kubelet")
        mount = ("mount", "-t", "tmpfs", "-o", options, "inodes", str(state / "kubelet"))
        subprocess.run(mount, check=True)
        config.write_text(json.dumps(json.loads(config.read_text()) | EVICTION))
        running.cluster("start", "kubelet")
        yield running
    finally:
        running.cluster("down", "--provider", "local")


def makes_files(name: str, resources: Object) -> Object:
    """The pod of that name. What it makes lies on the node's disk."""
    container = {
        "name": "main",
        "image": IMAGE,
        "command": ["/bin/sh", "-c", f"cd /made; {MAKES[name]}; sleep 600"],
        "resources": resources,
        "volumeMounts": [
            {"name": "made", "mountPath": "/made"},
            *({"name": p, "mountPath": f"/{p}", "readOnly": True} for p in PROGRAMS),
        ],
    }
    volumes = [
        {"name": "made", "emptyDir": {}},
        *({"name": p, "hostPath": {"path": f"/{p}"}} for p in PROGRAMS),
    ]
    return pod(name, containers=[container], volumes=volumes, terminationGracePeriodSeconds=1)


def first_evicted(machine: Machine, **requests: str) -> str:
    """The pod that goes first where the greedy one requests what ours do, but for these."""
    resources = their_resources(Resources())
    resources["requests"] |= requests
    machine.apply(makes_files(FEW, {}), makes_files(NONE, {}))
    for name in (FEW, NONE):
        machine.wait_phase(name, "Running")
    machine.apply(makes_files(WITHOUT_END, resources))

    def evicted() -> list[str]:
        pods = json.loads(machine.kubectl("get", "pods", "-o", "json"))["items"]
        return [p["metadata"]["name"] for p in pods if p["status"].get("reason") == "Evicted"]

    assert wait_until(lambda: evicted() != [], timeout=120, interval=0.5)
    (first,) = evicted()
    return first


def is_pressed(machine: Machine) -> bool:
    (node,) = json.loads(machine.kubectl("get", "nodes", "-o", "json"))["items"]
    return holds(node, "DiskPressure")


def holds(found: Object, condition: str) -> bool:
    told = found["status"]["conditions"]
    return {"True"} == {one["status"] for one in told if one["type"] == condition}


def test_who_makes_files_without_end_goes_first_and_nobody_after_it(small: Machine) -> None:
    assert first_evicted(small) == WITHOUT_END

    gone = small.pod(WITHOUT_END)
    assert "low on resource: inodes" in gone["status"]["message"]
    assert holds(gone, "DisruptionTarget"), "so a check is Disrupted"
    assert wait_until(lambda: not is_pressed(small), timeout=60, interval=0.5)
    for name in (FEW, NONE):
        assert small.pod(name)["status"]["phase"] == "Running"


def test_where_it_requests_more_bytes_than_it_makes_files_another_one_goes_first(
    small: Machine,
) -> None:
    assert first_evicted(small, **{"ephemeral-storage": "64Mi"}) == FEW
