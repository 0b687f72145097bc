"""A volume for caches: a folder of the node, where whoever is root may do anything."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from tests.demo import manifests
from tests.e2e.conftest import World
from tests.stack import Stack


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


@contextlib.contextmanager
def a_volume(stack: Stack) -> Iterator[Volume]:
    """Gone at the end, with the namespace of those who work in it as root."""
    made = Volume(stack, f"cache-{uuid.uuid4().hex[:6]}")
    namespace = manifests.namespace(made.namespace)
    del namespace["metadata"]["labels"]  # its pods are root's
    stack.kubectl("apply", "-f", "-", stdin=json.dumps(namespace))
    made.does(f"mkdir {made.folder} && chmod 0777 {made.folder}")
    yield made
    made.does(f"rm -rf {made.folder}")
    stack.kubectl("delete", "persistentvolume", made.folder, "--wait=false", "--ignore-not-found")
    stack.kubectl("delete", "namespace", made.namespace, "--wait=false")
