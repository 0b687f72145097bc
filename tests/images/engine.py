"""The Docker engine that builds: the machine's own where it can pull, else one just for this."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.machine import packages
from tests.cluster.progress import step
from tests.images import base
from tests.images.catalog import BASE_IMAGE
from tests.images.command import BuildError, run, tail

PACKAGED_CLIENT = "/usr/bin/docker"
"""Matches the packaged engine; another client may stand before it in PATH."""
CGROUP = "bernstein-images"
START_SECONDS = 60
STOP_SECONDS = 30
SOCKET_PATH_LIMIT = 100
"""A Unix socket's path may have 107 characters."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A Docker client and the engine it talks to."""

    command: tuple[str, ...]
    base: str
    """Identifies the content of the base image."""
    environment: dict[str, str] = field(default_factory=dict)

    def docker(self, *arguments: str, log: Path, stdin: Path | None = None) -> None:
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        run(["env", *settings, *self.command, *arguments], log, stdin=stdin)


def present(log: Path) -> Engine | None:
    """The engine that this machine already runs, if it has or can pull the base image."""
    client = shutil.which("docker")
    if client is None or not _succeeds([client, "info"]):
        return None
    if not _succeeds([client, "image", "inspect", BASE_IMAGE]):
        try:
            run([client, "pull", BASE_IMAGE], log)
        except BuildError:
            return None
    buildkit = "1" if _succeeds([client, "buildx", "version"]) else "0"
    return Engine((client,), BASE_IMAGE, {"DOCKER_BUILDKIT": buildkit})


@contextlib.contextmanager
def own(cache: Path) -> Iterator[Engine]:
    """An engine with the base image, below `cache` and gone afterwards but for its storage.

    It lives in namespaces of its own that end with this process, however that ends: no daemon, shim
    or mount can be left behind.
    """
    packages.ensure_packages(packages.IMAGES)
    folder = cache / "engine"
    socket = folder / "docker.sock"
    if len(os.fsencode(folder / "run/containerd/containerd-debug.sock")) > SOCKET_PATH_LIMIT:
        raise BuildError(f"the path {folder} is too long for a Unix socket: set XDG_CACHE_HOME")
    archive = base.bootstrap(cache / "base")
    daemon = _start(folder)
    try:
        command = (PACKAGED_CLIENT, "--host", f"unix://{socket}")
        _await(daemon, command, folder)
        engine = Engine(command, base.recipe(), {"DOCKER_BUILDKIT": "0"})
        _import_base(engine, archive, cache)
        yield engine
    finally:
        _stop(daemon)


def own_base() -> str:
    """What `Engine.base` is for an engine of our own."""
    return base.recipe()


def remove_storage(cache: Path) -> None:
    """Delete the own engine's storage; nothing of it is mounted or running between builds."""
    for name in ("engine", "base"):
        shutil.rmtree(cache / name, ignore_errors=True)


def _start(folder: Path) -> subprocess.Popen[bytes]:
    # What a killed engine left: its pid file would keep the next one from starting.
    for name in ("run", "docker.pid", "docker.sock"):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "daemon.json"  # in place of the machine's
    configuration.write_text("{}")
    command = [
        # The engine is process 1 of its pid namespace: when it ends, all that it started ends.
        *("setpriv", "--pdeathsig", "KILL"),
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
        packages.program("dockerd"),
        *("--host", f"unix://{folder}/docker.sock"),
        *("--data-root", f"{folder}/data"),
        *("--exec-root", f"{folder}/run"),
        *("--pidfile", f"{folder}/docker.pid"),
        *("--config-file", str(configuration)),
        *("--bridge", "none"),
        *("--cgroup-parent", f"/{CGROUP}"),
        *("--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"),
    ]
    with (folder / "dockerd.log").open("wb") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _await(daemon: subprocess.Popen[bytes], command: tuple[str, ...], folder: Path) -> None:
    with step("starting a Docker engine for the build"):
        deadline = time.monotonic() + START_SECONDS
        while not _succeeds([*command, "info"]):
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise BuildError(
                    f"the Docker engine does not start\n{tail(folder / 'dockerd.log')}"
                )
            time.sleep(0.2)


def _import_base(engine: Engine, archive: Path, cache: Path) -> None:
    label = f"bernstein.recipe={base.recipe()}"
    found = subprocess.run(
        [*engine.command, "images", "--quiet", "--filter", f"label={label}", BASE_IMAGE],
        capture_output=True,
        check=False,
    )
    if found.stdout.strip():
        return
    with step(f"importing {BASE_IMAGE}"):
        engine.docker(
            *("import", "--change", 'CMD ["bash"]', "--change", f"LABEL {label}"),
            *(str(archive), BASE_IMAGE),
            log=cache / "logs/import.log",
        )


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    for pid in _children(daemon.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    try:
        daemon.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
    _remove_cgroups()


def _remove_cgroups() -> None:
    """Remove the engine's control groups, and those of one that was killed."""
    top = Path("/sys/fs/cgroup")
    for hierarchy in (top, *top.iterdir()):
        inner = [path for path in (hierarchy / CGROUP).rglob("*") if path.is_dir()]
        for path in (*reversed(inner), hierarchy / CGROUP):
            # Empty by now; a busy or missing one is not ours to insist on.
            with contextlib.suppress(OSError):
                path.rmdir()


def _children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
