"""What clusters do with containerd through its own client `ctr`."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tests.cluster.errors import ClusterError
from tests.cluster.local import image_archive
from tests.cluster.machine.packages import find_program, program
from tests.cluster.processes.process import run
from tests.cluster.progress import say, step

NAMESPACE = "k8s.io"


class Containerd:
    """One containerd, by its socket and its image store."""

    def __init__(self, socket: Path, image_store: Path) -> None:
        self._socket = socket
        self._loaded = image_store / "loaded.json"

    def answers(self) -> bool:
        """Whether it serves requests, its CRI plugin included."""
        try:
            return any(
                line.split()[:2] == ["io.containerd.grpc.v1", "cri"] and line.split()[-1] == "ok"
                for line in self._ctr("plugins", "list").splitlines()
            )
        except (ClusterError, subprocess.TimeoutExpired):
            return False

    def containers(self) -> list[str]:
        """IDs of all containers, running or not."""
        return self._ctr("containers", "list", "--quiet").split()

    def remove_containers(self) -> None:
        """Delete every task and container with its snapshot; images stay."""
        if tasks := self._ctr("tasks", "list", "--quiet").split():
            with contextlib.suppress(ClusterError):  # a task may end in between
                self._ctr("tasks", "delete", "--force", *tasks)
        if containers := self.containers():
            self._ctr("containers", "delete", *containers)

    def kill(self, pod: str, container: str, namespace: str) -> None:
        """Kill a running container's first process; ClusterError ContainerNotFound."""
        labels = {"pod.name": pod, "pod.namespace": namespace, "container.name": container}
        query = ",".join(f'labels."io.kubernetes.{key}"=={value}' for key, value in labels.items())
        found = set(self._ctr("containers", "list", "--quiet", query).split())
        tasks = [line.split() for line in self._ctr("tasks", "list").splitlines()]
        running = [task[0] for task in tasks if task[0] in found and task[-1] == "RUNNING"]
        if not running:
            raise ClusterError(
                "ContainerNotFound",
                f"no running container {container} in pod {namespace}/{pod}",
                "see its state with: kubectl get pod -o yaml",
            )
        for task in running:
            self._ctr("tasks", "kill", "--signal", "SIGKILL", task)

    def events(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Writes a line for each event, until the process is ended."""
        return subprocess.Popen(self._command("events"), stdout=output)

    def load(self, source: str) -> None:
        """Import an image archive, or a Docker engine's image, unless it is there already."""
        path = Path(source)
        if path.is_file():
            self._import_if_new(image_archive.contents(path), path)
            return
        reference = image_archive.full_name(source)
        digest = _docker_image_id(source)
        if self._is_new({reference: digest}):
            with tempfile.TemporaryDirectory(dir=self._loaded.parent) as folder:
                archive = Path(folder) / "image.tar"
                run([docker(), "save", "--output", str(archive), source], timeout=600)
                self._import_if_new(image_archive.contents(archive), archive)
        else:
            say(f"{source} is loaded already")

    def _import_if_new(self, images: dict[str, str], archive: Path) -> None:
        names = ", ".join(images)
        if not self._is_new(images):
            say(f"{names}: loaded already")
            return
        with step(f"loading {names}"):
            self._ctr("images", "import", str(archive), timeout=600)
        loaded = {**self._load_record(), **images}
        self._loaded.write_text(json.dumps(loaded, indent=1))

    def _is_new(self, images: dict[str, str]) -> bool:
        loaded = self._load_record()
        present = self._ctr("images", "list", "--quiet").split()
        return any(
            name not in present or loaded.get(name) != digest for name, digest in images.items()
        )

    def _load_record(self) -> dict[str, str]:
        try:
            record = json.loads(self._loaded.read_text())
        except FileNotFoundError:
            return {}
        return {str(name): str(digest) for name, digest in record.items()}

    def _ctr(self, *arguments: str, timeout: float = 60) -> str:
        return run(self._command(*arguments), timeout=timeout)

    def _command(self, *arguments: str) -> list[str]:
        client = [program("ctr"), "--address", str(self._socket), "--namespace", NAMESPACE]
        return [*client, *arguments]


def docker() -> str:
    """Docker's client; Debian's own first, because it fits Debian's engine."""
    debian = Path("/usr/bin/docker")
    found = str(debian) if debian.exists() else find_program("docker")
    if found is None:
        raise ClusterError(
            "DockerMissing",
            "there is no docker client to take the image from",
            "give the path of an image archive, or install docker.io",
        )
    return found


def _docker_image_id(reference: str) -> str:
    command: Sequence[str] = [docker(), "image", "inspect", "--format", "{{.Id}}", reference]
    try:
        return run(command).strip().removeprefix("sha256:")
    except ClusterError as error:
        raise ClusterError(
            "ImageNotFound",
            f"{reference} is neither a file nor an image of the Docker engine: {error.message}",
            "build the image first, or give the path of an archive",
        ) from error
