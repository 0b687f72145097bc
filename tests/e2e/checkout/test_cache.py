"""A cache of the repository on a real volume: filled by its Job, copied by checkouts, and no more
than a hint."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.demo import manifests
from tests.e2e.conftest import EXISTS, MakeWorld, World, condition, does, writing
from tests.stack import Stack

Object = dict[str, Any]


@dataclass(frozen=True)
class Volume:
    """A folder of the node, and whoever may do anything there."""

    stack: Stack
    namespace: str

    @property
    def folder(self) -> str:
        return f"bernstein-{self.namespace}"

    def does(self, command: str) -> None:
        """Run this as root in the folder's parent."""
        name = f"root-{uuid.uuid4().hex[:6]}"
        container = {
            "name": "root",
            "image": "bernstein-toolchain:dev",
            "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-ec", f"cd /node && {command}"],
            "securityContext": {"runAsUser": 0},
            "volumeMounts": [{"name": "node", "mountPath": "/node"}],
        }
        node = {"name": "node", "hostPath": {"path": "/var/tmp"}}
        spec = {"restartPolicy": "Never", "containers": [container], "volumes": [node]}
        where = {"name": name, "namespace": self.namespace}
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": where, "spec": spec}
        self.stack.kubectl("apply", "-f", "-", stdin=json.dumps(made))
        ended = "--for=jsonpath={.status.phase}=Succeeded"
        self.stack.kubectl("-n", self.namespace, "wait", f"pod/{name}", ended, "--timeout=120s")

    def claim(self, here: World) -> None:
        """A claim `caches` in the world's namespace, bound to the folder."""
        common = {"storageClassName": "", "accessModes": ["ReadWriteMany"]}
        room = {"storage": "1Gi"}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": self.folder},
            "spec": {
                **common,
                "capacity": room,
                "hostPath": {"path": f"/var/tmp/{self.folder}"},
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"name": "caches", "namespace": here.namespace},
            },
        }
        self.stack.kubectl("apply", "-f", "-", stdin=json.dumps(volume))
        here.apply(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "caches"},
                "spec": {**common, "resources": {"requests": room}, "volumeName": self.folder},
            }
        )


@pytest.fixture
def volume(stack: Stack) -> Iterator[Volume]:
    made = Volume(stack, f"cache-{uuid.uuid4().hex[:6]}")
    namespace = manifests.namespace(made.namespace)
    del namespace["metadata"]["labels"]  # its pods are root's
    stack.kubectl("apply", "-f", "-", stdin=json.dumps(namespace))
    made.does(f"mkdir {made.folder} && chmod 0777 {made.folder}")
    yield made
    made.does(f"rm -rf {made.folder}")
    stack.kubectl("delete", "persistentvolume", made.folder, "--wait=false", "--ignore-not-found")
    stack.kubectl("delete", "namespace", made.namespace, "--wait=false")


def _cached(spec: Object) -> None:
    spec["repositories"][0]["cache"] = {"claim": "caches", "refreshSeconds": 3600}


def _known(project: Object) -> Object:
    found: Object
    (found,) = project["status"]["caches"]
    return found


def _checkout(here: World, task: str) -> str:
    """What the checkout of its agent has logged."""
    here.closed(task)
    return here.kubectl("logs", f"job/{task}-s1", "-c", "checkout")


def test_checkouts_copy_what_the_cache_has_and_fetch_it_where_it_is_missing_or_spoilt(
    world: MakeWorld, volume: Volume
) -> None:
    names = ("first", "second", "third")
    here = world([does(n, writing(f"{n}.py", f"NAME = {n!r}\n")) for n in names], _cached)
    name = here.project["metadata"]["name"]

    def task(which: str) -> str:
        return here.task(which, completionSignals=[{**EXISTS, "path": f"{which}.py"}])

    # There is no claim: work goes on, and the Project says what is missing.
    assert '"cache-' not in _checkout(here, task("first"))
    lacking = here.await_("project", name, lambda p: bool(condition(p, "CacheNotFilled")))
    told = condition(lacking, "CacheNotFilled")
    assert told["reason"] == "ClaimNotFound"
    assert "'caches' is not in the namespace" in told["message"]

    volume.claim(here)
    filled = here.await_("project", name, lambda p: "content" in _known(p))
    known = _known(filled)
    assert known["content"]["commit"] in here.on_server("rev-list", "main").split()
    assert not condition(filled, "CacheNotFilled")
    log = _checkout(here, task("second"))
    assert '"cache-used"' in log
    assert known["content"]["commit"] in log
    (agent,) = [
        each
        for each in here.all("pods")
        if each["metadata"]["labels"].get("bernstein.dev/session") == "second-s1"
        and each["metadata"]["labels"]["bernstein.dev/job"] == "agent"
    ]
    mounting = [
        each["name"]
        for each in (*agent["spec"]["initContainers"], *agent["spec"]["containers"])
        if any(mount["name"] == "cache" for mount in each["volumeMounts"])
    ]
    assert mounting == ["checkout"]

    # Whoever may write there changes one byte.
    pack = f"{volume.folder}/{known['folder']}/{known['content']['pack']['name']}"
    volume.does(f"printf x | dd of={pack} bs=1 seek=40 conv=notrunc")
    log = _checkout(here, task("third"))
    assert '"cache-not-used"' in log
    assert "is another one than was put there" in log
    assert {f"{each}.py" for each in names} <= {*here.files()}
